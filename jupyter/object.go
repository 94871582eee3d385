package jupyter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// field is one member of a JSON object, its value as it was written.
type field struct {
	name string
	raw  json.RawMessage
}

var (
	errEmpty     = errors.New("is empty")
	errNotObject = errors.New("is not a JSON object")
)

// parseObject reads one JSON object by its tokens. Decoding into a struct would match keys without case, so that another reader of the same
// file could see another value. A key that comes twice keeps its last value, as Jupyter's reader has it, and is named in twice.
func parseObject(data []byte) (fields []field, twice []string, err error) {
	if err := checkText(data); err != nil {
		return nil, nil, err
	}
	if err := checkSyntax(data); err != nil {
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, nil, errNotObject
	}
	for dec.More() {
		f, err := nextField(dec)
		if err != nil {
			return nil, nil, err
		}
		if i := indexOf(fields, f.name); i >= 0 {
			twice = append(twice, f.name)
			fields[i].raw = f.raw
			continue
		}
		fields = append(fields, f)
	}
	return fields, twice, nil
}

func checkText(data []byte) error {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return errEmpty
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return errors.New("is UTF-16 text, not UTF-8")
	case !utf8.Valid(data):
		return errors.New("is not UTF-8 text")
	}
	return nil
}

func nextField(dec *json.Decoder) (field, error) {
	tok, err := dec.Token()
	if err != nil {
		return field{}, err
	}
	name, ok := tok.(string)
	if !ok {
		return field{}, fmt.Errorf("a key is %v", tok)
	}
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return field{}, err
	}
	return field{name, raw}, nil
}

// checkSyntax goes over the whole text first: a Decoder counts the offset of a fault from the value that it is in.
func checkSyntax(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at := min(int(syntax.Offset), len(data))
		return fmt.Errorf("is not JSON: line %d: %w", 1+bytes.Count(data[:at], []byte{'\n'}), err)
	}
	return err
}

func indexOf(fields []field, name string) int {
	for i := range fields {
		if fields[i].name == name {
			return i
		}
	}
	return -1
}
