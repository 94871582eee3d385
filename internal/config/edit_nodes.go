package config

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// entry returns the index of a key in a mapping, -1 when it is not there.
func entry(m *yaml.Node, name string) int {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return i
		}
	}
	return -1
}

// child returns the value of a key, nil when it is not there.
func child(m *yaml.Node, name string) *yaml.Node {
	if i := entry(m, name); i >= 0 {
		return m.Content[i+1]
	}
	return nil
}

// peek follows keys down without making any.
func peek(m *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		if m == nil || m.Kind != yaml.MappingNode {
			return nil
		}
		m = child(m, name)
	}
	return m
}

// within returns the mapping of a key, made when it is missing or empty.
func (d *draft) within(m *yaml.Node, name string, style yaml.Style) *yaml.Node {
	v := child(m, name)
	if v == nil {
		v = &yaml.Node{}
		d.put(m, name, style, v)
	}
	if v.Kind != yaml.MappingNode { // a section whose lines are all comments
		v.Kind, v.Tag, v.Value, v.Style = yaml.MappingNode, "!!map", "", 0
	}
	return v
}

// put adds a key at the end of a mapping. One that was written as {} becomes lines.
func (d *draft) put(m *yaml.Node, name string, style yaml.Style, v *yaml.Node) {
	if len(m.Content) == 0 {
		m.Style &^= yaml.FlowStyle
	}
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Style: style}, v)
	d.changed = true
}

// set gives a key a value, in the place of the one that it has.
func (d *draft) set(m *yaml.Node, name string, v *yaml.Node) {
	i := entry(m, name)
	if i < 0 {
		d.put(m, name, 0, v)
		return
	}
	old := m.Content[i+1]
	if alike(old, v) {
		return
	}
	v.LineComment = old.LineComment
	d.forget(old.Content...)
	m.Content[i+1] = v
	d.changed = true
}

// cut takes a key out, with its comments.
func (d *draft) cut(m *yaml.Node, name string) {
	if i := entry(m, name); i >= 0 {
		d.forget(m.Content[i : i+2]...)
		m.Content = slices.Delete(m.Content, i, i+2)
		d.changed = true
	}
}

// drop takes an element out of a list. What was written below it is not about it alone and stays, below the one before.
func (d *draft) drop(list *yaml.Node, i int) {
	n := list.Content[i]
	if i > 0 && n.FootComment != "" {
		before := list.Content[i-1]
		before.FootComment = strings.TrimSpace(before.FootComment + "\n\n" + n.FootComment)
		n.FootComment = ""
	}
	d.forget(n)
	list.Content = slices.Delete(list.Content, i, i+1)
	d.changed = true
}

// forget notes the comments of nodes that go: they are about what goes.
func (d *draft) forget(nodes ...*yaml.Node) {
	for _, n := range nodes {
		d.gone = append(d.gone, comments([]byte(n.HeadComment+"\n"+n.LineComment+"\n"+n.FootComment))...)
		d.forget(n.Content...)
	}
}

// alike says whether two nodes mean the same.
func alike(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value || a.Anchor != b.Anchor || a.Kind != yaml.DocumentNode && a.ShortTag() != b.ShortTag() {
		return false
	}
	return slices.EqualFunc(a.Content, b.Content, alike)
}

// scalarNode is a value as a person would write it: in quotes only where YAML wants them.
func scalarNode(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if n.Tag = n.ShortTag(); n.Tag == "!!null" || n.Tag == "!!merge" || n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	return n
}

func listNode(words ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, w := range words {
		n.Content = append(n.Content, scalarNode(w))
	}
	return n
}
