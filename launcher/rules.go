package launcher

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// rulesPoll is how often a launcher looks for new rules when nobody connects: what is open may have to be ended.
const rulesPoll = time.Second

// rules are those of a running kernel. An edit of the files that they come from holds from the next connection on. One that cannot be used is told
// and changes nothing: half of a policy would be a weaker one.
type rules struct {
	files  [3]string
	load   func() (*Config, error)
	say    func(string)
	review func() int // ends what is no longer allowed
	follow func()     // is told of an edit that can be used

	mu      sync.Mutex
	stamps  stamps
	present *egress.Rules
	vault   vault
	edited  bool // and follow has not been told
}

// rulesOf begins with the plan's.
func rulesOf(p *Plan, say func(string)) *rules {
	r := &rules{
		vault: vaultOf(p, say),
		files: configFiles(p.host.dirs), stamps: p.stamps, present: p.Rules, say: say,
		load: func() (*Config, error) { return p.spec.config(p.host) }, review: func() int { return 0 }, follow: func() {},
	}
	r.vault.hold(p.credentials)
	return r
}

// configFiles are all that a policy is read from.
func configFiles(d dirs.Dirs) [3]string {
	machine := machineConfig(d)
	return [3]string{machine, filepath.Join(filepath.Dir(machine), "policy.yaml"), filepath.Join(d.Config, "config.yaml")}
}

// current is asked for every connection.
func (r *rules) current() (*egress.Rules, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stamps := r.settle() // before the files are read: a change while they are is seen next time
	if stamps == r.stamps {
		return r.present, nil
	}
	r.stamps = stamps
	cfg, err := r.load()
	if err != nil {
		r.say("the configuration has changed and cannot be used, the rules from before hold: " + plain.Line(err.Error(), 1000))
		return r.present, nil
	}
	r.present, r.edited = cfg.Rules(), true
	r.vault.hold(cfg.Egress.Credentials)
	if cfg.Egress.CloseOnDeny {
		go r.end() // which asks for the rules
	}
	return r.present, nil
}

// settle waits until nobody is writing, when something has changed, and stamps what there is then.
func (r *rules) settle() stamps {
	return settled(r.files, func(now stamps) bool { return now != r.stamps && now.unfinished(r.stamps) })
}

func (r *rules) end() {
	if n := r.review(); n > 0 {
		r.say(fmt.Sprintf("connections that the rules no longer allow have been closed: %d", n))
	}
}

// watch looks for new rules until the kernel's life is over.
func (r *rules) watch(lifetime context.Context) {
	t := time.NewTicker(rulesPoll)
	defer t.Stop()
	for {
		select {
		case <-lifetime.Done():
			return
		case <-t.C:
			r.current()
			if r.changed() {
				r.follow()
			}
		}
	}
}

// holds reports whether the files are as they were when they were read last. When they are not, there is an edit to be told of once more.
func (r *rules) holds() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stampsOf(r.files) == r.stamps {
		return true
	}
	r.edited = true
	return false
}

// changed reports whether there was an edit since it was last asked.
func (r *rules) changed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.edited
	r.edited = false
	return was
}
