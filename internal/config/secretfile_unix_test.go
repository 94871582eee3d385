//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASecretIsReadOnlyFromAFileThatIsClosedToOthers(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(file, []byte("topsecret"), 0o600))
	for _, mode := range []os.FileMode{0o600, 0o400} {
		require.NoError(t, os.Chmod(file, mode))
		b, err := ReadSecret(file)
		require.NoError(t, err)
		assert.Equal(t, "topsecret", string(b))
	}
	for mode, why := range map[os.FileMode]string{0o604: "others can read it", 0o640: "others can read it", 0o660: "others can write it"} {
		require.NoError(t, os.Chmod(file, mode))
		_, err := ReadSecret(file)
		require.ErrorAs(t, err, new(*InsecureError))
		assert.ErrorContains(t, err, why)
	}
	require.NoError(t, os.Chmod(file, 0o600))
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err := ReadSecret(file)
	assert.ErrorContains(t, err, "has mode 0777: others can write it", "another file could be put in its place")
}

func TestAPipeInTheSecretsPlaceDoesNotHoldUp(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "key")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	done := make(chan error, 1)
	go func() { _, err := ReadSecret(pipe); done <- err }()
	select {
	case err := <-done:
		assert.ErrorContains(t, err, "is not a regular file")
	case <-time.After(20 * time.Second):
		t.Fatal("it waits")
	}
}
