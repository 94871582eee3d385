package cli

import "strings"

// texts is the value of a flag that can be given several times. The flag package's own list writes itself down as CSV when it is made, for a help that
// nobody asks for at a start.
type texts struct{ list *[]string }

func (t texts) String() string {
	if t.list == nil || len(*t.list) == 0 {
		return ""
	}
	return "[" + strings.Join(*t.list, ",") + "]"
}

func (t texts) Set(s string) error {
	*t.list = append(*t.list, s)
	return nil
}

func (t texts) Type() string { return "stringArray" }
