package envs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// bestWheel chooses among wheels that can all be used: built for this very Python before the stable ABI before pure Python, then for the newest
// system, then the highest build number.
func bestWheel(wheels []lockedFile) (lockedFile, bool) {
	if len(wheels) == 0 {
		return lockedFile{}, false
	}
	return slices.MaxFunc(wheels, func(a, b lockedFile) int {
		x, y := wheelRank(a.filename), wheelRank(b.filename)
		return cmp.Or(slices.Compare(x[:], y[:]), strings.Compare(a.filename, b.filename))
	}), true
}

// wheelRank orders wheel names: ABI, Python, system, build.
func wheelRank(filename string) (rank [4]int) {
	parts := strings.Split(strings.TrimSuffix(filename, ".whl"), "-")
	if len(parts) < 5 {
		return rank
	}
	python, abi, platform := parts[len(parts)-3], parts[len(parts)-2], parts[len(parts)-1]
	switch {
	case abi == "none":
	case strings.Contains(abi, "abi3"):
		rank[0] = 1
	default:
		rank[0] = 2
	}
	rank[1], rank[2] = highest(python), highest(platform)
	if len(parts) == 6 {
		rank[3] = leadingNumber(parts[2])
	}
	return rank
}

// highest reads the greatest number that any of the joined tags has: "cp311", "manylinux_2_17_x86_64.manylinux_2_28_x86_64", "macosx_11_0_arm64".
func highest(tags string) (most int) {
	for tag := range strings.SplitSeq(tags, ".") {
		if strings.HasPrefix(tag, "linux_") {
			continue // no system in particular
		}
		tag = strings.TrimLeft(tag, "abcdefghijklmnopqrstuvwxyz_")
		n := leadingNumber(tag) * 1000
		if _, rest, ok := strings.Cut(tag, "_"); ok {
			n += leadingNumber(rest)
		}
		if strings.HasPrefix(tag, "20") && n > 2_000_000 { // manylinux2014 and its like are older than the numbered ones
			n = 1
		}
		most = max(most, n)
	}
	return most
}

func leadingNumber(s string) int {
	end := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return 0
	}
	return n
}
