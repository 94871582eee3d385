package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Clip is something that was asked for and that the machine's ceiling does not allow.
type Clip struct {
	Key   string   // dotted: "sandbox.network"
	Asked string   // as it would be written
	From  []Origin // where; none: it is built in
	Got   string   // what holds instead; empty when it was left out
	Most  string   // what the ceiling allows
	At    Origin   // the ceiling's line
}

// String says the clip as one sentence, with the full path of the ceiling: the reader may never have heard of it.
func (c Clip) String() string {
	asked := c.Asked + " is built in"
	if len(c.From) > 0 {
		var from []string
		for _, o := range c.From {
			from = append(from, o.String())
		}
		asked = fmt.Sprintf("%s was asked for (%s)", c.Asked, strings.Join(slices.Compact(from), ", "))
	}
	s := fmt.Sprintf("%s: %s; %s:%d allows %s", c.Key, asked, c.At.File, c.At.Line, c.Most)
	if c.Got != "" && c.Got != c.Most {
		s += ", which leaves " + c.Got
	}
	return s
}

// Clips are all that the machine's ceiling took away, by Load and by Apply.
func (c *Config) Clips() []Clip { return slices.Clone(c.clips) }

// unclip forgets what was taken from a value that is replaced now.
func (c *Config) unclip(key string) {
	c.clips = slices.DeleteFunc(c.clips, func(clip Clip) bool { return clip.Key == key })
}

// clip lowers c to the machine's ceiling. Once lowered, a configuration is lowered by the same ceiling no further.
func (c *Config) clip() {
	if c.ceiling == nil {
		return
	}
	c.ready()
	k := &clipper{c: c, top: c.ceiling}
	k.walls()
	k.view()
	k.limits()
	k.egress()
	k.hosts()
	k.installs()
}

// clipper lowers one configuration.
type clipper struct {
	c   *Config
	top *ceiling
}

// note keeps a clip; a second look at the same value adds nothing.
func (k *clipper) note(key, asked, got, most string, at Origin) {
	n := Clip{Key: key, Asked: asked, From: slices.Clone(k.c.origins[key]), Got: got, Most: most, At: at}
	same := func(o Clip) bool { return o.Key == n.Key && o.Asked == n.Asked }
	if !slices.ContainsFunc(k.c.clips, same) {
		k.c.clips = append(k.c.clips, n)
	}
}

// single lowers a value to the ceiling's own where that does not allow it.
func single[T comparable](k *clipper, key string, of func(*Config) *T, allows func(top, v T) bool) {
	at, ok := k.top.origin(key)
	have, top := of(k.c), *of(k.top.bound)
	if !ok || allows(top, *have) {
		return
	}
	k.note(key, word(*have), word(top), word(top), at)
	*have = top
	k.c.origins[key] = []Origin{at}
}

// several leaves out the elements of a list that the ceiling does not allow.
func several[T any](k *clipper, key string, of func(*Config) *[]T, allows func(top []T, v T) bool) {
	at, ok := k.top.origin(key)
	if !ok {
		return
	}
	have, top := of(k.c), *of(k.top.bound)
	*have = slices.DeleteFunc(slices.Clone(*have), func(v T) bool {
		if allows(top, v) {
			return false
		}
		k.note(key, word(v), "", words(top), at)
		return true
	})
}

// always adds what the ceiling has in a list that only takes away.
func always[T comparable](k *clipper, key string, of func(*Config) *[]T) {
	have := of(k.c)
	for _, v := range *of(k.top.bound) {
		if !slices.Contains(*have, v) {
			*have = append(slices.Clip(*have), v)
		}
	}
	if at, ok := k.top.origin(key); ok && !slices.Contains(k.c.origins[key], at) {
		k.c.origins[key] = append(k.c.origins[key], at)
	}
}

// atMost is for limits: 0 is none.
func atMost[T cmp.Ordered](top, v T) bool {
	var none T
	return top == none || v != none && v <= top
}

func same[T comparable](top, v T) bool { return top == v }

func among[T comparable](top []T, v T) bool { return slices.Contains(top, v) }

// word is a value as it stands in a file.
func word(v any) string {
	switch v := v.(type) {
	case sandbox.Network: // prints as a sentence
		return string(v)
	case sandbox.Size:
		return orNone(v, v.String())
	case int:
		return orNone(v, fmt.Sprint(v))
	case float64:
		return orNone(v, fmt.Sprint(v))
	case Credential:
		return v.Host
	}
	return cmp.Or(fmt.Sprint(v), `""`)
}

func orNone[T comparable](v T, text string) string {
	var none T
	if v == none {
		return "no limit"
	}
	return text
}

func words[T any](all []T) string {
	var list []string
	for _, v := range all {
		list = append(list, word(v))
	}
	return cmp.Or(strings.Join(list, ", "), "none")
}
