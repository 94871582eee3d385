package sandbox

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxCommandLine is what CreateProcess takes, in UTF-16 units with the closing zero.
const maxCommandLine = 32767

// CommandLineError is a command that has no safe command line on Windows.
type CommandLineError struct {
	Argument int // its place in the command
	Reason   string
}

func (e *CommandLineError) Error() string {
	return fmt.Sprintf("argument %d of the command %s", e.Argument, e.Reason)
}

// CommandLine joins a command so that CommandLineToArgvW and the C runtime take it apart into the same arguments. A batch file is refused: it is read by
// cmd.exe, whose rules differ, and no quoting is safe for both.
func CommandLine(argv []string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", &CommandLineError{0, "is empty"}
	}
	for i, a := range argv {
		switch {
		case strings.Contains(a, "\x00"):
			return "", &CommandLineError{i, "holds a zero byte"}
		case !utf8.ValidString(a):
			return "", &CommandLineError{i, "is not valid UTF-8 and so has no form in UTF-16"}
		}
	}
	if why := badProgram(argv[0], len(argv) > 1); why != "" {
		return "", &CommandLineError{0, why}
	}
	parts := []string{`"` + argv[0] + `"`} // the program's name knows no escapes: a quote always ends it
	for _, a := range argv[1:] {
		parts = append(parts, quoteArgument(a))
	}
	line := strings.Join(parts, " ")
	if n := len(utf16.Encode([]rune(line))) + 1; n > maxCommandLine {
		return "", &CommandLineError{len(argv) - 1, fmt.Sprintf("makes the command line %d UTF-16 units long; at most %d are taken", n, maxCommandLine)}
	}
	return line, nil
}

func badProgram(path string, arguments bool) string {
	if strings.Contains(path, `"`) {
		return "is the program and holds a quote, which its name cannot have"
	}
	name := strings.ToLower(strings.TrimRight(path[strings.LastIndexAny(path, `\/`)+1:], ". ")) // Windows drops these
	if strings.HasSuffix(name, ".bat") || strings.HasSuffix(name, ".cmd") {
		return "is a batch file, which cmd.exe reads by rules of its own: start the program that it starts"
	}
	if arguments && (name == "cmd" || name == "cmd.exe") {
		return "is cmd.exe, which reads its arguments by rules of its own: start the program itself"
	}
	return ""
}

// quoteArgument follows the documented rules: backslashes count only before a quote, where each is doubled and one more stands before the quote itself.
func quoteArgument(a string) string {
	if a != "" && !strings.ContainsAny(a, " \t\n\v\"") {
		return a
	}
	var out strings.Builder
	out.WriteByte('"')
	backslashes := 0
	for i := range len(a) {
		switch a[i] {
		case '\\':
			backslashes++
		case '"':
			out.WriteString(strings.Repeat(`\`, backslashes+1))
			backslashes = 0
		default:
			backslashes = 0
		}
		out.WriteByte(a[i])
	}
	out.WriteString(strings.Repeat(`\`, backslashes)) // they stand before the closing quote now
	out.WriteByte('"')
	return out.String()
}
