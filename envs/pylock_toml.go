package envs

import (
	"errors"
	"fmt"
	"strings"
)

// tomlMost bounds what nests in what.
const tomlMost = 20

// tomlReader reads the part of TOML that lock files are written in: tables, arrays of tables, strings on one line, numbers, dates (as text), arrays
// and inline tables.
type tomlReader struct {
	rest string
	line int
}

func parseTOML(text string) (map[string]any, error) {
	t := tomlReader{rest: text, line: 1}
	root := map[string]any{}
	at := root
	for t.skip(true); t.rest != ""; t.skip(true) {
		var err error
		if t.rest[0] == '[' {
			at, err = t.header(root)
		} else {
			err = t.pair(at, 0)
		}
		if err == nil && !t.endOfLine() {
			err = errors.New("more stands on the line")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", t.line, err)
		}
	}
	return root, nil
}

// skip passes blanks and comments, and line breaks when lines is set.
func (t *tomlReader) skip(lines bool) {
	for t.rest != "" {
		switch c := t.rest[0]; {
		case c == ' ' || c == '\t' || c == '\r':
		case c == '\n' && lines:
			t.line++
		case c == '#':
			end := strings.IndexByte(t.rest, '\n')
			if end < 0 {
				end = len(t.rest)
			}
			t.rest = t.rest[end:]
			continue
		default:
			return
		}
		t.rest = t.rest[1:]
	}
}

func (t *tomlReader) endOfLine() bool {
	t.skip(false)
	return t.rest == "" || t.rest[0] == '\n'
}

func (t *tomlReader) take(s string) bool {
	t.skip(false)
	rest, ok := strings.CutPrefix(t.rest, s)
	if ok {
		t.rest = rest
	}
	return ok
}

// header opens the table of "[a.b]", or a new one in the array of "[[a.b]]".
func (t *tomlReader) header(root map[string]any) (map[string]any, error) {
	array := t.take("[[")
	if !array {
		t.take("[")
	}
	keys, err := t.keys()
	if err != nil {
		return nil, err
	}
	if array && !t.take("]]") || !array && !t.take("]") {
		return nil, errors.New("a table's name is not closed")
	}
	at, err := descend(root, keys[:len(keys)-1])
	if err != nil {
		return nil, err
	}
	last := keys[len(keys)-1]
	if !array {
		return descend(at, []string{last})
	}
	list, ok := at[last].([]any)
	if at[last] != nil && !ok {
		return nil, fmt.Errorf("%q is no array of tables", last)
	}
	table := map[string]any{}
	at[last] = append(list, table)
	return table, nil
}

// descend finds or makes the table at keys; in an array of tables the last one is meant.
func descend(at map[string]any, keys []string) (map[string]any, error) {
	for _, k := range keys {
		switch next := at[k].(type) {
		case nil:
			made := map[string]any{}
			at[k], at = made, made
		case map[string]any:
			at = next
		case []any:
			table, ok := next[len(next)-1].(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%q is no table", k)
			}
			at = table
		default:
			return nil, fmt.Errorf("%q is no table", k)
		}
	}
	return at, nil
}

func (t *tomlReader) keys() (keys []string, err error) {
	for {
		k, err := t.key()
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
		if !t.take(".") {
			return keys, nil
		}
	}
}

func (t *tomlReader) key() (string, error) {
	t.skip(false)
	if t.rest != "" && (t.rest[0] == '"' || t.rest[0] == '\'') {
		return t.text()
	}
	k := t.word("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
	if k == "" {
		return "", errors.New("a key is missing")
	}
	return k, nil
}

func (t *tomlReader) word(chars string) string {
	end := len(t.rest) - len(strings.TrimLeft(t.rest, chars))
	w := t.rest[:end]
	t.rest = t.rest[end:]
	return w
}

func (t *tomlReader) pair(at map[string]any, depth int) error {
	keys, err := t.keys()
	if err != nil {
		return err
	}
	if !t.take("=") {
		return errors.New("a '=' is missing")
	}
	v, err := t.value(depth)
	if err != nil {
		return err
	}
	if at, err = descend(at, keys[:len(keys)-1]); err != nil {
		return err
	}
	last := keys[len(keys)-1]
	if _, twice := at[last]; twice {
		return fmt.Errorf("%q stands twice", last)
	}
	at[last] = v
	return nil
}
