package envs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// uvConfig is all the configuration that uv gets. What the index says about caching is not taken: pages are asked for again after ten minutes, files
// never, which makes the second plan fast.
func uvConfig(index string) string {
	return fmt.Sprintf("[[index]]\nurl = %q\ndefault = true\ncache-control = { api = \"max-age=600\", files = \"max-age=365000000, immutable\" }\n", index)
}

// uvEnv: uv tries nothing again, because the gateway knows the cause of what it refuses, and it waits longer than the gateway does. NO_PROXY keeps it
// from asking a proxy for 127.0.0.1.
func uvEnv(t stage) []string {
	return []string{
		"PATH=/usr/bin:/bin", "HOME=" + t.home(), "TMPDIR=" + t.temp(), "LC_ALL=C.UTF-8", "LANGUAGE=en", "NO_PROXY=*", "no_proxy=*",
		"PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1", "UV_HTTP_RETRIES=0", "UV_HTTP_TIMEOUT=180", "UV_PYTHON_DOWNLOADS=never",
	}
}

// uvCache is uv's folder for the index in use. Tools find every index at the same address, so what one answered must not stand in for another.
func (s *Store) uvCache() (string, error) {
	u, err := s.Index.url()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(u.String()))
	dir := filepath.Join(s.Work, "uv")
	cache := filepath.Join(dir, hex.EncodeToString(sum[:6]))
	for _, d := range []string{s.Work, dir, cache} {
		if err := dirs.MakePrivate(d); err != nil {
			return "", err
		}
	}
	return cache, nil
}

// uvTool is uv in the install sandbox: it can write to its stage and its cache, and starts no interpreter but the base.
func (s *Store) uvTool(uv string, t stage, cache string, in Interpreter, arguments ...string) Tool {
	tool := Tool{
		Argv:     append([]string{uvInside}, arguments...),
		Env:      uvEnv(t),
		Dir:      t.empty(),
		ReadOnly: []Bind{{uv, uvInside}},
		Writable: []Bind{{t.dir, t.dir}},
	}
	if !below(cache, []string{t.dir}) {
		tool.Writable = append(tool.Writable, Bind{cache, cache})
	}
	for _, p := range in.Shown() {
		tool.ReadOnly = append(tool.ReadOnly, Bind{p, p})
	}
	return tool
}
