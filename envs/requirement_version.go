package envs

import (
	"cmp"
	"slices"
	"strings"
)

// pyVersion is a version of PEP 440. Numbers are kept as digits without leading zeros: some versions are whole dates and times.
type pyVersion struct {
	epoch   string
	release []string
	pre     [2]string // letter and number; empty letter: none
	post    string    // empty: none
	dev     string    // empty: none
	local   []string
}

var pyVersionForm = newForm(`\A(?i)v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d+)?)?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d+)?)?(?:[-_.]?(dev)[-_.]?(\d+)?)?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\z`)

var preLetters = map[string]string{"alpha": "a", "a": "a", "beta": "b", "b": "b", "preview": "rc", "pre": "rc", "c": "rc", "rc": "rc"}

func parsePyVersion(s string) (v pyVersion, ok bool) {
	m := pyVersionForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return v, false
	}
	v.epoch = digits(m[1])
	for n := range strings.SplitSeq(m[2], ".") {
		v.release = append(v.release, digits(n))
	}
	if m[3] != "" {
		v.pre = [2]string{preLetters[strings.ToLower(m[3])], digits(m[4])}
	}
	if m[5] != "" || m[6] != "" {
		v.post = digits(m[5] + m[7])
	}
	if m[8] != "" {
		v.dev = digits(m[9])
	}
	if m[10] != "" {
		v.local = strings.FieldsFunc(strings.ToLower(m[10]), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	}
	return v, true
}

func digits(s string) string {
	if s = strings.TrimLeft(s, "0"); s == "" {
		return "0"
	}
	return s
}

// String is the normal form.
func (v pyVersion) String() string {
	s := v.public()
	if len(v.local) > 0 {
		s += "+" + strings.Join(v.local, ".")
	}
	return s
}

func (v pyVersion) public() string {
	s := strings.Join(v.release, ".")
	if v.epoch != "0" {
		s = v.epoch + "!" + s
	}
	s += v.pre[0] + v.pre[1]
	if v.post != "" {
		s += ".post" + v.post
	}
	if v.dev != "" {
		s += ".dev" + v.dev
	}
	return s
}

func (v pyVersion) unstable() bool { return v.pre[0] != "" || v.dev != "" }

// compareNumbers orders numbers that are digits without leading zeros.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func (v pyVersion) compare(w pyVersion) int {
	return cmp.Or(v.comparePublic(w), compareLocals(v.local, w.local))
}

func (v pyVersion) comparePublic(w pyVersion) int {
	return cmp.Or(
		v.compareBase(w), cmp.Compare(v.preRank(), w.preRank()), compareNumbers(v.pre[1], w.pre[1]),
		cmp.Compare(min(len(v.post), 1), min(len(w.post), 1)), compareNumbers(v.post, w.post),
		-cmp.Compare(min(len(v.dev), 1), min(len(w.dev), 1)), compareNumbers(v.dev, w.dev),
	)
}

// compareBase compares epoch and release: 1.0 is 1.0.0.
func (v pyVersion) compareBase(w pyVersion) int {
	if c := compareNumbers(v.epoch, w.epoch); c != 0 {
		return c
	}
	for i := range max(len(v.release), len(w.release)) {
		if c := compareNumbers(number(v.release, i), number(w.release, i)); c != 0 {
			return c
		}
	}
	return 0
}

func number(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "0"
}

// preRank: a development version of nothing else comes before its alphas, a final one after all of them.
func (v pyVersion) preRank() string {
	switch {
	case v.pre[0] != "":
		return v.pre[0]
	case v.post == "" && v.dev != "":
		return ""
	}
	return "z"
}

func compareLocals(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		xn, yn := isDigits(x), isDigits(y)
		switch {
		case xn && yn:
			return compareNumbers(digits(x), digits(y))
		case xn:
			return 1
		case yn:
			return -1
		}
		return cmp.Compare(x, y)
	})
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// equalVersions compares as tools do: by PEP 440 where both are such versions, else by their text.
func equalVersions(a, b string) bool {
	v, ok := parsePyVersion(a)
	w, ok2 := parsePyVersion(b)
	if ok && ok2 {
		return v.compare(w) == 0
	}
	return a == b
}
