package sandbox

import (
	"os"
	"testing"
)

// benchPolicy is what a launcher asks for a notebook below a home folder, on a fixture of folders.
func benchPolicy(b *testing.B) Policy {
	b.Helper()
	base := b.TempDir()
	home := base + "/home"
	data := home + "/.local/share/kernel-launch"
	for _, d := range []string{home + "/work/study/notebooks", home + "/work/study/.git", home + "/kept", data + "/envs/python/default/gen/1"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range []string{"a.ipynb", "b.ipynb", "c.csv", "d.py"} {
		if err := os.WriteFile(home+"/work/study/notebooks/"+name, nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Setenv("HOME", home)
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	own := []string{home + "/.config/kernel-launch", data, home + "/.local/state/kernel-launch", home + "/.cache/kernel-launch", "/etc/kernel-launch"}
	for _, d := range []string{"/.jupyter", "/.local/share/jupyter", "/.ipython", "/Library/Jupyter"} {
		own = append(own, home+d)
	}
	return Policy{
		Network: NetworkAllowlist, Folder: home + "/work/study/notebooks", Project: true, RealHome: home, KeptHome: home + "/kept",
		Prefixes: []string{"/usr", "/usr/local"}, Helper: self, Own: own,
		Trees:       []Tree{{Source: data + "/envs/python/default/gen/1", Target: data + "/envs/python/default/current"}},
		Environment: map[string]string{"HOME": HomeTarget, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "HTTP_PROXY": "http://127.0.0.1:3128"},
	}
}

func BenchmarkObserve(b *testing.B) {
	p := benchPolicy(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Observe(p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	p := benchPolicy(b)
	f, err := Observe(p)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(p, f); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDonation is what a start prepares for bwrap.
func BenchmarkDonation(b *testing.B) {
	plan, err := Default().Plan(benchPolicy(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		d := &donation{first: firstFile}
		info, _, err := d.fill(plan, true)
		if err != nil {
			b.Fatal(err)
		}
		info.Close()
		d.close()
	}
}
