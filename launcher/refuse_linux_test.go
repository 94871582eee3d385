package launcher

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

func planned(t *testing.T, s Spec) (*Plan, error) {
	t.Helper()
	return ordinary(t, s).Plan()
}

func TestUnusableConnectionFiles(t *testing.T) {
	dir := folder(t)
	for name, c := range map[string]struct{ text, problem string }{
		"noise.json":   {"not json", "noise.json"},
		"bare.json":    {`{"ip": "127.0.0.1"}`, "shell_port"},
		"high.json":    {`{"ip":"127.0.0.1","transport":"tcp","key":"k","signature_scheme":"hmac-sha256","shell_port":70000,"iopub_port":2,"stdin_port":3,"control_port":4,"hb_port":5}`, "70000"},
		"foreign.json": {`{"ip":"127.0.0.1","transport":"smtp","key":"k","signature_scheme":"hmac-sha256","shell_port":1,"iopub_port":2,"stdin_port":3,"control_port":4,"hb_port":5}`, "smtp"},
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		_, err := planned(t, Spec{ConnectionFile: path})
		var fault *jupyter.FaultError
		require.ErrorAs(t, err, &fault, name)
		assert.Contains(t, err.Error(), c.problem)
	}
	_, err := planned(t, Spec{ConnectionFile: dir + "/absent.json"})
	assert.ErrorContains(t, err, "absent.json")
}

func TestAPortThatSomebodyHasIsNamedAndNothingIsLeft(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	c := connection("127.0.0.1", "tcp")
	require.NoError(t, choosePorts(&c.Shell, &c.IOPub, &c.Stdin, &c.HB))
	c.Control = l.Addr().(*net.TCPAddr).Port
	data, err := c.JSON()
	require.NoError(t, err)
	file := folder(t) + "/kernel.json"
	require.NoError(t, os.WriteFile(file, data, 0o600))
	before := descriptors(t)
	_, err = try(t, Spec{ConnectionFile: file})
	var taken *PortTakenError
	require.ErrorAs(t, err, &taken)
	assert.Equal(t, "control", taken.Channel)
	requireNothingOfLaunch(t, before)
}

func TestAFolderThatIsTooBroad(t *testing.T) {
	home := os.Getenv("HOME")
	for _, dir := range []string{"/", home, filepath.Dir(home), "/usr", "/etc"} {
		_, err := planned(t, Spec{Folder: dir})
		var path *sandbox.PathError
		require.ErrorAs(t, err, &path, dir)
		assert.True(t, path.Broad, "%v", err)
		assert.Contains(t, err.Error(), dir)
	}
	require.NoError(t, os.WriteFile(home+"/mine.csv", []byte("x"), 0o600))
	s := Spec{Folder: home, AnyFolder: true}
	p, err := planned(t, s)
	require.NoError(t, err)
	assert.Empty(t, p.Folder)
	require.Len(t, p.Notices, 1)
	assert.Contains(t, p.Notices[0], home)
	out, exit := python(t, s, "import os; print(os.getcwd(), os.listdir('.'), os.environ.get('PWD')); open('mine', 'w')")
	require.Zero(t, exit.Code, out)
	assert.Equal(t, sandbox.WorkTarget+" [] None", out)
	assert.NoFileExists(t, home+"/mine")
}

func TestAFolderThatIsNotThere(t *testing.T) {
	gone := folder(t) + "/gone"
	_, err := planned(t, Spec{Folder: gone, AnyFolder: true})
	var path *sandbox.PathError
	require.ErrorAs(t, err, &path)
	assert.Contains(t, err.Error(), gone)
}

func TestEnvironmentsThatCannotBeUsed(t *testing.T) {
	_, err := planned(t, Spec{Environment: "nosuch"})
	var missing *envs.NotFoundError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, "nosuch", missing.Name)

	gone := copied(t, "doomed", func(m map[string]any) { m["interpreter"].(map[string]any)["path"] = "/opt/gone/bin/python3" })
	_, err = planned(t, Spec{Environment: "doomed"})
	var broken *envs.BrokenError
	require.ErrorAs(t, err, &broken)
	assert.Contains(t, err.Error(), "/opt/gone/bin/python3")

	require.NoError(t, os.RemoveAll(filepath.Join(gone, "gen", "1")))
	_, err = planned(t, Spec{Environment: "doomed"})
	require.ErrorAs(t, err, &broken)
}

// copied makes another environment of the default one, with a manifest that is changed.
func copied(t *testing.T, name string, change func(map[string]any)) string {
	t.Helper()
	require.NoError(t, MakeDefault())
	from := filepath.Join(os.Getenv("HOME"), ".local/share/kernel-launch/envs/python/default")
	to := filepath.Join(filepath.Dir(from), name)
	require.NoError(t, os.MkdirAll(filepath.Join(to, "gen", "1"), 0o700))
	t.Cleanup(func() { os.RemoveAll(to) })
	data, err := os.ReadFile(from + "/env.json")
	require.NoError(t, err)
	m := map[string]any{}
	require.NoError(t, json.Unmarshal(data, &m))
	m["name"] = name
	change(m)
	data, err = json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to+"/env.json", data, 0o600))
	require.NoError(t, os.WriteFile(to+"/gen/1.lock", nil, 0o600))
	require.NoError(t, os.Symlink("gen/1", to+"/current"))
	return to
}

func TestAConfigurationThatCannotBeReadRunsNothing(t *testing.T) {
	home := folder(t)
	require.NoError(t, os.MkdirAll(home+"/.config/kernel-launch", 0o700))
	file := home + "/.config/kernel-launch/config.yaml"
	require.NoError(t, os.WriteFile(file, []byte("egress:\n  allow: [\"*\"]\negres: {}\n"), 0o600))
	_, err := planned(t, Spec{Environ: append(os.Environ(), "HOME="+home)})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "config.yaml:2")
	assert.Contains(t, err.Error(), "config.yaml:3", "all faults at once")
}

func TestABackendThatIsNotThere(t *testing.T) {
	for _, name := range []string{"off", "seatbelt"} {
		_, err := planned(t, Spec{Overrides: Overrides{Sandbox: name}})
		assert.ErrorContains(t, err, name)
	}
}

// The places that are searched for bwrap cannot be emptied here: the plan is given another program, which stands for what was found there.
func TestABubblewrapThatCannotBeUsed(t *testing.T) {
	fake := folder(t) + "/bwrap"
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\n[ \"$1\" = --version ] && { echo bubblewrap 0.4.1; exit; }\necho 'bwrap: Unknown option --size' >&2\nexit 1\n"), 0o755))
	refusing := folder(t) + "/bwrap"
	require.NoError(t, os.WriteFile(refusing, []byte("#!/bin/sh\n[ \"$1\" = --version ] && { echo bubblewrap 0.11.0; exit; }\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"), 0o755))
	for program, c := range map[string]struct{ cause, detail string }{
		"":                  {sandbox.CauseMissing, "was not found"},
		fake + "-not-there": {sandbox.CauseMissing, "was not found"},
		fake:                {sandbox.CauseTooOld, "0.4.1"},
		refusing:            {sandbox.CauseUsernsRefused, "setting up uid map"},
	} {
		p, err := planned(t, Spec{})
		require.NoError(t, err)
		p.Sandbox.Program = program
		before := descriptors(t)
		_, err = Start(within(t, 20e9), p)
		var unavailable *sandbox.UnavailableError
		require.ErrorAs(t, err, &unavailable, program)
		assert.Equal(t, c.cause, unavailable.Cause)
		assert.Contains(t, err.Error(), c.detail)
		assert.NotEmpty(t, unavailable.Remedy)
		requireNothingOfLaunch(t, before)
	}
}

func TestAPlanStartsAndWritesNothing(t *testing.T) {
	require.NoError(t, MakeDefault())
	home, dir := os.Getenv("HOME"), folder(t)
	before := listing(t, home) + listing(t, dir)
	p, err := planned(t, Spec{Folder: dir})
	require.NoError(t, err)
	assert.Equal(t, before, listing(t, home)+listing(t, dir))
	assert.NoDirExists(t, p.KeptHome)
	text := strings.Join(p.Sentences(), "\n")
	for _, want := range []string{"Environment default", dir, "It may reach: ", "Enforced: ", "ipykernel_launcher"} {
		assert.Contains(t, text, want)
	}
	assert.Contains(t, p.VariableNames(), "PATH")
	assert.NotContains(t, strings.Join(p.VariableNames(), " "), "=")
}

func listing(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		return err
	}))
	return b.String()
}
