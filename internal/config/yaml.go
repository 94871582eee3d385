package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// parse returns the mapping at the top of data, nil for an empty document, and the fault that stopped it.
func parse(file string, data []byte) (*yaml.Node, *FaultError) {
	if at := invalidUTF8(data); at >= 0 {
		return nil, &FaultError{File: file, Line: 1 + bytes.Count(data[:at], []byte("\n")), Problem: "not UTF-8 text"}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, syntaxFault(file, data, err)
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, &FaultError{File: file, Line: next.Line, Problem: "a second document (\"---\"); there may be one"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxFault(file, data, err)
	}
	return top(file, &doc)
}

func top(file string, doc *yaml.Node) (*yaml.Node, *FaultError) {
	n := doc.Content[0]
	if isNull(n) {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, &FaultError{File: file, Line: n.Line, Problem: fmt.Sprintf("must be a mapping of keys such as \"egress:\", not %s", kindOf(n))}
	}
	return n, nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// Compiled at the first fault: every start of a kernel would pay for them, and few files have one.
var (
	yamlLine   = expression(`^yaml: line (\d+): `)
	yamlAnchor = expression(`^unknown anchor '(.*)' referenced$`)
	// fromParser are the library's grammar errors: it counts their lines from 0, those of the scanner from 1.
	fromParser = expression(`^(did not find expected (<|node content|'-' indicator|key|',' or)|found (undefined tag handle|duplicate %|incompatible YAML))`)
)

func expression(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// syntaxFault gives the library's error the line that a person would point at. The library leaves out the first line's number.
func syntaxFault(file string, data []byte, err error) *FaultError {
	what, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		what = err.Error()[len(m[0]):]
		line, _ = strconv.Atoi(m[1]) // digits only; too many of them leave 0
		if fromParser().MatchString(what) {
			line++
		}
	}
	if m := yamlAnchor().FindStringSubmatch(what); m != nil {
		if at := bytes.Index(data, []byte("*"+m[1])); at >= 0 {
			line = 1 + bytes.Count(data[:at], []byte("\n"))
		}
	}
	return &FaultError{File: file, Line: max(1, min(line, lines(data))), Problem: "not YAML: " + clean(what)}
}

// lines does not count the empty rest after the last line break: an unclosed bracket is reported there.
func lines(data []byte) int {
	return 1 + bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n"))
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	}
	return "text"
}
