package restart

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A kernel that has loaded only what an upgrade takes over has something of it loaded all the same.
func TestAnUpgradeTakesOverModules(t *testing.T) {
	old := with(mine("x", "1", "x"), files("x/__init__.py"))
	now := with(mine("x", "2", "utils", "x"), files("utils/__init__.py", "x/__init__.py"))
	beside := with(mine("x", "2", "utils", "x"), files("utils/more.py", "x/__init__.py"))
	other := with(mine("y", "1", "utils"), files("utils/__init__.py", "utils/tool.py"))
	base := system("y", "1", "utils")
	yes := true
	for name, c := range map[string]struct {
		before, after Snapshot
		verdict       Verdict
		detail        string
	}{
		"the files of another":      {viewOf(old, other), viewOf(now, other), Required, "has files of y 1"},
		"a module of the system":    {viewOf(old, base), viewOf(now, base), Required, "takes over utils from y 1 (the system's)"},
		"a module of no package":    {withOrphans(viewOf(old), "utils"), viewOf(now), Required, "takes over utils from a module that belonged to no package"},
		"files beside another's":    {viewOf(old, other), viewOf(beside, other), Keep, ""},
		"nothing that was there":    {viewOf(old), viewOf(now), Keep, ""},
		"the upgrade of what it is": {viewOf(now), viewOf(with(now, func(p *Package) { p.Version = "3" })), Required, ""},
	} {
		changes := Diff(c.before, c.after)
		one := find(t, changes, "x")
		require.Equal(t, Changed, one.Class, name)
		assert.Equal(t, c.detail, one.Detail, name)
		k := Kernel{ID: "k", Executed: &yes, Loaded: loaded("utils", "utils.tool")}
		assert.Equal(t, c.verdict, Judge(k, changes, false).Verdict, "%s: %v", name, changes)
		k.Loaded = loaded("json")
		assert.Equal(t, Keep, Judge(k, changes, false).Verdict, name)
	}
}
