package launcher

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Plan is everything that a launch will do, decided. Making one starts nothing and writes nothing.
type Plan struct {
	Environment *envs.Environment
	Sandbox     *sandbox.Plan
	Rules       *egress.Rules       // what the proxy lets through; nil unless Sandbox.Network is allowlist
	Connection  *jupyter.Connection // where a client reaches the kernel; ports are 0 while they are not chosen yet
	Folder      string              // the notebook's folder on the host; empty when it is not shown
	KeptHome    string              // the folder on the host that the kernel keeps its own files in
	Command     []string            // as started inside; the connection file's path is the private copy's
	Ports       []Port              // openings in the walls
	Notices     []string            // sentences that the user must see, such as a folder that is not shown

	spec   Spec
	host   host
	bounds egress.Bounds
	stamps stamps // of the configuration's files when they were read

	credentials []config.Credential
	auditing    string                                // egress.log
	upstream    func(egress.Target) (*url.URL, error) // the host's own proxy
	authorities authorities
}

// privateConnection is where the kernel finds its own copy of the connection file. Kernels rewrite theirs; the server's stays out of sight.
const privateConnection = sandbox.PrivateDir + "/connection.json"

// egressPort is where the proxy listens inside, unless the connection file takes that port.
const egressPort = 3128

// Plan decides what Start does.
func (s Spec) Plan() (*Plan, error) {
	backend := ahead()
	h, err := s.host()
	if err != nil {
		return nil, err
	}
	p := &Plan{spec: s, host: h, Folder: h.folder}
	if p.Connection, err = s.connect(); err != nil {
		return nil, err
	}
	p.stamps = settled(configFiles(h.dirs), stamps.young) // before they are read: a change meanwhile is found later
	cfg, err := s.config(h)
	if err != nil {
		return nil, err
	}
	for _, clip := range cfg.Clips() {
		p.Notices = append(p.Notices, clip.String())
	}
	p.Notices = append(p.Notices, cautions(cfg)...)
	store := Environments(h.dirs, h.helper, h.getenv)
	if p.Environment, err = store.Get(s.Environment); err != nil {
		return nil, err
	}
	if err := p.Environment.Check(); err != nil {
		return nil, err
	}
	p.KeptHome = keptHome(h.dirs.State, p.Environment, h.folder)
	p.Command = s.Command
	if len(p.Command) == 0 {
		p.Command = kernelCommand(p.Environment)
	}
	if cfg.Sandbox.Network == sandbox.NetworkAllowlist {
		p.Rules, p.bounds = cfg.Rules(), cfg.Egress.Bounds
		p.credentials, p.upstream = cfg.Egress.Credentials, Upstream(h.getenv)
	}
	p.auditing = cfg.Egress.Log
	if cfg.Sandbox.Network != sandbox.NetworkNone {
		p.readAuthorities()
	}
	p.Ports = without(portsOf(cfg), s.shut)
	if err := p.confine(backend, cfg); err != nil {
		return nil, err
	}
	p.admit()
	return p, errors.Join(p.checkPorts()...)
}

// config is the policy with the flags on top, below the machine's ceiling. That holds for an embedder's own policy as well.
func (s Spec) config(h host) (cfg *Config, err error) {
	if s.Config != nil {
		cfg = s.Config.Clone()
		err = cfg.HoldBelow(machineConfig(h.dirs), h.dirs.Home)
	} else {
		cfg, err = config.Load(ConfigSources(h.dirs, s.Environment, h.folder, s.Profile))
	}
	if err != nil {
		return nil, err
	}
	return cfg, cfg.Apply(s.Overrides)
}

// cautions are about hosts that the configuration allows.
func cautions(cfg *Config) (all []string) {
	if cfg.Sandbox.Network != sandbox.NetworkAllowlist {
		return nil
	}
	for _, r := range cfg.Egress.Allow {
		if c := r.Caution(); c != "" {
			all = append(all, fmt.Sprintf("egress.allow %s: %s", r, c))
		}
	}
	return all
}

func (s Spec) connect() (*jupyter.Connection, error) {
	switch {
	case s.connection != nil:
		return s.connection, nil
	case len(s.Command) > 0:
		return nil, nil
	case s.ConnectionFile != "":
		return jupyter.ReadConnection(s.ConnectionFile)
	}
	return &jupyter.Connection{Transport: "tcp", IP: "127.0.0.1", Key: jupyter.NewKey(), SignatureScheme: "hmac-sha256"}, nil
}

// confine asks the backend for the walls. A folder that is too broad is replaced when the spec allows that.
func (p *Plan) confine(b sandbox.Backend, cfg *Config) error {
	backend, err := backendFor(b, cfg)
	if err != nil {
		return err
	}
	policy := p.policy(cfg)
	p.Sandbox, err = backend.Plan(policy)
	var path *sandbox.PathError
	if p.spec.AnyFolder && errors.As(err, &path) && path.Use == "folder" && path.Broad {
		p.Notices = append(p.Notices, fmt.Sprintf("%v: it is not shown to the kernel, which works in an empty folder of its own instead", path))
		p.Folder, policy.Folder = "", ""
		policy.Environment = p.variables(cfg, "")
		p.Sandbox, err = backend.Plan(policy)
	}
	return err
}

func (p *Plan) policy(cfg *Config) sandbox.Policy {
	c := cfg.Sandbox
	d := p.host.dirs
	return sandbox.Policy{
		Network: c.Network,
		Folder:  p.Folder,
		Read:    c.Read, Write: c.Write, Hide: c.Hide,
		Project: c.Project, Islands: c.Islands,
		RealHome: d.Home, KeptHome: p.KeptHome,
		Prefixes:    p.Environment.Interpreter.Shown(),
		Trees:       []sandbox.Tree{{Source: p.Environment.Tree(), Target: p.Environment.Current()}},
		Helper:      p.host.helper,
		Own:         own(p.host),
		Environment: p.variables(cfg, p.Folder),
		Limits:      c.Limits, Links: c.Links, GPU: c.GPU, Debug: c.Debug,
	}
}

// own are the folders that no grant may touch: what is in them is believed by programs outside.
func own(h host) []string {
	d := h.dirs
	list := []string{d.Config, d.Data, d.State, d.Cache, d.Machine}
	if d.Runtime != "" {
		list = append(list, d.Runtime)
	}
	return append(list, jupyterFolders(h.getenv, d.Home)...)
}

// kernelCommand is how the environment's kernel is started inside.
func kernelCommand(e *envs.Environment) []string {
	argv := slices.Clone(e.Kernel())
	for i, a := range argv {
		argv[i] = strings.ReplaceAll(a, "{connection_file}", privateConnection)
	}
	return argv
}

// inside is the kernel's own connection file: same key, same ports, on its own loopback.
func (p *Plan) inside() ([]byte, error) {
	c := p.Connection.Clone()
	if p.Sandbox.Network != sandbox.NetworkHost {
		c.Transport, c.IP = "tcp", "127.0.0.1"
	}
	return c.JSON()
}

// egressAt is the port of the proxy inside.
func (p *Plan) egressAt() int {
	port := egressPort
	if p.Connection != nil {
		for slices.Contains(p.Connection.Ports(), port) {
			port++
		}
	}
	return port
}

// Sentences say the plan as a person would, most important first.
func (p *Plan) Sentences() []string {
	e := p.Environment
	out := []string{fmt.Sprintf("Environment %s: %s %s, %s mode, generation %d.", e.Name, e.Interpreter.Implementation, e.Interpreter.Version, e.Mode, e.Generation)}
	out = append(out, "Command: "+strings.Join(p.Command, " "))
	out = append(out, p.Sandbox.Sentences()...)
	if p.Rules != nil {
		out = append(out, p.EgressSentences()...)
	}
	for _, port := range p.Ports {
		out = append(out, port.Sentence())
	}
	return append(out, p.Notices...)
}

// VariableNames lists the names of the kernel's environment variables, without their values.
func (p *Plan) VariableNames() []string {
	var names []string
	for _, kv := range p.Sandbox.Environment {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return names
}

// egressSentences say which hosts can be reached.
func egressSentences(r *egress.Rules) []string {
	list := func(rules []egress.Rule) string {
		var words []string
		for _, rule := range rules {
			words = append(words, rule.String())
		}
		return strings.Join(words, ", ")
	}
	out := []string{"It may reach: " + list(r.Allow) + "."}
	if len(r.Allow) == 0 {
		out[0] = "It may reach no host: the allowlist is empty."
	}
	if len(r.Deny) > 0 {
		out = append(out, "Never: "+list(r.Deny)+".")
	}
	for _, pin := range r.Pins {
		out = append(out, "Pinned: "+pin.String()+".")
	}
	return out
}

// EgressSentences say which hosts the kernel can reach; none when its network is not an allowlist.
func (p *Plan) EgressSentences() []string {
	if p.Rules == nil {
		return nil
	}
	out := egressSentences(p.Rules)
	for _, c := range p.credentials {
		out = append(out, fmt.Sprintf("Requests for http://%s get the header %s, and go there in TLS.", c.Host, c.Header))
	}
	return out
}
