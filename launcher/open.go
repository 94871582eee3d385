package launcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// OpenPort makes one more opening for as long as the kernel lives, restarts in place included. It is held below the machine's policy.yaml. What is open
// already stays as it is.
func (k *Kernel) OpenPort(ctx context.Context, way Way, text string) error {
	port, err := ParsePort(way, text)
	if err != nil {
		return err
	}
	k.busy.Lock()
	defer k.busy.Unlock()
	if k.over() {
		return ErrEnded
	}
	plan, err := k.planWith(port, text)
	if err != nil {
		return err
	}
	link, life, ok := k.ports.here.attached(ctx.Done())
	if !ok {
		return ErrEnded
	}
	if fault := k.ports.add(ctx, life, link, port); fault != nil {
		return fault
	}
	k.adopt(plan)
	return nil
}

// ClosePort takes back what is open, what a configuration has opened as well, and ends what is connected through it.
func (k *Kernel) ClosePort(way Way, text string) error {
	port, err := ParsePort(way, text)
	if err != nil {
		return err
	}
	k.busy.Lock()
	defer k.busy.Unlock()
	if k.over() {
		return ErrEnded
	}
	plan := k.planCopy()
	i := slices.IndexFunc(plan.Ports, func(p Port) bool { return p == port || p.named(way, text) })
	if i < 0 {
		return port.fault(CauseClosed, "it is not open")
	}
	port = plan.Ports[i]
	plan.Ports = slices.Delete(plan.Ports, i, i+1)
	plan.spec.shut = append(slices.Clip(plan.spec.shut), port)
	k.ports.drop(func(o *opening) bool { return o.Port == port })
	k.adopt(plan)
	return nil
}

// named reports whether text is the one number that tells p from the others of its way: the port inside of a service, the machine's port of what is published.
func (p Port) named(way Way, text string) bool {
	n := p.Port
	if way == Published {
		n = p.HostPort
	}
	return p.Way == way && text == fmt.Sprint(n)
}

// planWith is the present plan with one opening more, asked for as a flag does.
func (k *Kernel) planWith(port Port, text string) (*Plan, error) {
	plan := k.planCopy()
	s := &plan.spec
	s.shut = without(slices.Clone(s.shut), []Port{port})
	asked := &s.Overrides.Forward
	if port.Way == Published {
		asked = &s.Overrides.Publish
	}
	if !slices.Contains(*asked, text) {
		*asked = append(slices.Clip(*asked), text)
	}
	cfg, err := s.config(plan.host)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(portsOf(cfg), port) {
		return nil, port.clipped(cfg)
	}
	if slices.Contains(plan.Ports, port) {
		return plan, nil
	}
	plan.Ports = append(plan.Ports, port)
	return plan, errors.Join(plan.checkPorts()...)
}

// clipped says what the ceiling allows instead.
func (p Port) clipped(cfg *Config) error {
	for _, clip := range cfg.Clips() {
		if clip.Key == "sandbox."+string(p.Way) && clip.Asked == p.String() {
			return p.fault(CauseCeiling, "%s:%d allows %s", clip.At.File, clip.At.Line, clip.Most)
		}
	}
	return p.fault(CauseCeiling, "the machine's policy does not allow it")
}

func (k *Kernel) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stopping || k.finished
}

func (k *Kernel) planCopy() *Plan {
	plan := *k.Plan()
	plan.Ports = slices.Clone(plan.Ports)
	return &plan
}

// adopt makes plan the kernel's, the next restart's as well.
func (k *Kernel) adopt(plan *Plan) {
	k.mu.Lock()
	k.plan = plan
	k.spec.Overrides, k.spec.shut = plan.spec.Overrides, plan.spec.shut
	state := k.state
	k.mu.Unlock()
	k.record.update(state, plan)
}

// Ports are the openings of one way, those that could not be made with the reason.
func (k *Kernel) Ports(way Way) []OpenPort { return k.ports.list(way) }
