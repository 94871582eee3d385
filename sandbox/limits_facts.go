package sandbox

// Control is what this machine offers to hold limits with. It is looked at only for a policy that sets one.
type Control struct {
	CPUs    int               // processors that this process may run on
	Unified []Cgroup          // cgroup v2: the group of this process, then the one around it; empty where none can be seen
	Legacy  map[string]Cgroup // cgroup v1: the group of this process, by controller: "memory", "pids", "cpu"
	Systemd Systemd
	NProc   bool // the kernel counts the processes of a user namespace for themselves (Linux 5.14): what a user runs elsewhere does not count inside
}

// Cgroup is a control group as this process sees it.
type Cgroup struct {
	Path        string
	Controllers []string // v2: what groups in it could have
	Enabled     []string // v2: what they do have
	Processes   int      // v2: how many are in the group itself, at least one or none
	Root        bool     // v2: the root of the hierarchy, which may hold processes and groups at once
	Fault       string   // why this process can make no group in it; empty when it can
}

// Systemd is the manager that serves this user.
type Systemd struct {
	Bus         string   // the socket of its D-Bus
	Controllers []string // what its units can have
	Fault       string   // why it cannot be asked; empty when it can
}
