package sandbox

import "strconv"

// wish is a limit that the policy asks for.
type wish struct {
	key, value string
	positive   bool
}

func wishes(l Limits) []wish {
	var out []wish
	for _, s := range []struct {
		key  string
		size Size
	}{{"memory", l.Memory}, {"tmp", l.Tmp}, {"shm", l.Shm}} {
		if s.size != 0 {
			out = append(out, wish{s.key, s.size.String(), s.size > 0})
		}
	}
	if l.Processes != 0 {
		out = append(out, wish{"processes", strconv.Itoa(l.Processes), l.Processes > 0})
	}
	if l.CPUs != 0 {
		out = append(out, wish{"cpus", strconv.FormatFloat(l.CPUs, 'g', -1, 64), l.CPUs > 0})
	}
	return out
}

// demands checks everything in the policy that is neither path nor variable; holds names the limits that the platform can hold, and lacks says why it cannot hold another.
func (c *inPlace) demands(lacks string, holds ...string) {
	if !c.p.networkOrNone().valid() {
		c.fault(&NetworkError{Value: string(c.p.Network)})
	}
	for _, w := range wishes(c.p.Limits) {
		switch held := inList(w.key, holds); {
		case !w.positive:
			c.unsupported("limits."+w.key, w.value, "is not positive")
		case !held && !c.p.Limits.BestEffort:
			c.unsupported("limits."+w.key, w.value, lacks)
		}
	}
	switch c.p.GPU {
	case "", "none":
	case "nvidia", "amd":
		c.unsupported("gpu", c.p.GPU, "has no devices of its own on this platform that could be shown alone")
	default:
		c.unsupported("gpu", c.p.GPU, "is none of none, nvidia, amd")
	}
	if l := c.p.Links; l != "" && l != "deny" && l != "allow" {
		c.unsupported("links", l, "is none of deny, allow")
	}
}

func (c *inPlace) unsupported(key, value, reason string) {
	c.fault(&UnsupportedError{Key: key, Value: value, Reason: reason})
}

// unbounded are the limits that a platform does not hold, as missing guarantees.
func (c *inPlace) unbounded(holds ...string) []Guarantee {
	asked := map[string]string{}
	for _, w := range wishes(c.p.Limits) {
		asked[w.key] = w.value
	}
	var out []Guarantee
	for _, l := range []struct{ key, text string }{
		{"memory", "memory is not bounded"},
		{"processes", "the number of processes is not bounded"},
		{"cpus", "CPU time is not bounded"},
		{"tmp", "temporary files are not bounded"},
		{"shm", "shared memory is not bounded"},
	} {
		g := Guarantee{ID: "limits." + l.key, Text: l.text}
		switch held, value := inList(l.key, holds), asked[l.key]; {
		case held && value != "":
			continue
		case held:
			g.Remedy = g.ID
		case value != "":
			g.Text += ", although " + value + " is asked for"
		}
		out = append(out, g)
	}
	return append(out, Guarantee{ID: "disk", Text: "what is written to shown folders is not bounded"})
}
