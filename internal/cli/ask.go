package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// ask puts a question to a person. Without a terminal nobody is there, and the answer is no, with the line that says yes.
func (a *app) ask(question, yes string) error {
	if !terminal(a.in) || a.json {
		return &refusedError{"not approved: there is no terminal to ask at", yes}
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if err == nil {
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return nil
		}
	}
	return &refusedError{"not approved", yes}
}

func terminal(in any) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0 && fi.Name() != os.DevNull
}
