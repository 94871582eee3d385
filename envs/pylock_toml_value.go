package envs

import (
	"errors"
	"strconv"
	"strings"
)

func (t *tomlReader) value(depth int) (any, error) {
	t.skip(false)
	switch {
	case depth > tomlMost:
		return nil, errors.New("it nests too deep")
	case t.rest == "":
		return nil, errors.New("a value is missing")
	case t.rest[0] == '"' || t.rest[0] == '\'':
		return t.text()
	case t.rest[0] == '[':
		return t.array(depth)
	case t.rest[0] == '{':
		return t.table(depth)
	}
	w := t.word("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+:.")
	if n, err := strconv.ParseInt(w, 10, 64); err == nil {
		return n, nil
	}
	if w == "" {
		return nil, errors.New("a value is missing")
	}
	return w, nil
}

// text reads a string on one line.
func (t *tomlReader) text() (string, error) {
	quote := t.rest[0]
	for i := 1; i < len(t.rest); i++ {
		switch c := t.rest[i]; {
		case c == '\n':
			return "", errors.New("a text is not closed")
		case c == '\\' && quote == '"':
			i++
		case c == quote && quote == '\'':
			s := t.rest[1:i]
			t.rest = t.rest[i+1:]
			return s, nil
		case c == quote:
			s, err := strconv.Unquote(t.rest[:i+1])
			t.rest = t.rest[i+1:]
			return s, err
		}
	}
	return "", errors.New("a text is not closed")
}

func (t *tomlReader) array(depth int) (any, error) {
	t.take("[")
	list := []any{}
	for {
		t.skip(true)
		if t.take("]") {
			return list, nil
		}
		v, err := t.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		t.skip(true)
		if !t.take(",") && !strings.HasPrefix(t.rest, "]") {
			return nil, errors.New("an array is not closed")
		}
	}
}

func (t *tomlReader) table(depth int) (any, error) {
	t.take("{")
	table := map[string]any{}
	for {
		t.skip(true)
		if t.take("}") {
			return table, nil
		}
		if err := t.pair(table, depth+1); err != nil {
			return nil, err
		}
		t.skip(true)
		if !t.take(",") && !strings.HasPrefix(t.rest, "}") {
			return nil, errors.New("a table is not closed")
		}
	}
}
