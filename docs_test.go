package kernellaunch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guaranteeID is how package sandbox names what a plan holds or lacks.
var guaranteeID = regexp.MustCompile(`(?:\bID:\s*|\b(?:enforced|lacking)\()"([a-z.-]*[a-z])"`)

// TestTheThreatModelKnowsEveryGuarantee: what a plan says under a name is explained under that name.
func TestTheThreatModelKnowsEveryGuarantee(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "threat-model.md"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join("sandbox", "*.go"))
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range guaranteeID.FindAllStringSubmatch(string(code), -1) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			found++
			assert.True(t, strings.Contains(string(text), "`"+m[1]+"`"), "%s: %s", file, m[1])
		}
	}
	assert.Greater(t, found, 10, "the names stand in the sources as they did")
}

// word is a code or an end of package egress.
var word = regexp.MustCompile(`\b(?:Code|End)\w+\s*=\s*"([a-z-]+)"`)

// TestTheWayOutSaysEveryWord: what a refusal or the log says is explained.
func TestTheWayOutSaysEveryWord(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "egress.md"))
	require.NoError(t, err)
	found := 0
	for _, file := range []string{"code.go", "event.go"} {
		code, err := os.ReadFile(filepath.Join("egress", file))
		require.NoError(t, err)
		for _, m := range word.FindAllStringSubmatch(string(code), -1) {
			found++
			assert.True(t, strings.Contains(string(text), "`"+m[1]+"`"), m[1])
		}
	}
	assert.Greater(t, found, 35)
}
