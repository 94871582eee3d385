package sandbox

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSecretsBelowWhatIsReadAreMasked(t *testing.T) {
	for _, name := range sensitiveHome {
		path := "/home/ada/" + name
		parent := filepath.Dir(path)
		if parent == "/home/ada" {
			continue // only a whole home holds it, and that is never shown
		}
		f := machine(parent).with(path + "!")
		assert.Contains(t, text(compile(t, Policy{Read: []string{parent}}, f)), "--ro-bind "+parent+" "+parent+" --ro-bind /dev/null "+path)
		assert.Contains(t, text(compile(t, Policy{Prefixes: []string{parent}}, f)), "--ro-bind /dev/null "+path)
		_, err := Compile(Policy{Write: []string{parent}}, f)
		assert.ErrorContains(t, err, path, "where it can be written it cannot be masked")
	}
}

func TestSecretsThatAreFoldersLinksOrNotThere(t *testing.T) {
	f := machine("/home/ada/.config", "/home/ada/.config/gh", "/home/ada/.config/op=>/home/ada/.config/real-op", "/home/ada/.config/hub=>/elsewhere")
	plan := compile(t, Policy{Read: []string{"/home/ada/.config"}}, f)
	got := text(plan)
	assert.Contains(t, got, "--perms 0555 --size 65536 --tmpfs /home/ada/.config/gh")
	assert.Contains(t, got, "--remount-ro /home/ada/.config/gh")
	assert.Contains(t, got, "--tmpfs /home/ada/.config/real-op", "a link's target, when that is seen")
	assert.NotContains(t, got, "/elsewhere")
	assert.NotContains(t, got, ".config/gcloud", "what is not there cannot come into being in what is read-only")
}

func TestASecretThatIsNamedIsShownAndSaid(t *testing.T) {
	f := machine("/home/ada/.config", "/home/ada/.config/gh", "/home/ada/.config/gh/hosts.yml!", "/home/ada/.ssh")
	plan := compile(t, Policy{Read: []string{"/home/ada/.config", "/home/ada/.config/gh/hosts.yml"}}, f)
	assert.NotContains(t, text(plan), "--tmpfs /home/ada/.config/gh")
	assert.Contains(t, strings.Join(plan.Warnings, "\n"), "/home/ada/.config/gh can be read")
	_, err := Compile(Policy{Folder: "/home/ada/.ssh"}, f)
	assert.ErrorContains(t, err, "is /home/ada/.ssh, which holds secrets")
	_, err = Compile(Policy{Write: []string{"/home/ada/.ssh/keys"}}, machine("/home/ada/.ssh", "/home/ada/.ssh/keys"))
	assert.ErrorContains(t, err, "lies in /home/ada/.ssh")
	ordinary := compile(t, Policy{Folder: "/home/ada/nb", RealHome: "/home/ada"}, machine("/home/ada/nb"))
	assert.NotContains(t, text(ordinary), ".ssh", "what is not shown needs no mask")
}

func TestAProjectsSecretsAreMasked(t *testing.T) {
	f := withProject("/home/ada/.config", "/home/ada/.config/nb", "/home/ada/.config/gh")
	got := text(compile(t, Policy{Folder: "/home/ada/.config/nb", Project: true}, f))
	assert.Contains(t, got, "--tmpfs /home/ada/.config/gh")
}

func TestTokensInAnInstallationAreMasked(t *testing.T) {
	f := machine("/home/ada/miniconda3", "/home/ada/miniconda3/.condarc!", "/home/ada/miniconda3/lib/pip.conf!", "/usr/pip.conf!", "/home/ada/nb", "/home/ada/nb/pip.conf!")
	got := text(compile(t, Policy{Folder: "/home/ada/nb", Prefixes: []string{"/home/ada/miniconda3"}}, f))
	assert.Contains(t, got, "--ro-bind /dev/null /home/ada/miniconda3/.condarc")
	assert.NotContains(t, got, "pip.conf", "those of packages, of the folder and of what is no installation of this kernel stay")
}

func TestSensitivePathsAreSound(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range sensitiveHome {
		assert.Equal(t, filepath.Clean(name), name)
		assert.False(t, filepath.IsAbs(name))
		assert.False(t, seen[name], name)
		seen[name] = true
	}
}
