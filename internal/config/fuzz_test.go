package config

import (
	"errors"
	"strings"
	"testing"
)

// FuzzLoad: whatever a file holds, Load gives either a configuration or an error that names the file.
func FuzzLoad(f *testing.F) {
	for _, tc := range faults {
		f.Add([]byte(tc.text))
	}
	f.Add([]byte(layers))
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		w.t = t
		w.user(string(data))
		c, err := Load(w.s)
		if (c == nil) == (err == nil) {
			t.Fatalf("configuration %v with error %v", c, err)
		}
		var fault *FaultError
		if err != nil && (!errors.As(err, &fault) || !strings.Contains(err.Error(), "config.yaml:")) {
			t.Fatalf("not a fault with its line: %v", err)
		}
		for _, e := range unwrapAll(err) {
			if errors.As(e, &fault) && (fault.Line < 1 || fault.File == "") {
				t.Fatalf("a fault without its place: %+v", fault)
			}
		}
	})
}
