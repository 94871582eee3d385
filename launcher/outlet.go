package launcher

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// outlet is a kernel's way out, as far as its launcher keeps track of it. It outlives a restart in place; the zero value is that of a kernel without one.
type outlet struct {
	denied deniedRing

	mu    sync.Mutex
	proxy *egress.Proxy // of the present life
	audit *egress.Audit // nil: there is no log
	owned bool          // the kernel's end closes it
}

// EgressLog is the file in which the proxies of all kernels of a user write down what they let through and what they refused. Older ones stand beside it,
// with .1 and so on at the end of their names.
func EgressLog(d dirs.Dirs) string { return filepath.Join(d.State, "log", "egress.jsonl") }

// furnish gives a proxy that has not begun to serve what it has besides its rules: the log, the headers that it adds, and the proxy in front of it.
func (k *Kernel) furnish(proxy *egress.Proxy, r *rules, p *Plan) {
	tell, audit := proxy.Event, k.auditOf(p)
	proxy.Event = func(e egress.Event) {
		if audit != nil {
			audit.Record(e)
		}
		k.outlet.denied.add(e)
		tell(e)
	}
	proxy.Credentials, proxy.Upstream, proxy.Remedy = r.headers, p.upstream, k.answerLine()
	k.track(proxy, audit)
}

// track keeps both until the next life or the kernel's end. There is no proxy without an allowlist.
func (k *Kernel) track(proxy *egress.Proxy, audit *egress.Audit) {
	k.outlet.begin(proxy, audit)
	k.mu.Lock()
	over := k.finished
	if !over && !k.outlet.owned {
		k.outlet.owned = true
		k.release = append(k.release, k.outlet.close)
	}
	k.mu.Unlock()
	if over {
		k.outlet.close()
	}
}

// auditOf opens the log of one life. Nothing is written before something happens; what goes wrong then is told once.
func (k *Kernel) auditOf(p *Plan) *egress.Audit {
	if p.auditing == "none" {
		return nil
	}
	path := EgressLog(p.host.dirs)
	if err := dirs.MakePrivate(filepath.Dir(path)); err != nil {
		k.unlogged(err)
		return nil
	}
	return &egress.Audit{Path: path, Kernel: k.id, Environment: p.Environment.Name, Denied: p.auditing == "denied", Failed: k.unlogged}
}

func (k *Kernel) unlogged(err error) {
	k.say(fmt.Sprintf("what this kernel reaches is not logged: %v", err))
}

// record writes down a connection through an opening.
func (o *outlet) record(e egress.Event) {
	o.mu.Lock()
	audit := o.audit
	o.mu.Unlock()
	if audit != nil {
		audit.Record(e)
	}
}

// begin takes the proxy and the log of a life, after those of the life before have been closed.
func (o *outlet) begin(proxy *egress.Proxy, audit *egress.Audit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
	o.proxy, o.audit = proxy, audit
}

// end closes the proxy before its log: what is broken off is written down, too.
func (o *outlet) end() {
	if o.proxy != nil {
		o.proxy.Close()
	}
	if o.audit != nil {
		o.audit.Close()
	}
	o.proxy, o.audit = nil, nil
}

func (o *outlet) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
}
