package sandbox

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// splitCommandLine takes a command line apart by the rules that are documented for CommandLineToArgvW and the C runtime: the program's name ends at its
// quote or a space, whatever stands in it; elsewhere 2n backslashes before a quote are n and the quote delimits, 2n+1 are n and the quote is a text.
func splitCommandLine(line string) []string {
	name, rest, quotedName := strings.Cut(strings.TrimPrefix(line, `"`), `"`)
	if !strings.HasPrefix(line, `"`) || !quotedName {
		name, rest, _ = strings.Cut(line, " ")
	}
	out := []string{name}
	for {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "" {
			return out
		}
		var argument string
		argument, rest = cutArgument(rest)
		out = append(out, argument)
	}
}

func cutArgument(s string) (argument, rest string) {
	var out strings.Builder
	inside := false
	for i := 0; i < len(s); {
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], `\`))
		next := i + n
		if n > 0 && (next == len(s) || s[next] != '"') {
			out.WriteString(s[i:next])
			i = next
			continue
		}
		if next < len(s) && s[next] == '"' {
			out.WriteString(strings.Repeat(`\`, n/2))
			switch {
			case n%2 == 1:
				out.WriteByte('"')
			case inside && strings.HasPrefix(s[next+1:], `"`):
				out.WriteByte('"') // two quotes in a quoted part are one
				next++
			default:
				inside = !inside
			}
			i = next + 1
			continue
		}
		if !inside && (s[i] == ' ' || s[i] == '\t') {
			return out.String(), s[i:]
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String(), ""
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		argv []string
		line string
	}{
		{[]string{`C:\py\python.exe`}, `"C:\py\python.exe"`},
		{[]string{`C:\Program Files\x.exe`, "a", ""}, `"C:\Program Files\x.exe" a ""`},
		{[]string{`x`, `a b`, `c:\d e\`}, `"x" "a b" "c:\d e\\"`},
		{[]string{`x`, `a"b`, `\"`, `a\\b`, `\\`}, `"x" "a\"b" "\\\"" a\\b \\`},
		{[]string{`x`, `-c`, "print(\"hi\")\n"}, "\"x\" -c \"print(\\\"hi\\\")\n\""},
		{[]string{`x`, `%PATH%`, `a&b`, `c|d`, `^`}, `"x" %PATH% a&b c|d ^`},
	} {
		line, err := CommandLine(c.argv)
		require.NoError(t, err)
		assert.Equal(t, c.line, line)
		assert.Equal(t, c.argv, splitCommandLine(line))
	}
}

func TestCommandLineRefuses(t *testing.T) {
	for name, argv := range map[string][]string{
		"nothing": nil, "no program": {""}, "a batch file": {`C:\x\run.bat`, "a"}, "a batch file with what Windows drops": {`C:\x\RUN.CMD. .`}, "a batch file by slashes": {`C:/x/run.cmd`},
		"cmd with arguments": {`C:\Windows\System32\cmd.exe`, "/c", "dir"}, "a quote in the program": {`C:\x" "y`}, "a zero byte": {"x", "a\x00b"}, "no UTF-8": {"x", "\xff"},
		"too long": {"x", strings.Repeat("a", 40000)},
	} {
		_, err := CommandLine(argv)
		var e *CommandLineError
		assert.ErrorAs(t, err, &e, name)
	}
	_, err := CommandLine([]string{`C:\x\my.bat.exe`, "a"})
	require.NoError(t, err)
}

func TestCommandLineComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{`"`, `\`, ` `, "\t", "\n", "a", "é", "😀", `\\`, `""`, `%`, `^`, `&`, "'"}
	for range 1000 {
		argv := []string{`C:\p q\x.exe`}
		for range r.IntN(5) {
			var a strings.Builder
			for range r.IntN(7) {
				a.WriteString(pieces[r.IntN(len(pieces))])
			}
			argv = append(argv, a.String())
		}
		line, err := CommandLine(argv)
		require.NoError(t, err)
		require.Equal(t, argv, splitCommandLine(line), line)
	}
}

func FuzzCommandLine(f *testing.F) {
	f.Add(`C:\x.exe`, `a b\`, `"`)
	f.Add(`x.bat `, `\\"`, ``)
	f.Fuzz(func(t *testing.T, program, a, b string) {
		argv := []string{program, a, b}
		line, err := CommandLine(argv)
		if err != nil {
			return
		}
		require.Equal(t, argv, splitCommandLine(line))
		require.LessOrEqual(t, len(utf16.Encode([]rune(line))), maxCommandLine)
	})
}

// readBlock is what a program sees of its environment.
func readBlock(t *testing.T, block []uint16) []string {
	t.Helper()
	var out []string
	for {
		end := slices.Index(block, 0)
		require.GreaterOrEqual(t, end, 0, "the block ends in two zeros")
		if end == 0 {
			require.Len(t, block, 1, "nothing follows the end")
			return out
		}
		out = append(out, string(utf16.Decode(block[:end])))
		block = block[end+1:]
	}
}

func TestEnvironmentBlock(t *testing.T) {
	block, err := EnvironmentBlock(map[string]string{
		"path": "x", "PATHEXT": ".exe", "Path_": "y", "SystemRoot": `C:\Windows`, "LOCALAPPDATA": `C:\l`, "a": "1", "_b": "2", "Z": "", "é": "😀=", "😀": "n",
	})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"a=1", `LOCALAPPDATA=C:\l`, "path=x", "PATHEXT=.exe", "Path_=y", `SystemRoot=C:\Windows`, "Z=", "_b=2", "é=😀=", "😀=n",
	}, readBlock(t, block))
}

func TestEnvironmentBlockRefuses(t *testing.T) {
	base := func() map[string]string { return map[string]string{"SYSTEMROOT": "x", "LOCALAPPDATA": "y"} }
	for name, change := range map[string]func(map[string]string){
		"Path":       func(m map[string]string) { m["PATH"], m["Path"] = "a", "b" },
		"":           func(m map[string]string) { m[""] = "x" },
		"=C:":        func(m map[string]string) { m["=C:"] = "x" },
		"Z":          func(m map[string]string) { m["Z"] = "a\x00b" },
		"U":          func(m map[string]string) { m["U"] = "\xff" },
		"SYSTEMROOT": func(m map[string]string) { delete(m, "SYSTEMROOT") },
		"É":          func(m map[string]string) { m["É"], m["é"] = "a", "b" },
	} {
		vars := base()
		change(vars)
		_, err := EnvironmentBlock(vars)
		var e *EnvironmentError
		require.ErrorAs(t, err, &e, name)
		assert.Equal(t, strings.ToLower(name), strings.ToLower(e.Name))
	}
	_, err := EnvironmentBlock(map[string]string{"A": "\x00", "a": ""})
	assert.Len(t, strings.Split(err.Error(), "\n"), 4, "every fault is said: %v", err)
}

func FuzzEnvironmentBlock(f *testing.F) {
	f.Add("Path", "x", "pathext", "y")
	f.Add("ß", "", "ſ", "S")
	f.Fuzz(func(t *testing.T, a, x, b, y string) {
		vars := map[string]string{"SYSTEMROOT": "r", "LOCALAPPDATA": "l", a: x, b: y}
		block, err := EnvironmentBlock(vars)
		if err != nil {
			return
		}
		got := map[string]string{}
		var last []uint16
		for _, kv := range readBlock(t, block) {
			name, value, _ := strings.Cut(kv, "=")
			got[name] = value
			require.True(t, last == nil || lessUnits(last, capitals(name)), "%q stands after a greater name", name)
			last = capitals(name)
		}
		require.Equal(t, vars, got)
	})
}

func TestCleanWindows(t *testing.T) {
	for path, want := range map[string]string{
		`c:/`: `C:\`, `C:\Users\..\..\x`: `C:\x`, `d:\a\\b/./c\`: `D:\a\b\c`, `C:\A b\é.txt`: `C:\A b\é.txt`, `C:\x\.git`: `C:\x\.git`, `C:\consult\com\lpt10`: `C:\consult\com\lpt10`,
	} {
		got, err := cleanWindows(path)
		require.NoError(t, err, path)
		assert.Equal(t, want, got)
	}
	for path, want := range map[string]error{
		"": errRelative, `C:`: errRelative, `C:x`: errRelative, `1:\x`: errRelative, `\x`: errRelative, `\\.\pipe\x`: errDevicePath, `\??\C:\x`: errDevicePath, `\\s\c$`: errNetworkShare,
		`C:\x:$DATA`: errStream, `C:\a?`: errOddCharacter, "C:\\a\x1f": errOddCharacter, `C:\a `: errTrailing, `C:\a.\b`: errTrailing, `C:\CON`: errDeviceName, `C:\x\com1.log`: errDeviceName,
		`C:\x\LPT²`: errDeviceName, `C:\progra~1\x`: errShortName, `C:\a~2.txt`: errShortName,
	} {
		_, err := cleanWindows(path)
		assert.ErrorIs(t, err, want, path)
	}
}

func FuzzCleanWindows(f *testing.F) {
	f.Add(`C:\Users\..\a`)
	f.Add(`c:/x/.../y`)
	f.Fuzz(func(t *testing.T, path string) {
		clean, err := cleanWindows(path)
		if err != nil || !utf8.ValidString(path) {
			return
		}
		again, err := cleanWindows(clean)
		require.NoError(t, err)
		require.Equal(t, clean, again)
		require.NotContains(t, clean[3:], `..\`)
	})
}
