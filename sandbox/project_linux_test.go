package sandbox

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withProjectAround is a world whose folder lies in a project below the home, with what a project keeps for itself.
func withProjectAround(t *testing.T) (w *world, root string) {
	t.Helper()
	w = newWorld(t)
	root = w.home + "/proj"
	for path, text := range map[string]string{
		"/pyproject.toml": "", "/data.csv": "42", "/.env": "PASSWORD=" + secretText, "/sub/.env.local": secretText, "/sub/nb/.env": "mine", "/sub/code.py": "x",
	} {
		w.write(root+path, text)
	}
	w.policy.Folder, w.policy.Project = root+"/sub/nb", true
	return w, root
}

func TestTheProjectCanBeReadAndNothingElse(t *testing.T) {
	w, root := withProjectAround(t)
	require.Equal(t, "PASSWORD="+secretText+"ok\n", w.outside("read", root+"/.env"), "the control")
	assert.Equal(t, "42ok\nxok\nmineok\n", w.inside("read", root+"/data.csv", root+"/sub/code.py", root+"/sub/nb/.env"))
	assert.Equal(t, "read-only file system\nread-only file system\nok\n", w.inside("create", root+"/new", root+"/sub/new", root+"/sub/nb/new"))
	assert.Equal(t, "permission denied\npermission denied\n", w.inside("read", root+"/.env", root+"/sub/.env.local"))
	assert.Equal(t, "no such file or directory\n", w.inside("read", w.secret))
	w.policy.Project = false
	assert.Equal(t, "no such file or directory\n", w.inside("read", root+"/data.csv"), "only where it is asked for")
}

func TestASocketOfTheProject(t *testing.T) {
	w, root := withProjectAround(t)
	t.Chdir(root) // a socket's path has at most 107 bytes
	l, err := net.Listen("unix", "s")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	c, err := net.Dial("unix", "s")
	require.NoError(t, err, "the control")
	c.Close()
	assert.Equal(t, "connection refused\n", w.inside("connectin", root, "s"))
}

func TestSecretsBelowAGrantCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.write(w.home+"/.config/app/settings", "plain")
	w.write(w.home+"/.config/gh/hosts.yml", secretText)
	w.write(w.home+"/.config/pip/pip.conf", secretText)
	w.policy.Read = []string{w.home + "/.config"}
	paths := []string{w.home + "/.config/gh/hosts.yml", w.home + "/.config/pip/pip.conf"}
	require.Equal(t, secretText+"ok\n"+secretText+"ok\n", w.outside("read", paths...), "the control")
	assert.Equal(t, "plainok\n", w.inside("read", w.home+"/.config/app/settings"))
	assert.Equal(t, "no such file or directory\npermission denied\n", w.inside("read", paths...))
	w.policy.Read, w.policy.Write = nil, []string{w.home + "/.config"}
	_, err := Default().Plan(w.policy)
	require.ErrorContains(t, err, w.home+"/.config/gh, which holds secrets")
}
