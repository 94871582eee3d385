package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatTheCeilingTakesAwayIsANotice(t *testing.T) {
	require.NoError(t, MakeDefault())
	dir := folder(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte("sandbox: {network: allowlist}\n"), 0o644))
	s := Spec{Environment: "default", Folder: folder(t), Config: DefaultConfig(), Overrides: Overrides{Network: "host"}}
	p, err := s.Plan()
	require.NoError(t, err)
	assert.Empty(t, p.Notices)

	require.NoError(t, s.Config.HoldBelow(filepath.Join(dir, "config.yaml"), ""))
	p, err = s.Plan()
	require.NoError(t, err)
	want := "sandbox.network: host was asked for (--network); " + dir + "/policy.yaml:1 allows allowlist"
	assert.Equal(t, []string{want}, p.Notices)
	assert.Contains(t, strings.Join(p.Sentences(), "\n"), want)
}
