package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/envs"
)

// The demo's index must read like any other through the gateway: what a tool is told to fetch is there.
func TestTheDemosIndexIsReadThroughTheGateway(t *testing.T) {
	index, err := newDemoIndex()
	require.NoError(t, err)
	upstream := httptest.NewServer(index)
	defer upstream.Close()
	g, err := envs.NewGateway(envs.IndexSettings{URL: upstream.URL + "/simple"}, nil)
	require.NoError(t, err)
	gateway := httptest.NewServer(g)
	defer gateway.Close()
	page := get(t, gateway.URL+"/simple/demo-core/")
	files := regexp.MustCompile(`href="([^"#]*whl)`).FindAllStringSubmatch(page, -1)
	require.Len(t, files, 2, page)
	for _, f := range files {
		assert.NotEmpty(t, get(t, gateway.URL+f[1]))
	}
	r, err := http.Get(upstream.URL + "/simple/nothing/")
	require.NoError(t, err)
	r.Body.Close()
	assert.Equal(t, http.StatusNotFound, r.StatusCode)
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	require.NoError(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.StatusCode, url+": "+string(b))
	return string(b)
}
