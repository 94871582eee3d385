package envs

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a distribution of today has: a numpy before 2, and the newest pandas wants another.
func TestAnOlderNumpyAgainstTheRealIndex(t *testing.T) {
	p := newDesk(t)
	p.Index = realIndex(t)
	p.there(p.base, "numpy", "1.24.2")
	p.there(p.base, "scipy", "1.10.1", "Requires-Dist: numpy<1.27.0,>=1.19.5")
	plan := p.add("pandas")
	assert.True(t, plan.Additive)
	assert.NotContains(t, by(plan), "numpy")
	pandas := by(plan)["pandas"][1]
	require.NotEmpty(t, pandas)
	for _, f := range plan.Files {
		if f.Name != "pandas" {
			continue
		}
		assert.Greater(t, f.Size, int64(1<<20))
		assert.True(t, strings.HasSuffix(f.Filename, ".whl") && strings.Contains(f.Filename, "-cp"), f.Filename)
		v := scenery{packages: readVisibles([]Package{{Name: "numpy", Version: "1.24.2", Info: filepath.Join(p.base, "numpy-1.24.2.dist-info")}}), env: p.env.Interpreter.markers()}
		for _, text := range f.Requires {
			if r, err := parseRequirement(text); assert.NoError(t, err, text) && r.name == "numpy" && r.applies(v.env) {
				assert.True(t, v.holds(r), text)
			}
		}
	}
	require.NotNil(t, plan.Alternative)
	newest := by(plan.Alternative)
	assert.Equal(t, "1.24.2", newest["numpy"][0])
	assert.False(t, plan.Alternative.Additive)
	moved, ok := parsePyVersion(newest["numpy"][1])
	require.True(t, ok)
	old, _ := parsePyVersion("1.24.2")
	assert.Positive(t, moved.compare(old))
	assert.Contains(t, plan.Alternative.Breaks, Breakage{"scipy", "1.10.1", "numpy<1.27.0,>=1.19.5", newest["numpy"][1]})
	t.Log(strings.Join(plan.Sentences(), "\n"))
}
