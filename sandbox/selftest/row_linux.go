package selftest

import (
	"strconv"

	"github.com/kernel-launch/kernel-launch/internal/probe"
)

// row is a line of the contract. What is not said is the ordinary: outside the same call is made, and works.
type row struct {
	number  int
	name    string
	call    probe.Call
	control *probe.Call // outside another call is made: the same one cannot be, or would do harm
	spare   bool        // outside it is made by the root of namespaces of its own
	outside want
	inside  want
	quick   bool // it belongs to the bounded self-test
}

func (r row) controlCall() probe.Call {
	c := r.call
	if r.control != nil {
		c = *r.control
	}
	if r.spare {
		c.In = probe.Namespaces
	}
	return c
}

// judge says what both outcomes mean. Without a control there is no claim.
func (r row) judge(outside, inside probe.Outcome) Row {
	out := Row{Number: r.number, Name: r.name, Control: shown(r.outside, outside), Inside: shown(r.inside, inside)}
	switch {
	case !r.outside.holds(outside):
		out.Why = "outside it should have been: " + r.outside.String() + "; without that nothing is shown"
	case !r.inside.holds(inside):
		out.Why = "inside it should have been: " + r.inside.String()
	default:
		out.OK = true
	}
	return out
}

// shown is an outcome, with what was found where that counts.
func shown(w want, o probe.Outcome) string {
	if !o.Did || w.ok == nil || o.Detail == "" {
		return o.String()
	}
	if w.brief != nil {
		return "did: " + w.brief(o.Detail)
	}
	const longest = 60
	if d := o.Detail; len(d) > longest {
		return "did: " + strconv.Quote(d[:longest]) + "…"
	}
	return "did: " + strconv.Quote(o.Detail)
}

func do(name string, numbers ...int64) probe.Call {
	return probe.Call{Name: name, Args: probe.Args{Numbers: numbers}}
}

func at(name, path string, numbers ...int64) probe.Call {
	return probe.Call{Name: name, Args: probe.Args{Path: path, Numbers: numbers}}
}

func two(name, path, other string) probe.Call {
	return probe.Call{Name: name, Args: probe.Args{Path: path, Other: other}}
}

func in(place probe.Place, c probe.Call) probe.Call {
	c.In = place
	return c
}

func control(c probe.Call) *probe.Call { return &c }
