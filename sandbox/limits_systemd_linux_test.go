package sandbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manager answers on a socket of its own as a bus with systemd on it does, and notes what it was asked.
type manager struct {
	t       *testing.T
	socket  string
	mu      sync.Mutex
	clients []net.Conn
	jobs    int
	asked   []string
	given   map[string]map[string]any // the properties of each unit
	refuse  string                    // a unit whose job fails
	deaf    bool                      // it takes connections and says nothing
	listed  []string                  // slices that there are already
	held    bool                      // when the scope was made, its process had no children yet
}

func newManager(t *testing.T, m *manager) *manager {
	t.Helper()
	m.t, m.socket, m.given = t, t.TempDir()+"/bus", map[string]map[string]any{}
	l, err := net.Listen("unix", m.socket)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(c)
		}
	}()
	return m
}

func (m *manager) serve(c net.Conn) {
	defer c.Close()
	m.mu.Lock()
	m.clients = append(m.clients, c)
	m.mu.Unlock()
	r := bufio.NewReader(c)
	for authenticated := m.deaf; !authenticated; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch line = strings.TrimLeft(line, "\x00"); {
		case line == "AUTH\r\n":
			fmt.Fprint(c, "REJECTED EXTERNAL\r\n")
		case strings.HasPrefix(line, "AUTH EXTERNAL"):
			fmt.Fprint(c, "OK 0123456789abcdef0123456789abcdef\r\n")
		case strings.HasPrefix(line, "NEGOTIATE"):
			fmt.Fprint(c, "ERROR\r\n")
		default:
			authenticated = strings.HasPrefix(line, "BEGIN")
		}
	}
	for {
		msg, err := dbus.DecodeMessage(r)
		if err != nil {
			return
		}
		if !m.deaf {
			m.answer(c, msg)
		}
	}
}

func (m *manager) answer(c net.Conn, msg *dbus.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	member := msg.Headers[dbus.FieldMember].Value().(string)
	switch member {
	case "Hello":
		m.reply(c, msg, ":1.7")
	case "AddMatch":
		m.reply(c, msg)
	case "ListUnitsByPatterns":
		m.reply(c, msg, m.units())
	case "Get":
		m.reply(c, msg, dbus.MakeVariant("/kernel-launch-test.slice"))
	case "StartTransientUnit", "StopUnit":
		m.job(c, msg, member)
	default:
		m.t.Errorf("asked for %s", member)
	}
}

func (m *manager) job(c net.Conn, msg *dbus.Message, member string) {
	unit := msg.Body[0].(string)
	m.asked = append(m.asked, member+" "+unit)
	if member == "StartTransientUnit" {
		m.given[unit] = map[string]any{}
		for _, p := range msg.Body[2].([][]any) {
			m.given[unit][p[0].(string)] = p[1].(dbus.Variant).Value()
		}
	}
	if pids, ok := m.given[unit]["PIDs"].([]uint32); ok {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pids[0], pids[0]))
		m.held = err == nil && len(children) == 0
	}
	m.jobs++
	path := dbus.ObjectPath(fmt.Sprintf("/org/freedesktop/systemd1/job/%d", m.jobs))
	m.reply(c, msg, path)
	result := "done"
	if m.refuse != "" && strings.HasSuffix(unit, m.refuse) {
		result = "failed"
	}
	for _, other := range m.clients {
		m.signal(other, uint32(m.jobs), path, unit, result)
	}
}

// listedUnit has the fields of systemd's answer, in their order.
type listedUnit struct {
	Name, Description, Load, Active, Sub, Followed string
	Path                                           dbus.ObjectPath
	Job                                            uint32
	JobType                                        string
	JobPath                                        dbus.ObjectPath
}

func (m *manager) units() []listedUnit {
	all := []listedUnit{}
	for _, name := range m.listed {
		all = append(all, listedUnit{Name: name, Path: "/u", JobPath: "/"})
	}
	return all
}

func (m *manager) reply(c net.Conn, to *dbus.Message, body ...any) {
	headers := map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(to.Serial()), dbus.FieldSender: dbus.MakeVariant("org.freedesktop.systemd1"),
	}
	m.write(c, dbus.TypeMethodReply, headers, body)
}

func (m *manager) signal(c net.Conn, body ...any) {
	m.write(c, dbus.TypeSignal, map[dbus.HeaderField]dbus.Variant{
		dbus.FieldPath: dbus.MakeVariant(dbus.ObjectPath("/org/freedesktop/systemd1")), dbus.FieldInterface: dbus.MakeVariant("org.freedesktop.systemd1.Manager"),
		dbus.FieldMember: dbus.MakeVariant("JobRemoved"), dbus.FieldSender: dbus.MakeVariant("org.freedesktop.systemd1"),
	}, body)
}

func (m *manager) write(c net.Conn, kind dbus.Type, headers map[dbus.HeaderField]dbus.Variant, body []any) {
	if len(body) > 0 {
		headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
	}
	message := &dbus.Message{Type: kind, Flags: dbus.FlagNoReplyExpected, Headers: headers, Body: body}
	if err := message.EncodeTo(c, binary.LittleEndian); err != nil {
		m.t.Log(err) // the client has gone
	}
}

// requests is what was asked, with the names without what differs from one run to the next.
func (m *manager) requests(name string) (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.asked {
		all = append(all, strings.ReplaceAll(a, name, "NAME"))
	}
	return all
}

// bounds are limits that the manager of a test holds.
func (m *manager) bounds() *Bounds {
	return &Bounds{
		Tier: TierSystemd, Memory: 64 << 20, Processes: 20, CPUs: 0.5,
		Groups: []Group{{TierSystemd, m.socket, []string{"memory", "processes", "cpus"}}},
	}
}

func TestSystemdMakesASliceAndPutsTheCommandIntoIt(t *testing.T) {
	m, w := newManager(t, &manager{}), newWorld(t)
	plan := w.plan()
	plan.Bounds = m.bounds()
	next := newGroupName()
	next.n++
	p, err := Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "exit"}, Stderr: os.Stderr})
	require.NoError(t, err)
	require.NoError(t, p.Wait())
	assert.Nil(t, p.Hit())
	name := next.unit()
	assert.Equal(t, []string{"StartTransientUnit NAME.slice", "StartTransientUnit NAME.scope", "StopUnit NAME.slice"}, m.requests(name))
	m.mu.Lock()
	defer m.mu.Unlock()
	slice, scope := m.given[name+".slice"], m.given[name+".scope"]
	assert.Equal(t, uint64(64<<20), slice["MemoryMax"])
	assert.Equal(t, uint64(0), slice["MemorySwapMax"])
	assert.Equal(t, uint64(20+ownTasks), slice["TasksMax"])
	assert.Equal(t, uint64(500_000), slice["CPUQuotaPerSecUSec"])
	assert.Equal(t, name+".slice", scope["Slice"])
	assert.Len(t, scope["PIDs"], 1)
	assert.True(t, m.held, "bubblewrap had done nothing yet when it was put into the scope")
}

func TestASystemdThatRefusesLeavesNothingRunning(t *testing.T) {
	for refused, want := range map[string][]string{
		".slice": {"StartTransientUnit NAME.slice", "StopUnit NAME.slice"},
		".scope": {"StartTransientUnit NAME.slice", "StartTransientUnit NAME.scope", "StopUnit NAME.slice"},
	} {
		m, w := newManager(t, &manager{refuse: refused}), newWorld(t)
		plan := w.plan()
		plan.Bounds = m.bounds()
		next := newGroupName()
		next.n++
		_, err := Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "sleep", "refused-by-systemd"}})
		require.ErrorContains(t, err, `starting `+next.unit()+refused+`: it says "failed"`)
		assert.Equal(t, want, m.requests(next.unit()), refused)
		assert.Empty(t, withMarker(t, "refused-by-systemd"))
	}
}

func TestSlicesOfTheDeadAreStopped(t *testing.T) {
	mine, dead := newGroupName(), groupName{1 << 22, "1", 1}
	m := newManager(t, &manager{listed: []string{mine.unit() + ".slice", dead.unit() + ".slice", "kernellaunch_other.slice"}})
	member, err := makeMember(t.Context(), m.bounds().Groups[0], m.bounds(), newGroupName())
	require.NoError(t, err)
	assert.Equal(t, "StopUnit NAME.slice", m.requests(dead.unit())[0])
	require.NoError(t, member.remove())
	assert.NotContains(t, m.requests(mine.unit()), "StopUnit NAME.slice")
}

func TestABusThatSaysNothingHoldsNobodyUp(t *testing.T) {
	m := newManager(t, &manager{deaf: true})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := confine(ctx, m.bounds())
	require.ErrorContains(t, err, "limits: systemd: D-Bus at "+m.socket)
	assert.Less(t, time.Since(began), 5*time.Second)

	none := &manager{socket: t.TempDir() + "/none"}
	_, err = confine(t.Context(), none.bounds())
	require.ErrorContains(t, err, "no such file or directory")
}
