package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"
)

// askTime is how long systemd may take for one answer.
const askTime = 10 * time.Second

// unit is a slice of systemd's with the limits, and a scope in it with the command. A scope alone would go with its last process, and take along what
// the kernel wrote about its end; a slice stays until it is stopped.
type unit struct {
	context context.Context
	conn    *dbus.Conn
	name    string
	path    string
}

func makeUnit(ctx context.Context, g Group, b *Bounds, name groupName) (member, error) {
	conn, err := reachSystemd(ctx, g.Parent)
	if err != nil {
		return nil, fmt.Errorf("D-Bus at %s: %w", quoted(g.Parent), err)
	}
	u := &unit{context: context.WithoutCancel(ctx), conn: conn, name: name.unit()}
	u.sweep(ctx)
	if err := u.start(ctx, u.name+".slice", unitProperties(b, g.Limits)); err != nil {
		u.remove() // an answer that was not waited for may have been yes
		return nil, err
	}
	if u.path, err = u.find(ctx); err != nil {
		return nil, errors.Join(err, u.remove())
	}
	return u, nil
}

// reachSystemd bounds what the library waits for without an end. The connection outlives ctx: what was started is stopped over it.
func reachSystemd(ctx context.Context, socket string) (*dbus.Conn, error) {
	lifetime, cut := context.WithCancel(context.WithoutCancel(ctx))
	slow := time.AfterFunc(askTime, cut)
	defer slow.Stop()
	defer context.AfterFunc(ctx, cut)()
	conn, err := dbus.NewConnection(func() (*godbus.Conn, error) { return dialBus(lifetime, socket) })
	if err != nil {
		cut()
		return nil, err
	}
	return conn, nil
}

// dialBus names the socket itself: left alone, the library would start a bus of its own where there is none.
func dialBus(lifetime context.Context, socket string) (*godbus.Conn, error) {
	conn, err := godbus.Dial("unix:path="+godbus.EscapeBusAddressValue(socket), godbus.WithContext(lifetime))
	if err != nil {
		return nil, err
	}
	if err = conn.Auth([]godbus.Auth{godbus.AuthExternal(strconv.Itoa(os.Geteuid()))}); err == nil {
		err = conn.Hello()
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// unitProperties are the limits in systemd's words: of processor time, microseconds in every second.
func unitProperties(b *Bounds, limits []string) []dbus.Property {
	out := []dbus.Property{property("Description", "limits of a kernel of kernel-launch")}
	if slices.Contains(limits, "memory") {
		out = append(out, property("MemoryAccounting", true), property("MemoryMax", uint64(b.Memory)), property("MemorySwapMax", uint64(0)))
	}
	if slices.Contains(limits, "processes") {
		out = append(out, property("TasksAccounting", true), property("TasksMax", uint64(b.Processes+ownTasks)))
	}
	if slices.Contains(limits, "cpus") {
		out = append(out, property("CPUAccounting", true), property("CPUQuotaPerSecUSec", uint64(math.Round(b.CPUs*1e6))))
	}
	return out
}

func property(name string, value any) dbus.Property {
	return dbus.Property{Name: name, Value: godbus.MakeVariant(value)}
}

func (u *unit) start(ctx context.Context, name string, properties []dbus.Property) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	answer := make(chan string, 1)
	if _, err := u.conn.StartTransientUnitContext(ctx, name, "fail", properties, answer); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	return await(ctx, "starting "+name, answer)
}

func await(ctx context.Context, what string, answer <-chan string) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case result := <-answer:
		if result != "done" {
			return fmt.Errorf("%s: it says %q", what, result)
		}
		return nil
	}
}

// find is the folder of the slice's group.
func (u *unit) find(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	p, err := u.conn.GetUnitTypePropertyContext(ctx, u.name+".slice", "Slice", "ControlGroup")
	if err != nil {
		return "", fmt.Errorf("the group of %s.slice: %w", u.name, err)
	}
	group, ok := p.Value.Value().(string)
	_, point, mounted := placeOf("", memberships(kernelText("/proc/self/cgroup")), cgroupMounts(kernelText("/proc/self/mountinfo")))
	if !ok || group == "" || !mounted {
		return "", fmt.Errorf("%s.slice has no group that can be seen", u.name)
	}
	return filepath.Join(point, group), nil
}

func (u *unit) folder() string { return u.path }

func (u *unit) enter(pid int) error {
	return u.start(u.context, u.name+".scope", []dbus.Property{
		dbus.PropDescription("a kernel of kernel-launch"), dbus.PropSlice(u.name + ".slice"), dbus.PropPids(uint32(pid)),
	})
}

func (u *unit) remove() error {
	defer u.conn.Close()
	ctx, cancel := context.WithTimeout(u.context, askTime)
	defer cancel()
	return u.stop(ctx, u.name+".slice")
}

func (u *unit) stop(ctx context.Context, name string) error {
	answer := make(chan string, 1)
	if _, err := u.conn.StopUnitContext(ctx, name, "replace", answer); err != nil {
		return fmt.Errorf("stopping %s: %w", name, err)
	}
	return await(ctx, "stopping "+name, answer)
}

// sweep stops the slices of launchers that were killed, as far as systemd lets it: what is left holds nobody up.
func (u *unit) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	all, err := u.conn.ListUnitsByPatternsContext(ctx, nil, []string{"kernellaunch_*.slice"})
	if err != nil {
		return
	}
	for _, s := range all {
		if abandoned(s.Name) {
			u.stop(ctx, s.Name)
		}
	}
}
