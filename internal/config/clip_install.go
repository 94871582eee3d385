package config

import "time"

// installs lowers how packages get in. An index of the ceiling is the only one; files may be older than it asks, never younger.
func (k *clipper) installs() {
	single(k, "install.approve", func(c *Config) *string { return &c.Install.Approve }, func(top, v string) bool { return top == "ask" || v == top })
	single(k, "install.source", func(c *Config) *bool { return &c.Install.Source }, onlyOff)
	single(k, "install.min_age", func(c *Config) *time.Duration { return &c.Install.MinAge }, func(top, v time.Duration) bool { return v >= top })
	single(k, "install.index", func(c *Config) *IndexURL { return &c.Install.Index }, same)
	single(k, "install.uv", func(c *Config) *string { return &c.Install.UV }, func(top, v string) bool { return top == "auto" || v == top })
}
