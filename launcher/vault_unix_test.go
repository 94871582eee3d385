//go:build unix

package launcher

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/config"
)

const topSecret = "t0ps3cret"

// keeper is a vault with what it says.
type keeper struct {
	vault
	told []string
}

func newKeeper(t *testing.T, env map[string]string, all ...config.Credential) *keeper {
	k := &keeper{}
	k.vault = vault{env: env, scratch: t.TempDir(), say: func(s string) { k.told = append(k.told, s) }}
	require.NoError(t, os.Chmod(k.scratch, 0o700))
	k.hold(all)
	return k
}

func (k *keeper) ask(t *testing.T) (string, error) {
	t.Helper()
	require.Len(t, k.list, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	v, err := k.list[0].Value(ctx)
	return string(v), err
}

func from(s config.ValueSource) config.Credential {
	return config.Credential{Host: "API.test", Header: "Authorization", From: s}
}

func TestACredentialFromAVariable(t *testing.T) {
	k := newKeeper(t, map[string]string{"KEY": topSecret, "PATH": os.Getenv("PATH")}, from(config.ValueSource{Env: "KEY"}))
	v, err := k.ask(t)
	require.NoError(t, err)
	assert.Equal(t, topSecret, v)
	assert.Equal(t, "api.test", k.list[0].Host)

	k.hold([]config.Credential{from(config.ValueSource{Env: "OTHER"})})
	for range 3 {
		_, err = k.ask(t)
		assert.Equal(t, errWithheld, err, "which source it is, is not the kernel's to know")
	}
	assert.Equal(t, []string{"the credential Authorization for api.test cannot be had: the launcher was started without the variable OTHER"}, k.told, "once")
}

func TestACredentialFromAFileIsReadAgainWhenItChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	put := func(text string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(file+".new", []byte(text), 0o600))
		require.NoError(t, os.Chmod(file+".new", mode))
		require.NoError(t, os.Rename(file+".new", file))
	}
	put("Bearer one", 0o600)
	k := newKeeper(t, nil, from(config.ValueSource{File: file}))
	for _, want := range []string{"Bearer one", "Bearer two"} {
		put(want, 0o600)
		v, err := k.ask(t)
		require.NoError(t, err)
		assert.Equal(t, want, v)
	}
	for mode, why := range map[os.FileMode]string{0o644: "others can read it", 0o640: "others can read it", 0o602: "others can write it"} {
		put(topSecret, mode)
		_, err := k.ask(t)
		require.ErrorIs(t, err, errWithheld, mode)
		assert.Contains(t, k.told[len(k.told)-1], why)
	}
	require.NoError(t, os.Remove(file))
	_, err := k.ask(t)
	require.ErrorIs(t, err, errWithheld, "one that has gone is not used any more")
	put(strings.Repeat("x", 70<<10), 0o600)
	_, err = k.ask(t)
	require.ErrorIs(t, err, errWithheld)
	assert.NotContains(t, strings.Join(k.told, "\n"), topSecret)
	put("Bearer three", 0o600)
	v, err := k.ask(t)
	require.NoError(t, err)
	assert.Equal(t, "Bearer three", v)
}

// script is a command of a shell that leaves a line in runs each time.
func script(t *testing.T, text string) (argv []string, runs func() int) {
	count := filepath.Join(t.TempDir(), "runs")
	return []string{"/bin/sh", "-c", "echo x >> " + count + "\n" + text}, func() int {
		b, _ := os.ReadFile(count)
		return strings.Count(string(b), "x")
	}
}

func TestACredentialFromACommandIsKeptForAWhile(t *testing.T) {
	argv, runs := script(t, `echo "$KEY $(ls -A | wc -l) $(pwd)"`)
	k := newKeeper(t, map[string]string{"KEY": topSecret, "PATH": os.Getenv("PATH")}, from(config.ValueSource{Command: argv}))
	v, err := k.ask(t)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(v, topSecret+" 0 "+k.scratch+"/credential-"), "the launcher's variables, an empty folder: %s", v)
	k.hold([]config.Credential{from(config.ValueSource{Command: argv})}) // an edit elsewhere
	again, err := k.ask(t)
	require.NoError(t, err)
	assert.Equal(t, v, again)
	assert.Equal(t, 1, runs())
	for _, s := range k.sources {
		s.until = time.Now()
	}
	_, err = k.ask(t)
	require.NoError(t, err)
	assert.Equal(t, 2, runs())
	left, err := os.ReadDir(k.scratch)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestACommandThatFailsIsLeftAloneAndNotQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"echo " + topSecret + "; echo " + topSecret + " >&2; exit 3": "its command /bin/sh: exit status 3",
		"yes " + topSecret: "its command /bin/sh: ",
	} {
		argv, runs := script(t, text)
		k := newKeeper(t, map[string]string{"PATH": os.Getenv("PATH")}, from(config.ValueSource{Command: argv}))
		for range 3 {
			v, err := k.ask(t)
			require.ErrorIs(t, err, errWithheld)
			assert.Empty(t, v)
		}
		assert.Equal(t, 1, runs(), text)
		require.Len(t, k.told, 1)
		assert.Contains(t, k.told[0], want)
		assert.NotContains(t, k.told[0], topSecret)
	}
}

func TestARequestThatEndsEndsItsCommandAndLeavesNoVerdict(t *testing.T) {
	argv, runs := script(t, `[ -e "$GO" ] && echo ready && exit; sleep 60 & wait`)
	gate := filepath.Join(t.TempDir(), "go")
	k := newKeeper(t, map[string]string{"PATH": os.Getenv("PATH"), "GO": gate}, from(config.ValueSource{Command: argv}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := k.list[0].Value(ctx); done <- err }()
	require.Eventually(t, func() bool { return runs() == 1 }, time.Minute, 5*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, errWithheld)
	assert.Empty(t, k.told)
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	v, err := k.ask(t)
	require.NoError(t, err)
	assert.Equal(t, "ready\n", v)
}

func TestRequestsThatEndDoNotStartACommandAtWill(t *testing.T) {
	argv, runs := script(t, `[ -e "$GO" ] && echo ready && exit; sleep 60 & wait`)
	gate := filepath.Join(t.TempDir(), "go")
	k := newKeeper(t, map[string]string{"PATH": os.Getenv("PATH"), "GO": gate}, from(config.ValueSource{Command: argv}))
	for i := range commandBreaks + 3 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := k.list[0].Value(ctx); done <- err }()
		if i < commandBreaks {
			require.Eventually(t, func() bool { return runs() == i+1 }, time.Minute, 5*time.Millisecond, "the control: each starts it")
		} else {
			time.Sleep(200 * time.Millisecond)
		}
		cancel()
		require.ErrorIs(t, <-done, errWithheld)
	}
	assert.Equal(t, commandBreaks, runs())
	assert.Empty(t, k.told)
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	v, err := k.ask(t)
	require.NoError(t, err, "who waits gets it")
	assert.Equal(t, "ready\n", v)
}

func TestCredentialsFollowAnEditOfTheConfiguration(t *testing.T) {
	e := newEdited(t, "egress: {allow: [a.test]}\n", Spec{})
	e.rules.vault.env = map[string]string{"KEY": topSecret}
	assert.Empty(t, e.rules.headers())
	e.write("egress:\n  allow: [a.test]\n  credentials: [{host: a.test, header: X-Key, value_from: {env: KEY}}]\n")
	list := e.rules.headers()
	require.Len(t, list, 1)
	v, err := list[0].Value(t.Context())
	require.NoError(t, err)
	assert.Equal(t, egress.Secret(topSecret), v)
	assert.NotContains(t, fmt.Sprintf("%v %+v", list, v), topSecret)
	e.write("egress: {allow: [a.test]}\n")
	assert.Empty(t, e.rules.headers())
}
