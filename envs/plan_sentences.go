package envs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/restart"
)

// Sentences say what the plan does, for whoever approves it: what comes and moves, what it costs, what will stop working, and the other answer.
func (p *Plan) Sentences() []string {
	if p.Unchanged {
		return append([]string{"All of it is there already: " + plain.Line(strings.Join(p.Request.Add, ", "), 300) + "."}, p.remarks()...)
	}
	list := p.moves()
	if s := p.cost(); s != "" {
		list = append(list, s)
	}
	if p.Additive {
		list = append(list, "Nothing that a running kernel may have loaded changes.")
	} else {
		list = append(list, "Running kernels may have loaded what changes.")
	}
	list = append(list, p.remarks()...)
	if p.Alternative != nil {
		list = append(list, p.Alternative.asAlternative(p))
	}
	return list
}

func (p *Plan) moves() (list []string) {
	for _, c := range p.Changes {
		switch size := p.sizeOf(c.Name); {
		case c.From == "":
			list = append(list, fmt.Sprintf("%s %s comes%s.", c.Name, shown(c.To), size))
		case c.To == "":
			list = append(list, fmt.Sprintf("%s %s goes.", c.Name, shown(c.From)))
		case c.From == c.To:
			list = append(list, fmt.Sprintf("%s %s is replaced%s.", c.Name, shown(c.To), size))
		default:
			list = append(list, fmt.Sprintf("%s moves from %s to %s%s.", c.Name, shown(c.From), shown(c.To), size))
		}
	}
	return list
}

func shown(version string) string { return plain.Line(version, 60) }

func (p *Plan) sizeOf(name string) string {
	for _, f := range p.Files {
		if f.Name != name {
			continue
		}
		var parts []string
		if f.Size > 0 {
			parts = append(parts, byteSize(f.Size))
		}
		if day, err := time.Parse(time.RFC3339, f.Uploaded); err == nil {
			parts = append(parts, "of "+day.Format("2006-01-02"))
		}
		if f.Source {
			parts = append(parts, "to be built from source, which runs its code")
		}
		if len(parts) > 0 {
			return " (" + strings.Join(parts, ", ") + ")"
		}
	}
	return ""
}

func (p *Plan) cost() string {
	var sum int64
	for _, f := range p.Files {
		if f.Size == 0 {
			return ""
		}
		sum += f.Size
	}
	if len(p.Files) < 2 {
		return ""
	}
	return fmt.Sprintf("%d files, %s.", len(p.Files), byteSize(sum))
}

func byteSize(n int64) string {
	for _, unit := range []struct {
		of   int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.of {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.of), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

func (p *Plan) remarks() (list []string) {
	for _, b := range p.Breaks {
		if b.Found == "" {
			list = append(list, fmt.Sprintf("%s %s will stop working: it needs %s, which will not be there.", b.Name, shown(b.Version), plain.Line(b.Requires, 100)))
		} else {
			list = append(list, fmt.Sprintf("%s %s may stop working: it needs %s and will find %s.", b.Name, shown(b.Version), plain.Line(b.Requires, 100), shown(b.Found)))
		}
	}
	for _, n := range p.Notes {
		list = append(list, plain.Line(n, 300)+".")
	}
	return list
}

// asAlternative says in one sentence how this answer differs from the other one.
func (p *Plan) asAlternative(other *Plan) string {
	var parts []string
	for _, c := range p.Changes {
		if slices.ContainsFunc(other.Changes, func(o restart.Change) bool { return o.Name == c.Name && o.From == c.From && o.To == c.To }) {
			continue
		}
		if c.From == "" {
			parts = append(parts, c.Name+" "+shown(c.To))
		} else {
			parts = append(parts, fmt.Sprintf("%s %s → %s", c.Name, shown(c.From), shown(c.To)))
		}
	}
	for _, c := range other.Changes {
		if !slices.ContainsFunc(p.Changes, func(o restart.Change) bool { return o.Name == c.Name }) {
			parts = append(parts, "no "+c.Name)
		}
	}
	kind := "The newest instead"
	if p.Additive {
		kind = "What needs no restart instead"
	}
	s := kind + ": " + strings.Join(parts, ", ")
	if !p.Additive {
		s += ", which running kernels may have loaded"
	}
	if n := len(p.Breaks); n > 0 {
		s += fmt.Sprintf(", and %d that may stop working", n)
	}
	return s + "."
}
