package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// What moves in one measurement, and how long connections are counted. The slowest peer moves less.
const (
	bulkBytes     = 256 << 20
	bulkBytesSlow = 64 << 20
	rateTime      = 700 * time.Millisecond
	latencyTurns  = 15
	inARow        = 60
	coldTurns     = 100
	idleTunnels   = 1000
	abortedConns  = 10000
	gib           = 1 << 30
)

// used is what one measurement cost the proxy.
type used struct{ rate, cpu float64 }

// measured are a subject's rates and costs, turn after turn.
type measured struct{ rates, cpu []float64 }

// turns measures all subjects in turns, and gives what each had.
func (l *lab) turns(n int, subjects []*subject, measure func(*subject) (used, error)) ([]measured, error) {
	out := make([]measured, len(subjects))
	costs := make([][]float64, len(subjects))
	rates, err := inTurns(n, len(subjects), func(i int) (float64, error) {
		u, err := measure(subjects[i])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", subjects[i].name, err)
		}
		costs[i] = append(costs[i], u.cpu)
		return u.rate, nil
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = measured{rates[i], costs[i][1:]} // the first turn fills caches
	}
	return out, nil
}

// metered runs one order and adds the processor time that the proxy used for it.
func (s *subject) metered(o loadOrder) (loadReport, time.Duration, error) {
	if s.pid == 0 {
		r, err := s.ask(o)
		return r, 0, err
	}
	before, err := processorTime(s.pid)
	if err != nil {
		return loadReport{}, 0, err
	}
	r, fault := s.ask(o)
	after, err := processorTime(s.pid)
	return r, after - before, errors.Join(fault, err)
}

// tunnels is what passes through 1 and 8 tunnels, down and up.
func (l *lab) tunnels(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, m := range []struct {
		do, what string
		streams  int
	}{{"down", "1 stream down", 1}, {"down", "8 streams down", 8}, {"up", "1 stream up", 1}, {"up", "8 streams up", 8}} {
		progress("measuring: %s", m.what)
		found, err := l.turns(l.N, l.subjects, func(s *subject) (used, error) { return l.bulk(s, m.do, m.streams) })
		if err != nil {
			return rows, err
		}
		for i, s := range l.subjects[1:] {
			row := more("tunnel, "+m.what+": "+s.name+", against direct", "MiB/s", found[i+1].rates, found[0].rates)
			cost := alone("CPU per GiB, "+m.what+": "+s.name, "s", found[i+1].cpu)
			if l.ours(s) {
				row, cost = row.bar("ratio", 0.50), cost.bar("value", 0.35)
			}
			rows = append(rows, row, cost)
		}
	}
	return rows, nil
}

// ours says whether the bars hold for a subject. They were set for connections to a name that is known.
func (l *lab) ours(s *subject) bool {
	return !s.fresh && (s.pid == l.subjects[1].pid || s.pid == l.inside.pid)
}

// asked are all subjects, and those that ask a name server themselves once more with a question for each connection.
func (l *lab) asked() []*subject {
	return append(l.subjects[:len(l.subjects):len(l.subjects)], l.subjects[1].asking(), l.subjects[len(l.subjects)-1].asking())
}

func (l *lab) bulk(s *subject, do string, streams int) (used, error) {
	n := bulkBytes
	if s.via == tinyproxyAt {
		n = bulkBytesSlow
	}
	r, cpu, err := s.metered(loadOrder{Do: do, Streams: streams, Bytes: n})
	return used{float64(n) / (1 << 20) / r.Took.Seconds(), cpu.Seconds() * gib / float64(n)}, err
}

// copied is the proxy on a unix socket, where bytes cannot be spliced.
func (l *lab) copied(ctx context.Context) ([]Row, error) {
	progress("measuring: copied")
	at := filepath.Join(l.Root, "proxy")
	s, err := l.startProxy(ctx, "kernel-launch, unix socket, copied", at, "/proc/self/exe", roleAlone, at, filepath.Join(l.Root, "audit.jsonl"))
	if err != nil {
		return nil, err
	}
	defer s.stop()
	s.load = l.subjects[0].load
	if err := s.ready(); err != nil {
		return nil, err
	}
	var rows []Row
	for _, do := range []string{"down", "up"} {
		found, err := l.turns(l.N, []*subject{l.subjects[0], s}, func(s *subject) (used, error) { return l.bulk(s, do, 1) })
		if err != nil {
			return rows, err
		}
		what := "1 stream " + do + ": " + s.name
		rows = append(rows, more("tunnel, "+what+", against direct", "MiB/s", found[1].rates, found[0].rates), alone("CPU per GiB, "+what, "s", found[1].cpu).bar("value", 0.65))
	}
	return rows, nil
}

// connects is how many new connections a second 64 clients get.
func (l *lab) connects(ctx context.Context) ([]Row, error) {
	progress("measuring: connections")
	subjects := l.asked()
	found, err := l.turns(l.N, subjects, func(s *subject) (used, error) {
		r, cpu, err := s.metered(loadOrder{Do: "rate", Streams: 64, Time: rateTime})
		return used{float64(r.Count) / r.Took.Seconds(), float64(cpu.Microseconds()) / float64(r.Count)}, err
	})
	if err != nil {
		return nil, err
	}
	var rows []Row
	for i, s := range subjects[1:] {
		row := more("new connections, 64 at once: "+s.name+", against direct", "/s", found[i+1].rates, found[0].rates)
		if l.ours(s) {
			row = row.bar("ratio", 0.28)
		}
		rows = append(rows, row, alone("CPU per new connection: "+s.name, "µs", found[i+1].cpu))
	}
	return rows, nil
}

// latency is what one connection at a time takes, until the origin's answer and end: one behind another, as the bar was set, and each behind those of all the
// others, when processor caches hold nothing of it any more.
func (l *lab) latency(context.Context) ([]Row, error) {
	progress("measuring: latency")
	rows, err := l.oneAtATime("one connection behind another", latencyTurns, inARow)
	if err != nil {
		return nil, err
	}
	cold, err := l.oneAtATime("one connection after a pause", coldTurns, 1)
	for i := range cold {
		cold[i].Bar, cold[i].Held = 0, ""
	}
	return append(rows, cold...), err
}

func (l *lab) oneAtATime(what string, turns, count int) ([]Row, error) {
	subjects := l.asked()
	found, err := l.turns(turns, subjects, func(s *subject) (used, error) {
		r, err := s.ask(loadOrder{Do: "row", Count: count})
		return used{rate: float64(r.Took.Nanoseconds()) / 1000}, err
	})
	if err != nil {
		return nil, err
	}
	var rows []Row
	for i, s := range subjects[1:] {
		row := against(what+": "+s.name+", against direct", "µs", found[i+1].rates, found[0].rates)
		if l.ours(s) {
			row = row.bar("less", 350)
		}
		rows = append(rows, row)
	}
	return rows, nil
}
