package envs

import (
	"time"

	"github.com/kernel-launch/kernel-launch/restart"
)

// Request is what somebody wants changed in an environment.
type Request struct {
	Add         []string `json:"add,omitempty"`    // requirements: a name, extras, versions, a marker (PEP 508 without URLs)
	Remove      []string `json:"remove,omitempty"` // names that the environment owns
	Newest      bool     `json:"newest,omitempty"` // take the newest answer, not the one that needs no restart
	AllowSource bool     `json:"allow_source,omitempty"`
}

// Plan is a change that nothing has been done for yet. It says all of what will happen, so that it can be approved, and what it stands on, so that it
// can be refused when the ground has moved.
type Plan struct {
	Schema      int       `json:"schema"`
	ID          string    `json:"id"`     // 8 hexadecimal digits
	Digest      string    `json:"digest"` // of everything that matters: not of ID, Created and Expires
	Created     time.Time `json:"created"`
	Expires     time.Time `json:"expires"`
	Environment string    `json:"environment"`
	Language    string    `json:"language"`
	Generation  int       `json:"generation"`
	Base        string    `json:"base"` // DigestOf(Before)
	Request     Request   `json:"request"`

	Unchanged bool            `json:"unchanged,omitempty"` // what was asked for is there already
	Additive  bool            `json:"additive"`            // running kernels can run on
	Changes   restart.Changes `json:"changes"`             // from Before to After
	Files     []PlannedFile   `json:"files"`               // dependencies first
	Remove    []string        `json:"remove,omitempty"`    // owned names that go and that no file replaces
	Breaks    []Breakage      `json:"breaks,omitempty"`    // what is visible, worked, and will not have what it requires
	Notes     []string        `json:"notes,omitempty"`     // sentences that whoever approves should read

	// Alternative is the other answer, whole: newest beside an additive plan. Nil when there is none.
	Alternative *Plan `json:"alternative,omitempty"`

	Before restart.Snapshot `json:"before"`
	After  restart.Snapshot `json:"after"` // as far as metadata tells: modules of what comes are not known
}

// Apart is the same change, made beside the tree that running kernels have: they keep what they run, and have to restart for it.
func (p *Plan) Apart() *Plan {
	q := *p
	q.Additive, q.Alternative = false, nil
	return &q
}

// PlannedFile is one file that a plan brings in.
type PlannedFile struct {
	Name     string   `json:"name"` // normalised
	Version  string   `json:"version"`
	Filename string   `json:"filename"`
	URL      string   `json:"url"` // at the gateway, without credentials
	SHA256   string   `json:"sha256"`
	Size     int64    `json:"size,omitempty"`     // bytes; 0 when the index does not say
	Uploaded string   `json:"uploaded,omitempty"` // RFC 3339; empty when the index does not say
	Requires []string `json:"requires"`           // of its metadata; nil when it is not known, as for source
	Source   bool     `json:"source,omitempty"`   // it has to be built, which runs its code
}

// Breakage is a visible distribution that a plan leaves without something that it has now.
type Breakage struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Requires string `json:"requires"` // what it requires
	Found    string `json:"found"`    // the version that will be there; empty: none
}

const (
	planSchema = 1
	planLife   = 24 * time.Hour
)
