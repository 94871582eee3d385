package sandbox

import "strings"

// gpuParts is what the programs of one maker's cards open. Patterns may hold "*" in their last element.
type gpuParts struct {
	needed  []string // devices without which there is no card: each pattern must fit one
	devices []string // further devices
	shown   []systemPath
}

var gpus = map[string]gpuParts{
	"nvidia": {
		needed:  []string{"/dev/nvidiactl", "/dev/nvidia[0-9]*"},
		devices: []string{"/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps"},
		shown: append([]systemPath{
			{"/proc/driver/nvidia", "what the driver says of its cards"},
			{"/sys/module/nvidia", "the driver's version"},
			{"/sys/module/nvidia_uvm", "the driver's version"},
			{"/etc/nvidia", "the driver's settings"},
			{"/opt/cuda", "libraries of the GPU"},
			{"/opt/nvidia", "libraries of the GPU"},
		}, gpuShown...),
	},
	"amd": {
		needed: []string{"/dev/kfd", "/dev/dri/renderD*"},
		shown: append([]systemPath{
			{"/sys/class/kfd", "what the driver says of its cards"},
			{"/sys/class/drm", "what the driver says of its cards"},
			{"/sys/devices/virtual/kfd", "what the driver says of its cards"},
			{"/sys/module/amdgpu", "the driver's version"},
			{"/opt/amdgpu*", "libraries of the GPU"},
			{"/opt/rocm*", "libraries of the GPU"},
		}, gpuShown...),
	},
}

// gpuShown is read by every driver: which cards are where, and near which processors and memory.
var gpuShown = []systemPath{
	{"/sys/bus/pci/devices", "where the cards are"},
	{"/sys/devices/pci*", "where the cards are"},
	{"/sys/devices/system/cpu", "which processors are near a card"},
	{"/sys/devices/system/node", "which memory is near a card"},
	{"/run/opengl-driver", "libraries of the GPU"},
}

// patterns is everything that is looked at for a GPU.
func (g gpuParts) patterns() []string {
	out := append(append([]string{}, g.needed...), g.devices...)
	for _, s := range g.shown {
		out = append(out, s.Pattern)
	}
	return out
}

// showGPU brings the devices into the private /dev. A plain bind would be without devices: these have a kind of mount of their own.
func (c *linux) showGPU() {
	if c.p.GPU == "" || c.p.GPU == "none" {
		return
	}
	parts, known := gpus[c.p.GPU]
	if !known {
		return // demands has refused it
	}
	if absent := c.missingDevices(parts); len(absent) > 0 {
		c.fault(&UnsupportedError{"gpu", c.p.GPU, "is not on this machine: there is no " + strings.Join(absent, " and no ")})
		return
	}
	for _, pattern := range append(append([]string{}, parts.needed...), parts.devices...) {
		for _, path := range c.matches(pattern) {
			if e := c.entry(path); e.Kind == EntryDevice || e.Kind == EntryFolder {
				c.add(Mount{Kind: MountDevice, Source: e.Resolved, Target: path, Why: "the GPU"})
			}
		}
	}
	c.showDriver(parts)
	c.lacking("gpu", "gpu: none", "the driver of the GPU can be called directly: a large part of the host's kernel that is not filtered, and what other programs left on the card may be read")
}

func (c *linux) missingDevices(parts gpuParts) []string {
	var out []string
	for _, pattern := range parts.needed {
		found := false
		for _, path := range c.matches(pattern) {
			found = found || c.entry(path).Kind == EntryDevice
		}
		if !found {
			out = append(out, pattern)
		}
	}
	return out
}

func (c *linux) showDriver(parts gpuParts) {
	for _, s := range parts.shown {
		for _, path := range c.matches(s.Pattern) {
			e := c.entry(path)
			inProc := within(path, "/proc") // there already: covered, so that it cannot be written
			if e.Kind != EntryFolder || !inProc && c.visible(e.Resolved) {
				continue
			}
			c.add(Mount{Kind: MountReadOnly, Source: e.Resolved, Target: e.Resolved, Why: s.Why})
			c.aliasFor(path, e.Resolved)
		}
	}
}

// gpuDemand is what is wrong with the word, if anything.
func gpuDemand(gpu string) []demand {
	if _, known := gpus[gpu]; known || gpu == "" || gpu == "none" {
		return nil
	}
	return []demand{{UnsupportedError{"gpu", gpu, "is none of none, nvidia, amd"}, true}}
}
