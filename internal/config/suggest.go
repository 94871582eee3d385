package config

import (
	"fmt"
	"slices"
)

// unknown says that word is none of known, with the nearest one when the slip is small.
func unknown(what, word string, known []string) string {
	s := fmt.Sprintf("unknown %s %s", what, quote(word))
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("%s (did you mean %q?)", s, near)
	}
	return s
}

func nearest(word string, known []string) string {
	if len(word) > 64 { // the distance is quadratic; nobody slips that far
		return ""
	}
	known = slices.Sorted(slices.Values(known))
	best, at := "", 3
	for _, k := range known {
		if d := distance(word, k); d < at && 2*d < len(k) {
			best, at = k, d
		}
	}
	return best
}

// distance counts insertions, deletions, substitutions and swaps of neighbours.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
