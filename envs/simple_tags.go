package envs

import (
	"html"
	"iter"
	"strings"
)

// tag is where an element of an HTML page begins: names in lower case, values with their references replaced.
type tag struct {
	name       string
	attributes map[string]string
}

// rawElements hold text in which nothing is a tag but their own end.
const rawElements = " script style title textarea xmp iframe noembed noframes noscript "

// tags are the elements of a page as far as they are whole. A full reader of HTML brings tables of every named character with it, which would be built in
// every process of this program; an index writes anchors.
func tags(page string) iter.Seq[tag] {
	return func(yield func(tag) bool) {
		for {
			_, rest, found := strings.Cut(page, "<")
			if !found {
				return
			}
			switch page = rest; {
			case strings.HasPrefix(page, "!--"):
				page = behind(page[1:], "-->") // from its own dashes on: <!--> is a whole comment
			case page != "" && strings.ContainsRune("!?/", rune(page[0])):
				page = behind(page, ">")
			case page != "" && isLetter(page[0]):
				t, rest, whole := readTag(page)
				if !whole || !yield(t) {
					return
				}
				if page = rest; strings.Contains(rawElements, " "+t.name+" ") {
					page = rawEnd(page, t.name)
				}
			}
		}
	}
}

// behind is what follows the first end, nothing without one.
func behind(s, end string) string {
	_, rest, _ := strings.Cut(s, end)
	return rest
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// rawEnd passes over the text of an element in which there are no tags.
func rawEnd(page, name string) string {
	for {
		_, rest, found := strings.Cut(page, "</")
		if !found {
			return ""
		}
		if page = rest; len(page) > len(name) && strings.EqualFold(page[:len(name)], name) && strings.ContainsRune(blank+"/>", rune(page[len(name)])) {
			return behind(page, ">")
		}
	}
}

const blank = " \t\r\n\f"

// readTag reads from a tag's name to behind its end.
func readTag(page string) (t tag, rest string, whole bool) {
	t = tag{attributes: map[string]string{}}
	t.name, page = word(page, blank+"/>")
	for {
		page = strings.TrimLeft(page, blank+"/")
		if page == "" {
			return t, "", false
		}
		if page[0] == '>' {
			return t, page[1:], true
		}
		var key, value string
		key, page = word(page, blank+"/>=")
		if after, given := strings.CutPrefix(strings.TrimLeft(page, blank), "="); given {
			if value, page, whole = readValue(strings.TrimLeft(after, blank)); !whole {
				return t, "", false
			}
		}
		if _, twice := t.attributes[key]; !twice {
			t.attributes[key] = value
		}
	}
}

// word is at least one character, up to one of those that end it.
func word(s, ends string) (low, rest string) {
	if s == "" {
		return "", ""
	}
	end := strings.IndexAny(s[1:], ends) + 1
	if end == 0 {
		end = len(s)
	}
	return strings.ToLower(s[:end]), s[end:]
}

func readValue(s string) (value, rest string, whole bool) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		value, rest, whole = strings.Cut(s[1:], s[:1])
		return characters(value), rest, whole
	}
	end := strings.IndexAny(s, blank+">")
	if end < 0 {
		return "", "", false
	}
	return characters(s[:end]), s[end:], true
}

var reference = newForm(`&#?[0-9A-Za-z]{1,32};`)

// characters replaces references that are written out to their end. Others are left: a link's query has names behind "&" too.
func characters(value string) string {
	if !strings.Contains(value, "&") {
		return value
	}
	return reference.compiled().ReplaceAllStringFunc(value, html.UnescapeString)
}
