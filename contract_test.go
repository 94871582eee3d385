package kernellaunch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rows is how many lines the contract of a sandbox has.
const rows = 94

// shownBy names the tests of what a backend's own suite cannot show: it takes a launcher, a process 1 of ours, or a part with tests of its own.
var shownBy = map[int]string{
	21: "launcher.TestThreeNetworks",
	81: "sandbox.TestAnIslandThatIsSwappedWhileItIsMounted",
	82: "launcher.TestAForkBombInACellIsRefused",
	83: "launcher.TestAMemoryBombInACellEndsTheKernelWithItsLimit",
	89: "launcher.TestNothingOutlivesAnyOfThem",
	90: "launcher.TestNothingOutlivesAnyOfThem",
	91: "launcher.TestAKernelComputesIsInterruptedAndRestartsInPlace",
	92: "sandbox.TestItOutlivesTheThreadThatAskedForIt",
	93: "internal/inner.TestOrphansAreReaped",
	94: "launcher.TestHowAKernelEndsIsPassedOn",
}

// inSuite finds the numbers that stand in the suite: in a row of attempts, or at the beginning of a subtest's name.
var inSuite = regexp.MustCompile(`number: +(\d+)|number, gone := (\d+)|number = (\d+)|Number: (\d+)|"(\d\d) [a-z]`)

func TestEveryLineOfTheContractIsShown(t *testing.T) {
	shown := map[int]bool{}
	for _, pattern := range []string{"sandbox/selftest/*_linux.go", "sandbox/sandboxtest/*.go"} {
		for _, n := range numbers(t, pattern) {
			shown[n] = true
		}
	}
	for number, test := range shownBy {
		shown[number] = true
		folder, name, _ := strings.Cut(test, ".")
		assert.True(t, strings.Contains(tests(t, folder), "func "+name+"(t *testing.T)"), "row %d: there is no %s", number, test)
	}
	for n := 1; n <= rows; n++ {
		assert.True(t, shown[n], "no test shows row %d", n)
	}
	for n := range shown {
		assert.True(t, n >= 1 && n <= rows, "there is no row %d", n)
	}
}

func numbers(t *testing.T, pattern string) (all []int) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range inSuite.FindAllStringSubmatch(string(text), -1) {
			n, err := strconv.Atoi(strings.Join(m[1:], ""))
			require.NoError(t, err)
			all = append(all, n)
		}
	}
	return all
}

// tests is the text of a package's tests.
func tests(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*_test.go")
	require.NoError(t, err)
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}
