package launcher

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

func TestAPlanSaysWhatIsOpenToAnybody(t *testing.T) {
	cfg := config.Default()
	for _, s := range []string{"example.com", ".example.com", ".github.io"} {
		r, err := egress.ParseRule(s)
		require.NoError(t, err)
		cfg.Egress.Allow = append(cfg.Egress.Allow, r)
	}
	all := cautions(cfg)
	require.Len(t, all, 1)
	assert.Contains(t, all[0], "egress.allow .github.io: anybody can have a name below github.io")
	cfg.Sandbox.Network = sandbox.NetworkNone
	assert.Empty(t, cautions(cfg), "rules mean nothing there")
}
