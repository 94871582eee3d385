package kernelspec

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/cases"
)

// oneCase is a row of testdata/cases/kernelspec.json. Fields whose shape depends on input.kind stay raw.
type oneCase struct {
	ID    string
	Input struct {
		Kind           string
		KernelJSON     string            `json:"kernel_json"`
		LaunchEnv      map[string]string `json:"launch_env"`
		ConnectionFile string            `json:"connection_file"`
		ResourceDir    string            `json:"resource_dir"`
		Prefix         string            `json:"bound_env_prefix"`
		Files          map[string]struct {
			Text string
			B64  []byte
		}
		Variants      []string
		Base          map[string]any
		InterruptMode []*string `json:"interrupt_mode"`
	}
	Expected struct {
		Verdict       json.RawMessage
		Argv          []string
		KernelEnv     map[string]string `json:"kernel_env"`
		OK            []string
		Bad           map[string]string
		Warn          json.RawMessage
		UnknownKept   []string  `json:"unknown_fields_kept"`
		MessageNames  []string  `json:"message_names"`
		Argv0         []string  `json:"argv0"`
		InterruptMode []*string `json:"interrupt_mode_out"`
	}
}

func TestCases(t *testing.T) {
	cases.Run(t, "kernelspec.json", cases.Runners[oneCase]{
		"kernelspec":               runSpec,
		"kernelspec_dir":           runDir,
		"kernelspec_text_variants": runTexts,
		"kernelspec_variants":      runModes,
		"list_under_locale":        runName,
	})
}

func runSpec(t *testing.T, row oneCase) {
	dir := row.Input.ResourceDir
	if dir == "" {
		dir = "/kernels/x"
	}
	s, problems := parse("x", dir, []byte(row.Input.KernelJSON))
	require.NotNil(t, s, problems)
	if row.Expected.Argv != nil {
		home := row.Input.LaunchEnv["HOME"]
		got := Expand(s, Values{ConnectionFile: row.Input.ConnectionFile, Prefix: row.Input.Prefix, Home: home})
		assert.Equal(t, row.Expected.Argv, got)
	}
	if row.Expected.KernelEnv != nil {
		got := ExpandEnv(s, func(name string) (string, bool) { v, ok := row.Input.LaunchEnv[name]; return v, ok })
		assert.Equal(t, row.Expected.KernelEnv, got)
	}
}

func runDir(t *testing.T, row oneCase) {
	root := t.TempDir()
	for name, f := range row.Input.Files {
		path := filepath.Join(root, "kernels", filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, append([]byte(f.Text), f.B64...), 0o644))
	}
	specs, problems := finder(map[string]string{"JUPYTER_PATH": root}).List()
	listed := map[string]*Spec{}
	for _, s := range specs {
		listed[s.Name] = s
	}
	for _, name := range row.Expected.OK {
		require.Contains(t, listed, name)
		assert.FileExists(t, listed[name].File())
	}
	for name, what := range row.Expected.Bad {
		assert.NotContains(t, listed, name)
		said := saidOf(problems, name, false)
		assert.Contains(t, said, keyword(what), "%s should say: %s", said, what)
	}
	for name, what := range cases.As[map[string]string](t, row.Expected.Warn) {
		require.Contains(t, listed, name)
		assert.Contains(t, saidOf(problems, name, true), what)
	}
	for _, field := range row.Expected.UnknownKept {
		assert.True(t, slices.ContainsFunc(specs, func(s *Spec) bool { return slices.Contains(s.Unknown, field) }), field)
	}
}

// keyword turns a description into what the message must hold.
func keyword(what string) string {
	for _, verb := range []string{"names the ", "says the "} {
		what = strings.TrimPrefix(what, verb)
	}
	return strings.Replace(what, "UTF-16 encoding", "UTF-16", 1)
}

func saidOf(problems []Problem, name string, warning bool) string {
	var said []string
	for _, p := range problems {
		if filepath.Base(filepath.Dir(p.File)) == name && p.Warning == warning {
			said = append(said, p.Error())
		}
	}
	return strings.Join(said, "\n")
}

func runTexts(t *testing.T, row oneCase) {
	verdicts := cases.As[[]string](t, row.Expected.Verdict)
	warn := cases.As[[]string](t, row.Expected.Warn)
	for i, text := range row.Input.Variants {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s, problems := parse("x", "/kernels/x", []byte(text))
			var said []string
			for _, p := range problems {
				said = append(said, p.Error())
			}
			all := strings.Join(said, "\n")
			assert.Equal(t, strings.HasPrefix(verdicts[i], "accept"), s != nil, all)
			if row.Expected.MessageNames != nil {
				for _, name := range strings.Split(row.Expected.MessageNames[i], ";") {
					assert.Contains(t, strings.ReplaceAll(all, ";", ""), strings.ReplaceAll(name, ";", ""))
				}
			}
			if warn != nil {
				assert.Contains(t, all, warn[i])
			}
			if row.Expected.Argv0 != nil {
				assert.Equal(t, row.Expected.Argv0[i], s.Argv[0])
			}
		})
	}
}

func runModes(t *testing.T, row oneCase) {
	verdicts := cases.As[[]string](t, row.Expected.Verdict)
	for i, mode := range row.Input.InterruptMode {
		row.Input.Base["interrupt_mode"] = mode
		text, err := json.Marshal(row.Input.Base)
		require.NoError(t, err)
		s, problems := parse("x", "/kernels/x", text)
		if verdicts[i] == "refuse" {
			require.Nil(t, s)
			assert.ErrorContains(t, faults(problems), "neither signal nor message")
			continue
		}
		require.NotNil(t, s, problems)
		assert.Equal(t, *row.Expected.InterruptMode[i], s.InterruptMode)
	}
}

func runName(t *testing.T, row oneCase) {
	s, problems := parse("x", "/kernels/x", []byte(row.Input.KernelJSON))
	require.NotNil(t, s, problems)
	assert.Equal(t, "Python 3 ☂ 数据", s.DisplayName)
	assert.Empty(t, problems)
}

// finder looks in nothing but what env says.
func finder(env map[string]string) Finder {
	return Finder{Goos: "linux", Getenv: func(k string) string { return env[k] }}
}
