package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// onlyLaunches reports whether args can mean nothing but the default command: its own flags, their values and a connection file. Making all the
// other commands would lengthen every start of a kernel. Whatever is unclear here (a word, a request for help, an unknown flag) is for the whole tree.
func onlyLaunches(root *cobra.Command, args []string) bool {
	file := ""
	for len(args) > 0 {
		name, value, given := strings.Cut(args[0], "=")
		args = args[1:]
		if name == "-f" && !given {
			name = "--file"
		}
		name, long := strings.CutPrefix(name, "--")
		flag := root.Flag(name)
		if !long || flag == nil {
			return false
		}
		if !given && flag.NoOptDefVal == "" {
			if len(args) == 0 {
				return false
			}
			value, args = args[0], args[1:]
		}
		if name == "file" {
			file = value
		}
	}
	return file != ""
}
