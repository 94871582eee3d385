package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheDefaultCommandNeedsNoOthers(t *testing.T) {
	for line, want := range map[string]bool{
		"-f c.json":                                true,
		"--env default -f c.json":                  true,
		"--env=default --file=c.json":              true,
		"--file c.json --json --dry-run":           true,
		"-f c.json --json=false --read /a --read=": true,
		"-f env":                       true, // the file's name
		"--env version -f c.json":      true,
		"--env -f -f c.json":           true, // the environment's name, and refused as that
		"":                             false,
		"--json":                       false,
		"--dry-run":                    false,
		"-f":                           false,
		"--env -f":                     false,
		"--env -f c.json":              false, // c.json is a word
		"-f=":                          false,
		"--file=":                      false,
		"-fc.json":                     false, // right, and rare
		"-f c.json --help":             false,
		"-f c.json -h":                 false,
		"-f c.json version":            false,
		"version -f c.json":            false,
		"--json env list -f c.json":    false,
		"--json kernel diff -f c.json": false,
		"--dry-run env -f c.json":      false,
		"-f c.json --nonsense":         false,
		"-f c.json -- x":               false,
		"-f c.json -":                  false,
		"__complete -f c.json":         false,
		"help -f c.json":               false,
	} {
		args := strings.Fields(line)
		a := &app{}
		root := a.root(args)
		assert.Equal(t, want, !root.HasSubCommands(), line)
		whole := a.root(nil)
		require.True(t, whole.HasSubCommands())
		assert.Equal(t, want, onlyLaunches(whole, args), line)
		if want {
			found, _, err := whole.Find(args)
			require.NoError(t, err, line)
			assert.Same(t, whole, found, "with all commands it is the default one as well: %s", line)
			require.NoError(t, whole.ParseFlags(args))
			assert.Empty(t, whole.Flags().Args(), line)
		}
	}
}

func TestHelpNamesEveryCommandWhateverElseIsAsked(t *testing.T) {
	for _, line := range []string{"--help", "-f c.json --help", "--env x -f c.json -h", "--file= ", "help"} {
		var out strings.Builder
		a := &app{out: &out, err: &out, in: strings.NewReader(""), getenv: func(string) string { return "" }}
		require.Zero(t, a.run(t.Context(), strings.Fields(line)), line)
		for _, name := range []string{"\n  env ", "\n  kernelspec ", "\n  version "} {
			assert.Contains(t, out.String(), name, line)
		}
	}
}
