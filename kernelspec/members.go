package kernelspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// member is one key of a JSON object with its value as written.
type member struct {
	name string
	raw  json.RawMessage
	line int
}

// lineError is a fault of a text at a line; 0 for the text as a whole.
type lineError struct {
	line int
	what string
}

func (e *lineError) Error() string { return e.what }

// parseMembers reads an object by its tokens: decoding into a struct would take "Argv" for "argv". A key that comes twice keeps its last
// value, as in Jupyter, and is returned in twice too.
func parseMembers(data []byte) (members, twice []member, err error) {
	if err := checkSyntax(data); err != nil {
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, nil, &lineError{lineAt(data, dec.InputOffset()), "top level must be an object"}
	}
	for dec.More() {
		m, err := nextMember(data, dec)
		if err != nil {
			return nil, nil, &lineError{lineAt(data, dec.InputOffset()), err.Error()}
		}
		if old := find(members, m.name); old != nil {
			twice = append(twice, m)
			*old = m
			continue
		}
		members = append(members, m)
	}
	return members, twice, nil
}

// checkSyntax goes over the whole text first: a Decoder counts the offset of a fault from the value that it is in.
func checkSyntax(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if err == nil {
		return nil
	}
	what, line := "not JSON: "+err.Error(), 0
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line = lineAt(data, syntax.Offset)
	}
	if strings.Contains(what, "escape") {
		what += "; double the backslashes of a Windows path"
	}
	return &lineError{line, what}
}

func nextMember(data []byte, dec *json.Decoder) (member, error) {
	tok, err := dec.Token()
	if err != nil {
		return member{}, err
	}
	name, ok := tok.(string)
	if !ok {
		return member{}, fmt.Errorf("a key is %v", tok)
	}
	line := lineAt(data, dec.InputOffset())
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return member{}, err
	}
	return member{name, raw, line}, nil
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte{'\n'})
}

func find(members []member, name string) *member {
	for i := range members {
		if members[i].name == name {
			return &members[i]
		}
	}
	return nil
}
