package sandbox

// Filter says which system calls the command may make.
type Filter struct {
	Debug bool `json:"debug"` // ptrace and its like are allowed
}

// Landlock is what the command is held to once it runs: whoever starts it inside applies it to itself first.
type Landlock struct {
	RefuseLinks   bool     `json:"refuse_links"`    // no new symbolic link, pipe, socket or device, except in Links
	Links         []string `json:"links,omitempty"` // folders inside in which they may be made: private ones, which no one else acts on
	ScopeAbstract bool     `json:"scope_abstract"`  // abstract sockets of processes outside are out of reach
}

// Bounds is how the limits of a plan are held on this machine.
type Bounds struct {
	Tier      Tier     `json:"tier"`                // the strongest that holds one of them
	Memory    Size     `json:"memory,omitempty"`    // this and the next two: what Groups hold
	Processes int      `json:"processes,omitempty"` // without those of the sandbox itself
	CPUs      float64  `json:"cpus,omitempty"`
	Groups    []Group  `json:"groups,omitempty"`  // what the command is put into before it is anything
	Rlimits   []Rlimit `json:"rlimits,omitempty"` // what the command sets for itself before it runs
}

// Group is a control group that is made for one command and removed after it.
type Group struct {
	Tier   Tier     `json:"tier"`
	Parent string   `json:"parent"` // the group around it, as a folder; for systemd, the socket of the bus on which it is asked
	Limits []string `json:"limits"` // "memory", "processes", "cpus"
}

// Tier is what holds the limits.
type Tier string

// The tiers, strongest first.
const (
	TierCgroup2 Tier = "cgroup2" // a cgroup v2 that was delegated to this user
	TierSystemd Tier = "systemd" // a slice of the user's systemd
	TierCgroup1 Tier = "cgroup1" // cgroup v1 controllers that this user can write
	TierRlimit  Tier = "rlimit"  // limits of single processes
)

// Rlimit is one resource limit, by the name that prlimit(1) gives it: "data", "nproc".
type Rlimit struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

// Island is what must stand at Path inside: a grant, or a folder that was mounted read-only in a writable one. Whoever starts the command checks that from
// inside: a part of the path could have been swapped on the way.
type Island struct {
	Path     string
	Dev, Ino uint64
	Writable bool // otherwise it must be read-only
}

// LimitHit says which limit the command ran into.
type LimitHit struct {
	Limit string `json:"limit"` // "memory" or "processes"
	Value int64  `json:"value"` // the limit: bytes, or processes
	Peak  int64  `json:"peak"`  // the most that was used at once; 0 when it is not known
	Kills int    `json:"kills"` // processes that were killed for it (memory), or refused (processes)
}
