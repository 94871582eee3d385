package restart

// A Verdict says what should happen to one kernel.
type Verdict string

// The verdicts, from nothing to do to must.
const (
	Keep         Verdict = "keep"
	RestartToUse Verdict = "restart-to-use" // it runs on undisturbed and sees what is new after a restart
	Recommended  Verdict = "recommended"
	Required     Verdict = "required"
)

// A Kernel is what is known of one running kernel.
type Kernel struct {
	ID         string   `json:"id"`
	Generation int      `json:"generation"` // that it runs; 0 is not known
	Executed   *bool    `json:"executed"`   // whether it has run anything for its user; nil is not known
	Loaded     []Module `json:"loaded"`     // all that it has loaded, extension modules too; nil or empty is not known
}

// A Module is one loaded module. Either field may be empty.
type Module struct {
	Name string `json:"name"` // dotted: "numpy.linalg"
	File string `json:"file"`
}

// A Judgement is the verdict on one kernel, and why.
type Judgement struct {
	Kernel  string   `json:"kernel"`
	Verdict Verdict  `json:"verdict"`
	Reasons []string `json:"reasons"`        // sentences
	Free    bool     `json:"free,omitempty"` // the kernel has run nothing: a restart loses nothing
}

// Judge decides about one kernel. The changes are own: from what the kernel started with to what will be there. Sees says whether the additions
// among them appear in the tree that it runs. What a kernel has loaded can only spare it; what is not known never does.
func Judge(k Kernel, own Changes, sees bool) Judgement {
	c := court{kernel: k, own: own.keep(func(one Change) bool { return one.Class != AlreadyThere }), sees: sees}
	c.Judgement = Judgement{Kernel: k.ID, Verdict: Keep}
	switch {
	case len(c.own) == 0:
		c.say(Keep, "nothing that this kernel imports from has changed")
	case c.idle() && !own.Additive():
		c.say(Required, sentences(own.breaking())...)
	default:
		c.broken()
		c.relocated()
		c.gained()
	}
	if c.idle() && c.Verdict != Keep {
		c.Free = true
		c.say(Keep, "it has run nothing yet, so that a restart costs nothing")
	}
	return c.Judgement
}

// A court is one judgement on its way.
type court struct {
	Judgement
	kernel Kernel
	own    Changes
	sees   bool
}

var weight = map[Verdict]int{Keep: 0, RestartToUse: 1, Recommended: 2, Required: 3}

// say gives reasons for at least this verdict.
func (c *court) say(v Verdict, reasons ...string) {
	if weight[v] > weight[c.Verdict] {
		c.Verdict = v
	}
	c.Reasons = append(c.Reasons, reasons...)
}

func (c *court) idle() bool { return c.kernel.Executed != nil && !*c.kernel.Executed }

// broken is about the changes that a kernel cannot live with if it has loaded any of them.
func (c *court) broken() {
	breaking := c.own.breaking()
	if len(breaking) > 0 && !c.kernel.knows() {
		c.say(Required, sentences(breaking)...)
		c.say(Required, "what this kernel has loaded is not known")
		return
	}
	for _, one := range breaking {
		loaded, touched := c.kernel.holds(one)
		switch {
		case !touched:
			c.spare(one)
		case one.Runtime:
			c.say(Recommended, one.String()+", which the kernel itself runs on"+naming(one, loaded))
		default:
			c.say(Required, one.String()+naming(one, loaded))
		}
	}
}

// spare says what a kernel that has loaded nothing of a change goes on with.
func (c *court) spare(one Change) {
	reason := one.String() + ", of which this kernel has loaded nothing"
	switch {
	case c.sees || one.Class == Removed && one.From == "":
		c.say(Keep, reason)
	case one.From != "":
		c.say(Keep, reason+" and whose "+one.From+" it goes on with until it restarts")
	default:
		c.say(RestartToUse, reason+"; it runs "+c.kernel.generation()+", which does not have it")
	}
}

// relocated is about namespaces: a loaded one remembers its folders. A loaded package that has an __init__ finds its files where they were.
func (c *court) relocated() {
	for _, one := range c.own {
		if one.Class != Relocated {
			continue
		}
		if _, touched := c.kernel.holds(one); touched {
			c.say(Recommended, one.String()+", and this kernel may remember the former place of its namespace")
		} else {
			c.say(Keep, one.String())
		}
	}
}

func (c *court) gained() {
	for _, one := range c.own {
		switch {
		case one.Class != Added && one.Class != AddedAtStart:
		case !c.sees:
			c.say(RestartToUse, one.String()+", but this kernel runs "+c.kernel.generation()+", which does not have it")
		case one.Class == AddedAtStart:
			c.say(RestartToUse, one.String())
		default:
			c.say(Keep, one.String()+" and can be imported now")
		}
	}
}

func sentences(c Changes) []string {
	var out []string
	for _, one := range c {
		out = append(out, one.String())
	}
	return out
}
