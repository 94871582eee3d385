package envs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// PlanError is a plan that cannot be taken as it is.
type PlanError struct {
	ID     string
	Reason string
	Err    error // may be nil
}

func (e *PlanError) Error() string {
	s := fmt.Sprintf("plan %q: %s", plain.Line(e.ID, 40), e.Reason)
	if e.Err != nil {
		s += ": " + plain.Line(e.Err.Error(), 300)
	}
	return s
}

func (e *PlanError) Unwrap() error { return e.Err }

const planMost = 64 << 20

var planID = newForm(`\A[0-9a-f]{8}\z`)

// SavePlan keeps a plan and its alternative, each under its own id, in a folder that is ours alone. Plans that have expired are swept.
func (s *Store) SavePlan(dir string, p *Plan) error {
	if err := dirs.MakePrivate(dir); err != nil {
		return err
	}
	sweepPlans(dir, time.Now())
	err := savePlan(dir, p)
	if p.Alternative != nil {
		err = errors.Join(err, savePlan(dir, p.Alternative))
	}
	return err
}

func savePlan(dir string, p *Plan) error {
	if !planID.MatchString(p.ID) {
		return &PlanError{p.ID, "it has no proper id", nil}
	}
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	return dirs.WriteFile(planFile(dir, p.ID), data, 0o600)
}

func planFile(dir, id string) string { return filepath.Join(dir, id+".json") }

// sweepPlans goes by the files' times: a plan is written once, when it is made.
func sweepPlans(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if fi, err := e.Info(); ok && planID.MatchString(id) && err == nil && now.Sub(fi.ModTime()) > 2*planLife {
			_ = os.Remove(planFile(dir, id)) // the next one sweeps it
		}
	}
}

// LoadPlan returns a plan that was kept: whole, unchanged and not expired, or a *PlanError.
func (s *Store) LoadPlan(dir, id string) (*Plan, error) {
	bad := func(reason string, err error) (*Plan, error) { return nil, &PlanError{id, reason, err} }
	if !planID.MatchString(id) {
		return bad("an id has 8 hexadecimal digits", nil)
	}
	data, err := readPlan(dir, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return bad("there is none", nil)
	case err != nil:
		return bad("it cannot be read", err)
	}
	var p Plan
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return bad("it cannot be read", err)
	}
	if d.More() {
		return bad("more follows it", nil)
	}
	return &p, p.check(id, time.Now())
}

func readPlan(dir, id string) ([]byte, error) {
	if _, err := os.Lstat(dir); err != nil {
		return nil, err
	}
	if err := dirs.MakePrivate(dir); err != nil { // others could have written it
		return nil, err
	}
	fi, err := os.Lstat(planFile(dir, id))
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > planMost {
		return nil, errors.New("it is no file of a plan")
	}
	f, err := os.Open(planFile(dir, id))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, planMost))
}

func (p *Plan) check(id string, now time.Time) error {
	d, err := p.digest()
	switch {
	case err != nil:
		return &PlanError{id, "it cannot be checked", err}
	case p.Schema != planSchema:
		return &PlanError{id, fmt.Sprintf("it has the schema %d, not %d", p.Schema, planSchema), nil}
	case p.ID != id || p.Digest != d || p.Base != DigestOf(p.Before):
		return &PlanError{id, "it is not what was kept: its digest differs", nil}
	case now.After(p.Expires) || p.Created.After(now.Add(time.Hour)):
		return &PlanError{id, "it expired at " + p.Expires.Format(time.RFC3339), nil}
	case p.Alternative != nil:
		return p.Alternative.check(p.Alternative.ID, now)
	}
	return nil
}
