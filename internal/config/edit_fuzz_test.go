package config

import (
	"errors"
	"reflect"
	"testing"
)

// FuzzEdit: a file that can be read either gets the rule and nothing else, or stays as it is with a reason.
func FuzzEdit(f *testing.F) {
	f.Add([]byte(layers))
	f.Add([]byte(commented))
	f.Add([]byte("egress: {allow: [a.test]} # a\r\n...\r\n"))
	f.Add([]byte("sandbox:\n  env: {set: {A: \"x # y\"}}\negress:\n  deny:\n  - b.test\n"))
	w := newWorld(f)
	rule := rules(f, "n.test")
	f.Fuzz(func(t *testing.T, data []byte) {
		w.t = t
		w.user(string(data))
		if _, err := Load(w.s); err != nil {
			t.Skip()
		}
		e, err := Preview(w.s, Allow(everywhere, rule...))
		if err != nil {
			if !errors.As(err, new(*EditError)) && !errors.As(err, new(*DeniedError)) {
				t.Fatalf("%v", err)
			}
			return
		}
		if e.Changed && len(e.After.Egress.Allow) != len(e.Before.Egress.Allow)+1 {
			t.Fatalf("allowed before: %v, after: %v\n%s", e.Before.Egress.Allow, e.After.Egress.Allow, e.text)
		}
		if !reflect.DeepEqual(e.Before.Sandbox, e.After.Sandbox) || !reflect.DeepEqual(e.Before.Install, e.After.Install) {
			t.Fatalf("another value was changed:\n%s", e.text)
		}
	})
}
