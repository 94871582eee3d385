package config

import (
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

const gib sandbox.Size = 1 << 30

// Default returns the built-in layer. A kernel gets the group "bio" alone: it does not install anything itself, and a host that takes
// uploads is a way out. Limits of 0 are none.
func Default() *Config {
	return &Config{
		Sandbox: Sandbox{
			Backend: BackendAuto,
			Network: sandbox.NetworkAllowlist,
			Project: true,
			Links:   "deny",
			GPU:     "none",
			Env:     Env{Set: map[string]string{}},
			Limits:  sandbox.Limits{Tmp: gib, Shm: gib},
		},
		Egress: Egress{
			Groups: []string{"bio"},
			Screen: "normal",
			Log:    "all",
			Bounds: egress.Bounds{Connections: 256, Head: 64 << 10, Fields: 200, HeadTime: 10 * time.Second, Dial: 30 * time.Second, Idle: 10 * time.Minute},
		},
		Install: Install{Approve: "ask", Prefer: "additive", UV: "auto"},
		Restart: Restart{When: "required"},
		origins: map[string][]Origin{},
		placed:  map[string]int{},
	}
}

// screens lists the words of egress.screen, the default first.
var screens = []egress.Screen{"normal", "strict"}
