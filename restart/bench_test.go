package restart

import (
	"fmt"
	"testing"
)

func large(packages int) Snapshot {
	s := viewOf()
	for i := range packages {
		name := fmt.Sprintf("package-%04d", i)
		p := mine(name, "1.2.3", fmt.Sprintf("package_%04d", i))
		if i%10 == 0 {
			p.Modules = append(p.Modules, fmt.Sprintf("ns/part_%04d", i))
		}
		p.Requires = []string{"numpy>=1.24", "typing_extensions; python_version < '3.12'"}
		for j := range 20 {
			p.Files = append(p.Files, fmt.Sprintf("package_%04d/module_%d.py", i, j))
		}
		s.Packages = append(s.Packages, p)
	}
	return s
}

// BenchmarkDiff: 2,000 packages in one environment, a tenth of them in one namespace; 40 go, 40 come and 40 change.
func BenchmarkDiff(b *testing.B) {
	all := large(2040)
	before, after := all, all
	before.Packages = append([]Package{}, all.Packages[:2000]...)
	after.Packages = append([]Package{}, all.Packages[40:]...)
	for i := range 40 {
		after.Packages[100+i].Version = "1.2.4"
	}
	for b.Loop() {
		if len(Diff(before, after)) != 120 {
			b.Fatal("not the changes that were made")
		}
	}
}
