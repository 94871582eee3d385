package restart_test

import (
	"fmt"

	"github.com/kernel-launch/kernel-launch/restart"
)

func snapshots() (before, after restart.Snapshot) {
	six := restart.Package{Name: "six", Version: "1.16.0", Folder: "/usr/lib/python3/dist-packages", Owner: restart.OwnerBase, Modules: []string{"six"}}
	numpy := restart.Package{Name: "numpy", Version: "1.24.2", Folder: "/env", Owner: restart.OwnerEnv, Modules: []string{"numpy"}}
	before = restart.Snapshot{
		Language: restart.Python, Path: []string{"/env", "/usr/lib/python3/dist-packages"},
		Packages: []restart.Package{numpy, six},
	}
	after = before
	pandas := restart.Package{Name: "pandas", Version: "3.1.1", Folder: "/env", Owner: restart.OwnerEnv, Modules: []string{"pandas"}, Requires: []string{"numpy>=2"}}
	numpy.Version = "2.4.6"
	six.Version, six.Folder, six.Owner = "1.17.0", "/env", restart.OwnerEnv
	after.Packages = []restart.Package{numpy, pandas, six}
	return before, after
}

func ExampleDiff() {
	changes := restart.Diff(snapshots())
	for _, change := range changes {
		fmt.Println(change)
	}
	fmt.Println("additive:", changes.Additive())
	// Output:
	// numpy 1.24.2 → 2.4.6 (needed by pandas)
	// pandas 3.1.1 is new
	// six 1.16.0 (the system's) is now covered by 1.17.0
	// additive: false
}

func ExampleJudge() {
	changes := restart.Diff(snapshots())
	for _, kernel := range []restart.Kernel{
		{ID: "3f2a", Generation: 4},
		{ID: "77c0", Generation: 4, Loaded: []restart.Module{{Name: "os"}, {Name: "numpy"}, {Name: "numpy.linalg"}}},
		{ID: "b91e", Generation: 4, Loaded: []restart.Module{{Name: "os"}, {Name: "json"}}},
	} {
		judgement := restart.Judge(kernel, changes, false)
		fmt.Println(judgement.Kernel, judgement.Verdict)
		for _, reason := range judgement.Reasons {
			fmt.Println(" ", reason)
		}
	}
	// Output:
	// 3f2a required
	//   numpy 1.24.2 → 2.4.6 (needed by pandas)
	//   six 1.16.0 (the system's) is now covered by 1.17.0
	//   what this kernel has loaded is not known
	//   pandas 3.1.1 is new, but this kernel runs generation 4, which does not have it
	// 77c0 required
	//   numpy 1.24.2 → 2.4.6 (needed by pandas), and this kernel has loaded numpy and numpy.linalg
	//   six 1.16.0 (the system's) is now covered by 1.17.0, of which this kernel has loaded nothing and whose 1.16.0 it goes on with until it restarts
	//   pandas 3.1.1 is new, but this kernel runs generation 4, which does not have it
	// b91e restart-to-use
	//   numpy 1.24.2 → 2.4.6 (needed by pandas), of which this kernel has loaded nothing and whose 1.24.2 it goes on with until it restarts
	//   six 1.16.0 (the system's) is now covered by 1.17.0, of which this kernel has loaded nothing and whose 1.16.0 it goes on with until it restarts
	//   pandas 3.1.1 is new, but this kernel runs generation 4, which does not have it
}

func ExampleChanges_Additive() {
	before, after := snapshots()
	after.Packages = append(before.Packages[:2:2], restart.Package{Name: "tzdata", Version: "2024.1"})
	fmt.Println(restart.Diff(before, after).Additive())
	// Output: true
}

func ExampleChanges_Runtime() {
	before := restart.Snapshot{Language: restart.Python, Packages: []restart.Package{{Name: "pyzmq", Version: "17.0.0"}}}
	after := restart.Snapshot{Language: restart.Python, Packages: []restart.Package{{Name: "pyzmq", Version: "26.0.0"}}}
	fmt.Println(restart.Diff(before, after).Runtime())
	// Output: [pyzmq]
}
