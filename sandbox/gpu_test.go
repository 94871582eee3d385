package sandbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// devices makes entries that are devices.
func (f Facts) devices(paths ...string) Facts {
	for _, p := range paths {
		f.Paths[p] = Entry{Kind: EntryDevice, Resolved: p}
	}
	return f
}

func TestGPUs(t *testing.T) {
	nvidia := machine("/dev/nvidia-caps", "/proc/driver/nvidia", "/sys/bus/pci/devices", "/sys/devices/pci0000:00", "/opt/cuda=>/opt/cuda-12", "/usr/local/cuda").
		devices("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia-uvm", "/dev/nvme0")
	plan := compile(t, Policy{GPU: "nvidia"}, nvidia)
	got := text(plan)
	assert.Contains(t, got, "--dev-bind /dev/nvidiactl /dev/nvidiactl --dev-bind /dev/nvidia0 /dev/nvidia0 --dev-bind /dev/nvidia1 /dev/nvidia1 --dev-bind /dev/nvidia-uvm /dev/nvidia-uvm --dev-bind /dev/nvidia-caps /dev/nvidia-caps")
	assert.Less(t, strings.Index(got, "--dev /dev"), strings.Index(got, "--dev-bind"), "in the private /dev")
	assert.Less(t, strings.LastIndex(got, "--dev-bind"), strings.Index(got, "--remount-ro /dev"))
	for _, shown := range []string{"/proc/driver/nvidia", "/sys/bus/pci/devices", "/sys/devices/pci0000:00", "/opt/cuda-12"} {
		assert.Contains(t, got, "--ro-bind "+shown+" "+shown)
	}
	assert.Contains(t, got, "--symlink /opt/cuda-12 /opt/cuda")
	assert.NotContains(t, got, "nvme0")
	assert.Contains(t, guarantee(t, plan.Missing, "gpu").Text, "the host's kernel")
	assert.Contains(t, strings.Join(plan.Sentences(), "\n"), "/dev/nvidia0 is the host's device (the GPU).")

	amd := machine("/sys/class/kfd", "/sys/class/drm", "/opt/rocm-6.1").devices("/dev/kfd", "/dev/dri/renderD128", "/dev/dri/card0")
	got = text(compile(t, Policy{GPU: "amd"}, amd))
	assert.Contains(t, got, "--dev-bind /dev/kfd /dev/kfd --dev-bind /dev/dri/renderD128 /dev/dri/renderD128")
	assert.Contains(t, got, "--ro-bind /opt/rocm-6.1 /opt/rocm-6.1")
	assert.NotContains(t, got, "card0", "a card's other node controls the screen")
	assert.NotContains(t, text(compile(t, Policy{GPU: "none"}, nvidia)), "--dev-bind")
}

func TestAGPUThatIsNotThere(t *testing.T) {
	for _, c := range []struct {
		gpu, says string
		f         Facts
	}{
		{"nvidia", "there is no /dev/nvidiactl and no /dev/nvidia[0-9]*", machine()},
		{"nvidia", "there is no /dev/nvidia[0-9]*", machine().devices("/dev/nvidiactl")},
		{"nvidia", "there is no /dev/nvidia[0-9]*", machine("/dev/nvidia0!").devices("/dev/nvidiactl")},
		{"amd", "there is no /dev/kfd", machine().devices("/dev/dri/renderD128")},
		{"voodoo", "is none of none, nvidia, amd", machine()},
	} {
		_, err := Compile(Policy{GPU: c.gpu, Limits: Limits{BestEffort: true}}, c.f)
		var e *UnsupportedError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "gpu", e.Key)
		assert.Contains(t, e.Error(), c.says)
	}
}

func TestAGPUIsLookedAtOnlyWhenAskedFor(t *testing.T) {
	plain, err := Observe(Policy{})
	require.NoError(t, err)
	assert.NotContains(t, plain.Paths, "/dev/nvidiactl")
	asked, err := Observe(Policy{GPU: "nvidia"})
	require.NoError(t, err)
	assert.Contains(t, asked.Paths, "/dev/nvidiactl")
	assert.Equal(t, EntryDevice, newLook().entry("/dev/null").Kind)
}
