package sandbox

// Filter says which system calls the command may make.
type Filter struct {
	Debug bool `json:"debug"` // ptrace and its like are allowed
}

// Landlock is what the command is held to once it runs: whoever starts it inside applies it to itself first.
type Landlock struct {
	RefuseLinks   bool     `json:"refuseLinks"`     // no new symbolic link, pipe, socket or device, except in Links
	Links         []string `json:"links,omitempty"` // folders inside in which they may be made: private ones, which no one else acts on
	ScopeAbstract bool     `json:"scopeAbstract"`   // abstract sockets of processes outside are out of reach
}

// Bounds is how the limits of a plan are held on this machine.
type Bounds struct {
	Tier      Tier     `json:"tier"`
	Memory    Size     `json:"memory,omitempty"`
	Processes int      `json:"processes,omitempty"`
	CPUs      float64  `json:"cpus,omitempty"`
	Rlimits   []Rlimit `json:"rlimits,omitempty"` // what the command sets for itself before it runs
}

// Tier is what holds the limits.
type Tier string

// The tiers, strongest first.
const (
	TierCgroup2 Tier = "cgroup2" // a cgroup v2 that was delegated to this user
	TierSystemd Tier = "systemd" // a scope of the user's systemd
	TierCgroup1 Tier = "cgroup1" // cgroup v1 controllers that this user can write
	TierRlimit  Tier = "rlimit"  // limits of single processes
)

// Rlimit is one resource limit, by the name that prlimit(1) gives it: "data", "nproc".
type Rlimit struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

// Island is a folder that was mounted read-only inside a writable one. Whoever starts the command checks from inside that this very folder stands at
// Path, read-only: the path could have been swapped on the way.
type Island struct {
	Path     string
	Dev, Ino uint64
}

// LimitHit says which limit the command ran into.
type LimitHit struct {
	Limit string `json:"limit"` // "memory" or "processes"
	Value int64  `json:"value"` // the limit: bytes, or processes
	Peak  int64  `json:"peak"`  // the most that was used at once; 0 when it is not known
	Kills int    `json:"kills"` // processes that were killed for it (memory), or refused (processes)
}
