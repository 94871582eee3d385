package launcher

import (
	"fmt"
	"slices"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Way is a direction through the walls.
type Way string

const (
	Forwarded Way = "forward" // a service that the host reaches, on the kernel's own localhost
	Published Way = "publish" // a port of the kernel, on the host's
)

// Port is one opening in the walls.
type Port struct {
	Way      Way
	Port     uint16 // inside
	Host     string // Forwarded: whom the host asks, resolved anew for every connection; Published: 127.0.0.1
	HostPort uint16
}

// String is how a configuration has it.
func (p Port) String() string {
	if p.Way == Published {
		return config.Publish{HostPort: p.HostPort, Port: p.Port}.String()
	}
	return p.forward().String()
}

func (p Port) forward() config.Forward {
	return config.Forward{Port: p.Port, Host: p.Host, HostPort: p.HostPort}
}

// outside is HOST:PORT of its end on the host.
func (p Port) outside() string { return p.forward().Service() }

// Sentence says what becomes possible through it.
func (p Port) Sentence() string {
	if p.Way == Published {
		return fmt.Sprintf("Published: port %d inside is 127.0.0.1:%d of this machine, for every program and every user here.", p.Port, p.HostPort)
	}
	return fmt.Sprintf("Forwarded: port %d inside is %s as this machine reaches it, whatever address that has; no rule of egress is asked.", p.Port, p.outside())
}

func published(p config.Publish) Port {
	return Port{Published, p.Port, "127.0.0.1", p.HostPort}
}

// ParsePort reads an opening as flags and configurations have it.
func ParsePort(way Way, text string) (Port, error) {
	var p Port
	var err error
	switch way {
	case Forwarded:
		var f config.Forward
		f, err = config.ParseForward(text)
		p = Port{way, f.Port, f.Host, f.HostPort}
	case Published:
		var f config.Publish
		f, err = config.ParsePublish(text)
		p = published(f)
	default:
		err = fmt.Errorf("there is no way %q", way)
	}
	if err != nil {
		return Port{}, &PortError{Way: way, Port: text, Cause: CauseText, Problem: err.Error()}
	}
	return p, nil
}

// portsOf are the openings that a configuration asks for, each once.
func portsOf(cfg *Config) []Port {
	var all []Port
	add := func(p Port) {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	for _, f := range cfg.Sandbox.Forward {
		add(Port{Forwarded, f.Port, f.Host, f.HostPort})
	}
	for _, p := range cfg.Sandbox.Publish {
		add(published(p))
	}
	return all
}

// Why a port cannot be opened or closed.
const (
	CauseText    = "text"    // it is not written as a port
	CauseNetwork = "network" // the kernel has the host's network
	CauseLow     = "low"     // nobody inside has the right to listen there, or this user has not on the host
	CauseTaken   = "taken"   // somebody has the port already, inside or on the host
	CauseCeiling = "ceiling" // the machine's policy.yaml does not allow it
	CauseClosed  = "closed"  // there is no such opening to close
)

// PortError says why one opening cannot be.
type PortError struct {
	Way     Way    `json:"way"`
	Port    string `json:"port"`
	Cause   string `json:"cause"`
	Problem string `json:"problem"`
}

func (e *PortError) Error() string { return fmt.Sprintf("%s %s: %s", e.Way, e.Port, e.Problem) }

func (p Port) fault(cause, format string, args ...any) *PortError {
	return &PortError{Way: p.Way, Port: p.String(), Cause: cause, Problem: fmt.Sprintf(format, args...)}
}

// OpenPort is an opening of a running kernel.
type OpenPort struct {
	Port        uint16    `json:"port"` // inside
	Host        string    `json:"host"`
	HostPort    uint16    `json:"host_port"`
	Since       time.Time `json:"since"`
	Connections *int      `json:"connections,omitempty"` // at this moment; only the launcher knows
	Problem     string    `json:"problem,omitempty"`     // why it is not open
}

// As is how a configuration has it.
func (p OpenPort) As(way Way) string { return Port{way, p.Port, p.Host, p.HostPort}.String() }

// Outside is HOST:PORT of its end on the host.
func (p OpenPort) Outside() string { return Port{Host: p.Host, HostPort: p.HostPort}.outside() }

// without leaves ports out.
func without(all, gone []Port) []Port {
	return slices.DeleteFunc(all, func(p Port) bool { return slices.Contains(gone, p) })
}

// flagged are the openings that a command line asked for.
func (s Spec) flagged() (all []Port) {
	for way, texts := range map[Way][]string{Forwarded: s.Overrides.Forward, Published: s.Overrides.Publish} {
		for _, text := range texts {
			if p, err := ParsePort(way, text); err == nil { // what cannot be read has stopped the launch
				all = append(all, p)
			}
		}
	}
	return all
}

// admit lists every service of the host that is shown inside among what the walls do not hold.
func (p *Plan) admit() {
	for _, port := range p.Ports {
		if port.Way == Forwarded {
			p.Sandbox.Missing = append(p.Sandbox.Missing, sandbox.Guarantee{
				ID: "forward", Text: fmt.Sprintf("%s, as this machine reaches it, exists inside: it is port %d there", port.outside(), port.Port),
			})
		}
	}
}

// lowestPort is the first on which anybody may listen in a network namespace that has just been made.
const lowestPort = 1024

// checkPorts finds what cannot be before anything is started: all that is wrong, at once.
func (p *Plan) checkPorts() (faults []error) {
	for i, port := range p.Ports {
		if p.Sandbox.Network == sandbox.NetworkHost {
			faults = append(faults, port.fault(CauseNetwork, "with network host every port of this machine is the kernel's as well, and the other way round: leave it out"))
		} else if port.Way == Forwarded && port.Port < lowestPort {
			faults = append(faults, port.fault(CauseLow, "ports below %d cannot be had inside: give it another number, such as %d:%s", lowestPort, 8000+port.Port, port.outside()))
		} else if port.Port < lowestPort {
			faults = append(faults, port.fault(CauseLow, "no program inside can listen on a port below %d: let it take another, and publish that, such as %d:%d", lowestPort, port.HostPort, 8000+port.Port))
		} else if who := p.owner(port.Port); who != "" {
			faults = append(faults, port.fault(CauseTaken, "port %d inside is %s", port.Port, who))
		}
		for _, other := range p.Ports[:i] {
			if problem := port.clash(other); problem != "" {
				faults = append(faults, port.fault(CauseTaken, "%s", problem))
			}
		}
	}
	return faults
}

// owner says to what of the launcher's own a port inside belongs.
func (p *Plan) owner(port uint16) string {
	if p.Sandbox.Network == sandbox.NetworkAllowlist && p.egressAt() == int(port) {
		return "the egress proxy's"
	}
	if p.Connection == nil {
		return ""
	}
	if i := slices.Index(p.Connection.Ports(), int(port)); i >= 0 {
		return "the kernel's own: its " + channelNames[i] + " channel"
	}
	return ""
}

// clash says why two openings cannot be at once. A service that is shown inside cannot be shown on the host again: the two could feed each other for ever.
func (p Port) clash(other Port) string {
	switch {
	case p.Way != other.Way && p.Port == other.Port:
		return fmt.Sprintf("port %d inside is taken by %s %s", p.Port, other.Way, other)
	case p.Way == other.Way && p.Way == Forwarded && p.Port == other.Port:
		return fmt.Sprintf("port %d inside is taken by forward %s", p.Port, other)
	case p.Way == other.Way && p.Way == Published && p.HostPort == other.HostPort:
		return fmt.Sprintf("port %d of this machine is taken by publish %s", p.HostPort, other)
	}
	return ""
}
