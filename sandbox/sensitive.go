package sandbox

import "path/filepath"

// sensitiveHome are places below a home folder that hold keys, tokens, passwords or what was typed. They are masked in whatever is shown read-only
// around them; a writable grant of one is refused.
var sensitiveHome = []string{
	".ssh", ".gnupg", ".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".vault-token",
	".aws", ".azure", ".boto", ".s3cfg", ".kaggle", ".kube", ".terraform.d", ".terraformrc", ".config/gcloud", ".config/rclone", ".config/op", ".config/doctl",
	".docker", ".config/containers/auth.json", ".config/helm/registry",
	".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub",
	".netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml", ".local/share/uv/credentials", ".condarc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
	".huggingface", ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".config/huggingface", ".Renviron",
	".jupyter", ".local/share/jupyter/runtime",
	".pgpass", ".my.cnf", ".mylogin.cnf",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", "snap/firefox", "snap/chromium",
	".bash_history", ".zsh_history", ".local/share/fish/fish_history", ".python_history", ".Rhistory", ".psql_history", ".mysql_history", ".sqlite_history", ".node_repl_history",
}

// sensitivePrefix are files of an interpreter's installation in which people keep the token of a channel or an index.
var sensitivePrefix = []string{".condarc", "condarc", "pip.conf"}

func sensitiveOf(prefixes []string) []string {
	var out []string
	for _, prefix := range prefixes {
		for _, name := range sensitivePrefix {
			out = append(out, filepath.Join(prefix, name))
		}
	}
	return out
}

// sensitiveIn are the sensitive places of the homes that lie in one of the roots or hold one.
func sensitiveIn(homes, roots []string) []string {
	var out []string
	for _, home := range homes {
		for _, root := range roots {
			if home == "/" || !below(root, home) {
				continue
			}
			rest := root[len(home)+1:]
			for _, name := range sensitiveHome {
				if !overlap(name, rest) {
					continue
				}
				if path := filepath.Join(home, name); !inList(path, out) {
					out = append(out, path)
				}
			}
		}
	}
	return out
}

// shownRoots are the real paths of everything that a policy shows of the host at its own place.
func shownRoots(p Policy, f Facts) []string {
	var out []string
	for _, list := range [][]string{p.writable(), p.Read, p.Prefixes} {
		for _, path := range list {
			if e := f.Paths[path]; e.exists() {
				out = append(out, e.Resolved)
			}
		}
	}
	if f.Project != "" {
		out = append(out, f.Project)
	}
	return out
}

// refuseSensitive keeps what holds secrets out of writable grants: nothing can be masked there.
func (c *linux) refuseSensitive(use, path, resolved string) {
	for _, s := range sensitiveIn(c.f.Homes, []string{resolved}) {
		if e := c.entry(s); e.exists() && overlap(resolved, e.Resolved) {
			c.refuse(use, path, resolved, "%s %s, which holds secrets or is known to: it cannot be masked where it can be written", relation(resolved, e.Resolved), quoted(s))
		}
	}
}

// maskSensitive covers them wherever a part of a home is shown. What the operator named itself stays, and is said.
func (c *linux) maskSensitive() {
	for _, s := range append(sensitiveIn(c.f.Homes, shownRoots(c.p, c.f)), sensitiveOf(c.p.Prefixes)...) {
		e := c.entry(s)
		if !e.exists() {
			continue // what is read-only gets none from inside
		}
		if g := c.named(e.Resolved); g != "" {
			c.warn("%s can be read, although it holds secrets or is known to: the policy names %s", quoted(s), quoted(g))
			continue
		}
		c.maskSeen(e, "it holds secrets, or is known to")
	}
}

// maskOwn covers the program's and Jupyter's folders where an interpreter is installed around them, as in ~/.local. No grant holds them, and no project.
func (c *linux) maskOwn() {
	for _, own := range c.p.Own {
		if e := c.entry(own); e.exists() && !c.holdsPrefix(e.Resolved) {
			c.maskSeen(e, "kernel-launch or Jupyter keeps its files there")
		}
	}
}

func (c *linux) holdsPrefix(path string) bool {
	for _, prefix := range c.p.Prefixes {
		if within(c.entry(prefix).Resolved, path) {
			return true
		}
	}
	return false
}

// named is the grant that asks for a path or for something in it.
func (c *linux) named(path string) string {
	for _, g := range c.grants {
		if g.use != "project" && within(g.target, path) {
			return g.path
		}
	}
	return ""
}
