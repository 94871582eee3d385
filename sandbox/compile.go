package sandbox

// Compile turns a policy into a plan for the machine that f describes. It looks at nothing else and reports every
// fault of the policy at once: *PathError, *UnsupportedError, *NetworkError, *EnvironmentError, joined.
func Compile(p Policy, f Facts) (*Plan, error) {
	switch f.Goos {
	case "linux":
		return compileLinux(p, f)
	case "darwin":
		return compileSeatbelt(p, f)
	case "windows":
		return compileAppContainer(p, f)
	}
	return nil, absent(f.Goos).unavailable()
}
