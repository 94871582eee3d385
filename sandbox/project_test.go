package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func withProject(root string, paths ...string) Facts {
	f := machine(append(paths, root)...)
	f.Project = root
	return f
}

func TestTheProjectIsShownBeforeTheFolderInIt(t *testing.T) {
	f := withProject("/home/ada/p", "/home/ada/p/nb", "/home/ada/p/out").with("/home/ada/p/.env!", "/home/ada/p/.envrc=>/home/ada/else")
	f = f.files("/home/ada/p/.envrc")
	f.Secrets = []string{"/home/ada/p/.env", "/home/ada/p/.envrc"}
	p := Policy{Folder: "/home/ada/p/nb", Project: true, Write: []string{"/home/ada/p/out"}, RealHome: "/home/ada"}
	plan := compile(t, p, f)
	got := text(plan)
	assert.Contains(t, got, "--ro-bind /home/ada/p /home/ada/p --bind /home/ada/p/nb /home/ada/p/nb --bind /home/ada/p/out /home/ada/p/out --ro-bind /dev/null /home/ada/p/.env")
	assert.NotContains(t, got, "/home/ada/else", "what is not seen needs no cover")
	assert.Contains(t, strings.Join(plan.Sentences(), "\n"), "the project around the working folder")
	p.Project = false
	assert.NotContains(t, text(compile(t, p, f)), "/home/ada/p /home/ada/p ")
}

func TestAProjectNeverStopsAStart(t *testing.T) {
	own := withProject("/home/ada/p", "/home/ada/p/nb")
	for name, c := range map[string]struct {
		p    Policy
		f    Facts
		says string
	}{
		"a home":      {Policy{}, withProject("/home/ada", "/home/ada/p/nb"), "too broad"},
		"ours in it":  {Policy{Own: []string{"/home/ada/p/data"}}, own, "contains /home/ada/p/data"},
		"home in it":  {Policy{HomeTarget: "/home/ada/p/h"}, own, "contains /home/ada/p/h"},
		"trees in it": {Policy{Trees: []Tree{{"/s", "/home/ada/p/t"}}}, machine("/s").project("/home/ada/p", "/home/ada/p/nb"), "contains /home/ada/p/t"},
	} {
		t.Run(name, func(t *testing.T) {
			c.p.Folder, c.p.Project = "/home/ada/p/nb", true
			plan := compile(t, c.p, c.f)
			assert.NotContains(t, text(plan), "--ro-bind "+c.f.Project+" ")
			require.Len(t, plan.Warnings, 1)
			assert.Contains(t, plan.Warnings[0], c.says)
		})
	}
	writable := compile(t, Policy{Folder: "/home/ada/p/nb", Project: true, Write: []string{"/home/ada/p"}}, own)
	assert.Contains(t, text(writable), "--bind /home/ada/p /home/ada/p")
	assert.NotContains(t, text(writable), "--ro-bind /home/ada/p /home/ada/p")
	sockets := withProject("/home/ada/p", "/home/ada/p/nb")
	sockets.Paths["/home/ada/p"] = Entry{Kind: EntryFolder, Resolved: "/home/ada/p", Sockets: []string{"agent"}}
	assert.Contains(t, text(compile(t, Policy{Folder: "/home/ada/p/nb", Project: true}, sockets)), "--ro-bind /dev/null /home/ada/p/agent")
	tools := withProject("/home/ada/bin", "/home/ada/bin/nb") // a folder on PATH
	tools.Search = []string{"/home/ada/bin"}
	_, err := Compile(Policy{Folder: "/home/ada/bin/nb", Project: true}, tools)
	require.ErrorContains(t, err, "folder /home/ada/bin/nb lies in /home/ada/bin, a folder on PATH", "of the folder, not of the project")
}

func (f Facts) project(root string, paths ...string) Facts {
	f = f.with(append(paths, root)...)
	f.Project = root
	return f
}

func TestWhereAProjectBegins(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home := base + "/home"
	t.Setenv("HOME", home)
	deep := home + "/p/a/b"
	require.NoError(t, os.MkdirAll(deep, 0o755))
	at := func() Facts {
		f, err := Observe(Policy{Folder: deep, Project: true, RealHome: home})
		require.NoError(t, err)
		return f
	}
	require.NoError(t, os.WriteFile(base+"/pyproject.toml", nil, 0o600))
	require.NoError(t, os.Mkdir(home+"/.git", 0o755))
	assert.Empty(t, at().Project, "never the home or what is above it")
	for _, mark := range []string{"pyproject.toml", "_quarto.yml", "study.Rproj", ".git"} {
		require.NoError(t, os.WriteFile(home+"/p/"+mark, nil, 0o600))
		assert.Equal(t, home+"/p", at().Project, mark)
		require.NoError(t, os.Remove(home+"/p/"+mark))
		assert.Empty(t, at().Project, mark)
	}
	require.NoError(t, os.Mkdir(home+"/p/.git", 0o755))
	for _, secret := range []string{"/p/.env", "/p/.env.local", "/p/a/.envrc", "/p/a/b/.env"} {
		require.NoError(t, os.WriteFile(home+secret, nil, 0o600))
	}
	assert.ElementsMatch(t, []string{home + "/p/.env", home + "/p/.env.local", home + "/p/a/.envrc"}, at().Secrets, "the folder's own are the user's")
	require.NoError(t, os.Mkdir(deep+"/.git", 0o755))
	assert.Equal(t, deep, at().Project, "the nearest")
	f, err := Observe(Policy{Folder: deep, RealHome: home})
	require.NoError(t, err)
	assert.Empty(t, f.Project, "only where it is asked for")
}
