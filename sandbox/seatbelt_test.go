package sandbox

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sbplToken is one piece of a profile: a bracket, a word, or a string with its text.
type sbplToken struct{ kind, text string }

// readProfile takes a profile apart by the rules of its language and fails when its brackets do not close.
func readProfile(text string) ([]sbplToken, error) {
	var out []sbplToken
	depth := 0
	for i := 0; i < len(text); {
		switch b := text[i]; {
		case strings.ContainsRune(" \t\n", rune(b)):
			i++
		case b == ';':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case b == '(' || b == ')':
			if depth += map[byte]int{'(': 1, ')': -1}[b]; depth < 0 {
				return nil, fmt.Errorf("a bracket closes that none opened, at %d", i)
			}
			out = append(out, sbplToken{string(b), ""})
			i++
		case b == '"':
			s, next, err := readString(text, i+1)
			if err != nil {
				return nil, err
			}
			out = append(out, sbplToken{"string", s})
			i = next
		default:
			end := i
			for end < len(text) && !strings.ContainsRune(" \t\n();\"", rune(text[end])) {
				end++
			}
			out = append(out, sbplToken{"word", text[i:end]})
			i = end
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("%d brackets are left open", depth)
	}
	return out, nil
}

func readString(text string, i int) (s string, next int, err error) {
	var out strings.Builder
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			return out.String(), i + 1, nil
		case '\\':
			if i++; i == len(text) {
				return "", 0, fmt.Errorf("a backslash ends the text")
			}
			if text[i] != '\\' && text[i] != '"' {
				return "", 0, fmt.Errorf("an escape of %q, which means different things to different readers", text[i])
			}
		}
		out.WriteByte(text[i])
	}
	return "", 0, fmt.Errorf("a string is left open")
}

func FuzzSBPLLiteral(f *testing.F) {
	for _, s := range []string{"", `"`, `\`, `\"`, `a")(allow default)("`, "a\nb", "ü\x00\xff", `;"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tokens, err := readProfile("(allow file-read* (subpath " + sbplLiteral(s) + "))")
		require.NoError(t, err)
		require.Len(t, tokens, 8)
		assert.Equal(t, sbplToken{"string", s}, tokens[5])
	})
}

// nasty is a path component of what could end a string, a rule, a parameter or a regular expression.
func nasty(r *rand.Rand) string {
	pieces := []string{`"`, `\`, `(`, `)`, "\n", `;`, `=`, `#"`, ` `, `'`, `[.]*`, `$`, `^`, `ü`, "e\u0301", `-D`, `(param "HOME")`, `")(allow default)(x "`, "a", `\n`, `${X}`}
	var out strings.Builder
	for range 1 + r.IntN(5) {
		out.WriteString(pieces[r.IntN(len(pieces))])
	}
	return out.String()
}

// macPolicy has one path of each kind, all of them below base.
func macPolicy(name func() string) (Policy, Facts) {
	paths := map[string]string{}
	for _, kind := range []string{"folder", "read", "write", "hide", "island", "home", "py", "tree", "link", "project"} {
		paths[kind] = "/Users/ada/" + kind + "/" + name()
	}
	paths["folder"] = paths["project"] + "/" + name()
	paths["hide"] = paths["read"] + "/" + name()
	paths["island"] = paths["write"] + "/" + name()
	f := mac(paths["folder"], paths["read"], paths["write"], paths["py"], paths["tree"], paths["home"])
	f.Project = paths["project"]
	f.Paths[paths["hide"]] = Entry{Kind: EntryFile, Resolved: paths["hide"]}
	return Policy{
		Network: NetworkAllowlist, Folder: paths["folder"], Read: []string{paths["read"]}, Write: []string{paths["write"]}, Hide: []string{paths["hide"]}, Project: true,
		Islands: []string{paths["island"]}, KeptHome: paths["home"], Prefixes: []string{paths["py"]}, Trees: []Tree{{paths["tree"], paths["link"]}},
	}, f
}

func TestNoPathIsReadAsARule(t *testing.T) {
	p, f := macPolicy(func() string { return "plain" })
	want := compile(t, p, f).Seatbelt
	tokens, err := readProfile(want.Profile)
	require.NoError(t, err)
	for _, token := range tokens {
		assert.NotContains(t, token.text, "plain")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		p, f := macPolicy(func() string { return nasty(r) })
		got := compile(t, p, f).Seatbelt
		require.Equal(t, want.Profile, got.Profile, "the text of a profile is the same for all paths")
		argv, err := got.Arguments(map[string]string{ParameterTemp: "/private/x", ParameterProxy: "localhost:1"}, []string{"/bin/cat"})
		require.NoError(t, err)
		values := parametersOf(t, argv)
		assert.Equal(t, p.Folder, values["FOLDER"])
		assert.Equal(t, p.Read[0], values["READ_1"])
		assert.Equal(t, p.Write[0], values["WRITE_1"])
		assert.Equal(t, p.Hide[0], values["HIDDEN_1"])
		assert.Equal(t, p.Islands[0], values["ISLAND_1"])
		assert.Equal(t, p.KeptHome, values["HOME"])
		assert.Equal(t, p.Prefixes[0], values["INTERPRETER_1"])
		assert.Equal(t, p.Trees[0], Tree{values["TREE_1"], values["LINK_1"]})
		assert.Equal(t, f.Project, values["PROJECT"])
	}
}

// parametersOf reads a command line as sandbox-exec does: a definition ends at its first equals sign.
func parametersOf(t *testing.T, argv []string) map[string]string {
	t.Helper()
	require.Equal(t, "/usr/bin/sandbox-exec", argv[0])
	require.Equal(t, "-p", argv[1])
	out := map[string]string{}
	i := 3
	for ; argv[i] == "-D"; i += 2 {
		name, value, ok := strings.Cut(argv[i+1], "=")
		require.True(t, ok)
		require.NotContains(t, out, name)
		out[name] = value
	}
	require.Equal(t, []string{"/bin/cat"}, argv[i:])
	return out
}

func TestEveryParameterIsGivenAndUsed(t *testing.T) {
	p, f := macPolicy(func() string { return "x" })
	for _, network := range []Network{NetworkNone, NetworkAllowlist, NetworkHost} {
		p.Network = network
		s := compile(t, p, f).Seatbelt
		used := map[string]bool{}
		for _, m := range regexp.MustCompile(`\(param "([^"]+)"\)`).FindAllStringSubmatch(s.Profile, -1) {
			used[m[1]] = true
		}
		given := map[string]bool{}
		for _, p := range s.Parameters {
			assert.False(t, given[p.Name], "%s is given twice", p.Name)
			given[p.Name] = true
		}
		assert.Equal(t, given, used)
	}
}

func TestArgumentsOfAStart(t *testing.T) {
	p, f := macPolicy(func() string { return "x" })
	s := compile(t, p, f).Seatbelt
	good := func() map[string]string {
		return map[string]string{ParameterTemp: "/private/tmp/kl-1", ParameterProxy: "localhost:8080", "PORT_SHELL": "localhost:65535"}
	}
	argv, err := s.Arguments(good(), []string{"/bin/cat"})
	require.NoError(t, err)
	values := parametersOf(t, argv)
	assert.Equal(t, "localhost:65535", values["PORT_SHELL"])
	assert.NotContains(t, values, "PORT_IOPUB", "a port that is not given stays closed")

	for name, change := range map[string]func(map[string]string){
		"no folder":           func(m map[string]string) { delete(m, ParameterTemp) },
		"no proxy":            func(m map[string]string) { delete(m, ParameterProxy) },
		"every host":          func(m map[string]string) { m[ParameterProxy] = "*:8080" },
		"every port":          func(m map[string]string) { m[ParameterProxy] = "localhost:*" },
		"port 0":              func(m map[string]string) { m["PORT_SHELL"] = "localhost:0" },
		"no such port":        func(m map[string]string) { m["PORT_SHELL"] = "localhost:65536" },
		"an odd port":         func(m map[string]string) { m["PORT_SHELL"] = "localhost:+80" },
		"a linked folder":     func(m map[string]string) { m[ParameterTemp] = "/tmp/x" },
		"the root":            func(m map[string]string) { m[ParameterTemp] = "/" },
		"a relative folder":   func(m map[string]string) { m[ParameterTemp] = "x" },
		"no clean folder":     func(m map[string]string) { m[ParameterTemp] = "/private/tmp/x/../.." },
		"a fixed parameter":   func(m map[string]string) { m["FOLDER"] = "/" },
		"an unknown one":      func(m map[string]string) { m["X"] = "/" },
		"a zero byte in path": func(m map[string]string) { m[ParameterTemp] = "/a\x00b" },
	} {
		start := good()
		change(start)
		_, err := s.Arguments(start, nil)
		assert.Error(t, err, name)
	}
}

func TestCanonicalPathsOfMacOS(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp": "/private/tmp", "/tmp/x": "/private/tmp/x", "/var/folders/a": "/private/var/folders/a", "/etc/../etc/ssl": "/private/etc/ssl",
		"/private/tmp": "/private/tmp", "/tmpx": "/tmpx", "/": "/", "//Users//ada/": "/Users/ada", "/System/Volumes/Data/tmp/x": "/private/tmp/x", "/a/../../b": "/b",
	} {
		got, err := cleanDarwin(path)
		require.NoError(t, err, path)
		assert.Equal(t, want, got)
		again, err := cleanDarwin(got)
		require.NoError(t, err)
		assert.Equal(t, got, again)
	}
}

func TestSecretsOfTheHomeAreClosed(t *testing.T) {
	plan := compile(t, Policy{Read: []string{"/Users/ada/.config"}}, mac("/Users/ada/.config"))
	var closed []string
	for _, m := range plan.Mounts {
		if m.Kind == MountMask {
			closed = append(closed, m.Target)
		}
	}
	assert.Equal(t, []string{"/Users/ada/.config/gcloud", "/Users/ada/.config/gh"}, closed)
}

func TestAnyCase(t *testing.T) {
	re := regexp.MustCompile("^" + anyCase(".git") + "$")
	for _, name := range []string{".git", ".GIT", ".gIt"} {
		assert.Regexp(t, re, name)
	}
	assert.NotRegexp(t, re, "xgit")
}
