package launcher

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
)

func TestTheProxyInFrontOfTheHost(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want map[string]string // by target; "" is none
	}{
		{"both", map[string]string{"HTTP_PROXY": "http://a.test:80", "HTTPS_PROXY": "b.test:3128", "NO_PROXY": "near.test,10.0.0.0/8"}, map[string]string{
			"far.test:80": "http://a.test:80", "far.test:443": "http://b.test:3128", "far.test:22": "http://b.test:3128", "x.near.test:443": "", "10.1.2.3:443": "",
		}},
		{"small letters win", map[string]string{"HTTPS_PROXY": "http://a.test", "https_proxy": "http://b.test"}, map[string]string{"far.test:443": "http://b.test", "far.test:80": ""}},
		{"a user", map[string]string{"https_proxy": "http://u:p%40@a.test"}, map[string]string{"far.test:443": "http://u:p%40@a.test"}},
		{"none for all", map[string]string{"https_proxy": "http://a.test", "no_proxy": "*"}, map[string]string{"far.test:443": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			choose := Upstream(func(k string) string { return c.env[k] })
			for text, want := range c.want {
				target, err := egress.ParseHost(text, 443)
				require.NoError(t, err)
				u, err := choose(target)
				require.NoError(t, err)
				if want == "" {
					assert.Nil(t, u, text)
				} else {
					assert.Equal(t, want, u.String(), text)
				}
			}
		})
	}
	assert.Nil(t, Upstream(func(string) string { return "" }))
}

func TestAProxyVariableThatIsNoURLLeadsNowhere(t *testing.T) {
	env := map[string]string{"HTTPS_PROXY": "http://user:hunter2@exa mple:x", "NO_PROXY": "near.test"}
	choose := Upstream(func(k string) string { return env[k] })
	u, err := choose(egress.Target{Name: "far.test", Port: 443})
	assert.Nil(t, u)
	require.ErrorContains(t, err, "HTTPS_PROXY is no URL of a proxy")
	assert.NotContains(t, err.Error(), "hunter2")
	u, err = choose(egress.Target{Name: "near.test", Port: 443})
	assert.NoError(t, err)
	assert.Nil(t, u)
}
