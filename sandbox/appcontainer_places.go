package sandbox

// places are the working folder and the home folder. What the policy does not name lies in the container's own temporary folder.
func (c *appContainer) places() {
	c.plan.Dir, c.plan.Home = c.workingFolder(c.a.Temp+`\work`), c.a.Temp+`\home`
	if home, ok := c.keptHome(); ok {
		c.plan.Home = home
		c.give(home, "M", false, "the home folder, kept for this environment and folder")
	}
}

// variables are the policy's, with the places of this platform and what no container starts without.
func (c *appContainer) variables() {
	vars := movedHome(c.p.Environment, c.p.homeTarget(), c.plan.Home, c.paths.separator)
	vars = windowsVariables(vars, c.f.Known)
	for name, value := range map[string]string{"HOME": c.plan.Home, "USERPROFILE": c.plan.Home, "TEMP": c.a.Temp, "TMP": c.a.Temp} {
		setVariable(vars, name, value)
	}
	c.faults = append(c.faults, windowsVariableFaults(vars)...)
	c.plan.Environment, c.plan.Variables = environment(vars)
}
