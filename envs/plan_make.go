package envs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/kernel-launch/kernel-launch/restart"
)

// planOf makes the plan of one answer, or of two: the additive one and the newest. What the request prefers comes first, the other is its alternative.
func (w *work) planOf(ctx context.Context, r *resolver, first, newest []locked) (*Plan, error) {
	p, err := w.planFrom(ctx, r, first)
	if err != nil || newest == nil {
		return p, err
	}
	other, err := w.planFrom(ctx, r, newest)
	if err != nil || p.Digest == other.Digest {
		return p, err
	}
	if w.request.Newest {
		p, other = other, p
	}
	p.Alternative = other
	return p, p.seal()
}

func (w *work) planFrom(ctx context.Context, r *resolver, list []locked) (*Plan, error) {
	files, err := w.files(list)
	if err != nil {
		return nil, err
	}
	if err := r.describe(ctx, files); err != nil {
		return nil, err
	}
	return w.plan(dependenciesFirst(files, w.view.env))
}

// files are what an answer brings in: all of it but what is there already.
func (w *work) files(list []locked) (files []PlannedFile, err error) {
	for _, l := range list {
		if there, ok := w.view.packages[l.name]; l.local || ok && equalVersions(there.stub, l.version) {
			continue
		}
		f, isWheel := bestWheel(l.wheels)
		if !isWheel {
			f = l.sdist
		}
		if f.url == "" || !isWheel && !w.request.AllowSource {
			return nil, &ResolveError{Requested: w.request.Add, Text: l.name + " " + value(l.version) + " has no wheel that can be used here"}
		}
		files = append(files, PlannedFile{Name: l.name, Version: l.version, Filename: f.filename, URL: f.url, SHA256: f.sha256, Size: f.size, Uploaded: f.uploaded, Source: !isWheel})
	}
	return files, nil
}

// plan puts together what is known when the files are.
func (w *work) plan(files []PlannedFile) (*Plan, error) {
	if err := w.settle(); err != nil {
		return nil, err
	}
	now := time.Now().UTC().Truncate(time.Second)
	p := &Plan{
		Schema: planSchema, ID: uuid.NewString()[:8], Created: now, Expires: now.Add(planLife),
		Environment: w.env.Name, Language: w.env.Language, Generation: w.env.Generation, Request: w.request,
		Files: append([]PlannedFile{}, files...), Notes: slices.Clone(w.notes), Before: w.before, Base: DigestOf(w.before),
		Unchanged: len(files)+len(w.remove) == 0,
	}
	for _, name := range w.remove {
		if !p.brings(name) {
			p.Remove = append(p.Remove, name)
		}
	}
	p.After = w.after(p)
	p.Changes = append(restart.Changes{}, restart.Diff(p.Before, p.After)...)
	p.Additive = p.Changes.Additive()
	p.Breaks = w.breaks(p)
	p.Notes = append(p.Notes, w.withoutExtras(p)...)
	return p, p.seal()
}

func (p *Plan) brings(name string) bool {
	return slices.ContainsFunc(p.Files, func(f PlannedFile) bool { return f.Name == name })
}

// after is the view when the plan has been carried out, as far as metadata tells.
func (w *work) after(p *Plan) restart.Snapshot {
	after := w.before
	after.Packages = []restart.Package{}
	for _, old := range w.before.Packages {
		under, covered := w.base[old.Name]
		switch goes := slices.Contains(w.remove, old.Name); {
		case p.brings(old.Name), goes && !covered:
		case goes:
			after.Packages = append(after.Packages, restart.Package{Name: under.Name, Version: under.Version, Folder: under.Folder, Owner: OwnerBase})
		default:
			after.Packages = append(after.Packages, old)
		}
	}
	for _, f := range p.Files {
		after.Packages = append(after.Packages, restart.Package{Name: f.Name, Version: f.Version, Folder: w.env.shownSite(), Owner: OwnerEnv, Requires: f.Requires})
	}
	slices.SortFunc(after.Packages, func(a, b restart.Package) int { return strings.Compare(a.Name, b.Name) })
	return after
}

// shownSite is the folder that packages go to, as kernels see it.
func (e *Environment) shownSite() string {
	return e.Current() + strings.TrimPrefix(e.site(), e.Tree())
}

// withoutExtras: resolvers pass over an extra that a package does not have.
func (w *work) withoutExtras(p *Plan) (notes []string) {
	for _, r := range w.wanted {
		there, ok := w.view.packages[r.name]
		if !ok || p.brings(r.name) {
			continue
		}
		for _, e := range r.extras {
			if !has(there.extras, e) {
				notes = append(notes, there.Name+" "+there.Version+" has no extra "+e)
			}
		}
	}
	return notes
}

// dependenciesFirst orders files so that each comes after what it requires. Where they require each other, the names decide.
func dependenciesFirst(files []PlannedFile, env markerValues) []PlannedFile {
	byName := map[string]PlannedFile{}
	for _, f := range files {
		byName[f.Name] = f
	}
	sorted := make([]PlannedFile, 0, len(files))
	visited := map[string]bool{}
	var visit func(f PlannedFile)
	visit = func(f PlannedFile) {
		if visited[f.Name] {
			return
		}
		visited[f.Name] = true
		for _, name := range f.needs(env) {
			if d, ok := byName[name]; ok {
				visit(d)
			}
		}
		sorted = append(sorted, f)
	}
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b PlannedFile) int { return strings.Compare(a.Name, b.Name) }) {
		visit(f)
	}
	return sorted
}

// needs lists the names that a file requires, with all of its extras: one of them may have been asked for.
func (f PlannedFile) needs(env markerValues) (names []string) {
	for _, text := range f.Requires {
		if r, err := parseRequirement(text); err == nil && (r.applies(env) || r.marker.mentionsExtra()) {
			names = append(names, r.name)
		}
	}
	slices.Sort(names)
	return names
}
