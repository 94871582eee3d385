package config

// demand is something a configuration can ask for and this version cannot do.
type demand struct {
	key   string
	asked func(*Config) bool
	what  string
}

var beyond = []demand{
	{"install.min_age", func(c *Config) bool { return c.Install.MinAge > 0 }, "the age of files is not looked at"},
	{"hooks.after_install", func(c *Config) bool { return len(c.Hooks.AfterInstall) > 0 }, "hooks are not run"},
	{"hooks.before_restart", func(c *Config) bool { return len(c.Hooks.BeforeRestart) > 0 }, "hooks are not run"},
	{"hooks.after_restart", func(c *Config) bool { return len(c.Hooks.AfterRestart) > 0 }, "hooks are not run"},
}

// Unsupported returns what the configuration asks for and this version cannot do, each with the place that asked last. Load and Apply
// return the same as errors: a demand that is dropped in silence would be a weaker boundary than the one that was written down.
func (c *Config) Unsupported() []*FaultError {
	var faults []*FaultError
	for _, d := range beyond {
		if !d.asked(c) {
			continue
		}
		f := &FaultError{Key: d.key, Problem: "not in this version: " + d.what}
		if from := c.Origins(d.key); len(from) > 0 {
			at := from[len(from)-1]
			f.File, f.Line, f.Flag = at.File, at.Line, at.Flag
		}
		faults = append(faults, f)
	}
	return faults
}
