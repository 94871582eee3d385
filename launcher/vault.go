package launcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/config"
)

// How long what a command printed is used, and how long one that failed is left alone: a kernel can ask as often as it likes.
const (
	commandKept  = 5 * time.Minute
	commandRests = 10 * time.Second
	// commandBreaks is how many requests may end before their command does. A kernel could start it at will by leaving, and some ask a person.
	commandBreaks = 3
)

// vault holds the credentials of a kernel's proxy. Their values stand here and in requests, nowhere else.
type vault struct {
	env     map[string]string // the launcher's own at its start
	scratch string            // where commands get their empty folder
	say     func(string)
	sources map[string]*source
	list    []egress.Credential
}

func vaultOf(p *Plan, say func(string)) vault {
	return vault{env: p.host.env, scratch: p.host.dirs.State, say: say}
}

// hold replaces the credentials. What has not changed keeps what it has read.
func (v *vault) hold(all []config.Credential) {
	before := v.sources
	v.sources, v.list = map[string]*source{}, nil
	for _, c := range all {
		t, err := egress.ParseHost(c.Host, 443)
		if err != nil {
			continue // an embedder's, which no request could match
		}
		key := fmt.Sprintf("%q %q %q", t.Name, c.Header, []any{c.From.Env, c.From.File, c.From.Command})
		s := before[key]
		if s == nil {
			s = &source{from: c.From, vault: *v, turn: make(chan struct{}, 1)}
			s.credential = egress.Credential{Host: t.Name, Header: c.Header, Value: s.value}
		}
		v.sources[key] = s
		v.list = append(v.list, s.credential)
	}
}

// headers are the credentials as they are now; a proxy asks for them before it asks for the rules.
func (r *rules) headers() []egress.Credential {
	r.current()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.vault.list
}

// source is where the value of one credential comes from.
type source struct {
	credential egress.Credential
	from       config.ValueSource
	vault      vault
	turn       chan struct{} // one reads at a time; it guards the rest

	kept  egress.Secret
	fault error
	stamp stamp     // of the file that was read
	until time.Time // what a command printed, or its failure, is good
	told  string
	broke int       // requests that ended before their command, one after the other
	rest  time.Time // it is not started before
}

// errWithheld is all that a kernel learns: where the host keeps its secrets is none of its business.
var errWithheld = errors.New("its launcher says why")

func (s *source) value(ctx context.Context) (egress.Secret, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return "", errWithheld
	}
	defer func() { <-s.turn }()
	v, err := s.read(ctx)
	if err == nil {
		s.told = ""
		return v, nil
	}
	if text := err.Error(); ctx.Err() == nil && text != s.told {
		s.told = text
		s.vault.say(fmt.Sprintf("the credential %s cannot be had: %s", s.credential, text))
	}
	return "", errWithheld
}

func (s *source) read(ctx context.Context) (egress.Secret, error) {
	switch {
	case s.from.File != "":
		return s.readFile()
	case len(s.from.Command) > 0:
		return s.runCommand(ctx)
	}
	v, ok := s.vault.env[s.from.Env]
	if !ok {
		return "", fmt.Errorf("the launcher was started without the variable %s", s.from.Env)
	}
	return egress.Secret(v), nil
}

// readFile reads again when the file has changed.
func (s *source) readFile() (egress.Secret, error) {
	now := stampOf(s.from.File)
	if now.is && now == s.stamp {
		return s.kept, nil
	}
	b, err := config.ReadSecret(s.from.File)
	if err != nil {
		s.stamp = stamp{}
		return "", err
	}
	s.kept, s.stamp = egress.Secret(b), now
	return s.kept, nil
}

func (s *source) runCommand(ctx context.Context) (egress.Secret, error) {
	if time.Now().Before(s.until) {
		return s.kept, s.fault
	}
	select {
	case <-time.After(time.Until(s.rest)):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	s.kept, s.fault = runForSecret(ctx, s.from.Command, s.vault.env, s.vault.scratch)
	now := time.Now()
	switch {
	case s.fault == nil:
		s.until, s.broke = now.Add(commandKept), 0
	case ctx.Err() == nil:
		s.until, s.broke = now.Add(commandRests), 0
	default: // it was this request that ended
		if s.broke++; s.broke >= commandBreaks {
			s.rest = now.Add(commandRests)
		}
	}
	return s.kept, s.fault
}
