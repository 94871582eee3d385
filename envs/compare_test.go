package envs

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const asPython = `import importlib.metadata, json, re, sys
seen = {}
for d in importlib.metadata.distributions(path=json.loads(sys.argv[1])):
    if d.metadata["Name"]:
        seen.setdefault(re.sub(r"[-_.]+", "-", d.metadata["Name"]).lower(), []).append(d.version)
print(json.dumps(seen))
`

// Python's own reader is the peer: on what the system's interpreter has installed, the same names and versions must come out.
func TestPythonSeesTheSameDistributions(t *testing.T) {
	s := newStore(t)
	in, err := s.FindPython(t.Context(), systemPython)
	require.NoError(t, err)
	var sites []folder
	for _, d := range in.SitePackages {
		sites = append(sites, folder{d, OwnerBase})
	}
	argument, err := json.Marshal(in.SitePackages)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), systemPython, "-I", "-S", "-c", asPython, string(argument)).Output()
	require.NoError(t, err)
	var peer map[string][]string
	require.NoError(t, json.Unmarshal(out, &peer))
	require.NotEmpty(t, peer, "the system's Python has at least pip")

	list, _, err := readPath(sites, in)
	require.NoError(t, err)
	ours := map[string]bool{}
	for _, p := range list {
		ours[p.Name] = true
		if p.Folder == "" || p.Broken != "" {
			continue
		}
		if versions, ok := peer[p.Name]; ok && !p.Ambiguous {
			assert.Equal(t, versions[0], p.Version, p.Name)
		}
	}
	for name := range peer {
		assert.Contains(t, ours, name)
	}
}
