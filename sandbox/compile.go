package sandbox

// Compile turns a policy into a plan for the machine that f describes. It looks at nothing else and reports every
// fault of the policy at once: *PathError, *UnsupportedError, *NetworkError, *EnvironmentError, joined.
func Compile(p Policy, f Facts) (*Plan, error) {
	if f.Goos != "linux" {
		return nil, absent(f.Goos).unavailable()
	}
	return compileLinux(p, f)
}
