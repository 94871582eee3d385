package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// idle is what the proxies hold in memory: before, with a thousand tunnels that have carried something, and when 1 GiB has gone through these.
func (l *lab) idle(ctx context.Context) ([]Row, error) {
	progress("measuring: memory")
	var rows []Row
	for _, s := range l.subjects[1:] {
		more, err := l.idleOf(s)
		rows = append(rows, more...)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return rows, nil
}

func (l *lab) idleOf(s *subject) ([]Row, error) {
	rows, err := l.memory(s, "before 1,000 idle tunnels", 0)
	if err != nil {
		return rows, err
	}
	steps := []struct {
		what  string
		order loadOrder
		bar   float64
	}{
		{"at 1,000 idle tunnels", loadOrder{Do: "hold", Count: idleTunnels}, 35},
		{"at 1,000 tunnels after 1 GiB", loadOrder{Do: "pull", Streams: 64, Bytes: gib / idleTunnels * idleTunnels}, 45},
	}
	for _, step := range steps {
		if _, err := s.ask(step.order); err != nil {
			return rows, err
		}
		more, err := l.memory(s, step.what, step.bar)
		if rows = append(rows, more...); err != nil {
			return rows, err
		}
	}
	_, err = s.ask(loadOrder{Do: "release"})
	return rows, err
}

func (l *lab) memory(s *subject, when string, bar float64) ([]Row, error) {
	rss, err := resident(s.pid)
	share, fault := pss(s.pid)
	if err := errors.Join(err, fault); err != nil {
		return nil, err
	}
	row := alone("RSS "+when+": "+s.name, "MB", []float64{rss})
	if bar > 0 && l.ours(s) {
		row = row.bar("value", bar)
	}
	return []Row{row, alone("PSS "+when+": "+s.name, "MB", []float64{share})}, nil
}

// aborts counts the descriptors that stay when connections were broken off.
func (l *lab) aborts(ctx context.Context) ([]Row, error) {
	progress("measuring: aborted connections")
	var rows []Row
	for _, s := range []*subject{l.subjects[1], l.inside} {
		before, err := descriptors(s.pid)
		if err != nil {
			return rows, err
		}
		if _, err := s.ask(loadOrder{Do: "abort", Count: abortedConns}); err != nil {
			return rows, fmt.Errorf("%s: %w", s.name, err)
		}
		left, err := settled(s.pid, before)
		if err != nil {
			return rows, err
		}
		rows = append(rows, alone("descriptors left after 10,000 aborted connections: "+s.name, "", []float64{float64(left)}).bar("value", 0))
	}
	return rows, nil
}

// settled waits until no more descriptors are open than before, or they stay for ten seconds, and gives how many are left.
func settled(pid, before int) (int, error) {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		n, err := descriptors(pid)
		if err != nil || n <= before || time.Now().After(end) {
			return max(n-before, 0), err
		}
	}
}
