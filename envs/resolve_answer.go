package envs

import (
	"context"
	"errors"
)

// resolution is what one question was answered.
type resolution struct {
	list []locked
	err  error
}

// unsolved says that there is no answer, not that something went wrong.
func (a resolution) unsolved() bool {
	var re *ResolveError
	return errors.As(a.err, &re) && len(re.Causes) == 0
}

// answer asks both questions at once. Newest alone is the answer when it moves nothing that is visible: nothing could be more additive.
func (w *work) answer(ctx context.Context, r *resolver) (*Plan, error) {
	additive, stop := r.begin(ctx, askAdditive)
	newest := r.ask(ctx, askNewest)
	if newest.err == nil && !w.movesVisible(newest.list) {
		stop()
		<-additive
		return w.planOf(ctx, r, newest.list, nil)
	}
	first := <-additive
	stop()
	switch {
	case first.err == nil && newest.err == nil:
		return w.planOf(ctx, r, first.list, newest.list)
	case first.err == nil && newest.unsolved():
		return w.planOf(ctx, r, first.list, nil)
	case newest.err == nil && first.unsolved():
		return w.planOf(ctx, r, newest.list, nil)
	case newest.err != nil: // it has fewer conditions, so its reason is the request's own
		return nil, newest.err
	}
	return nil, first.err
}

// begin asks in the background. The answer must be taken, also after stop.
func (r *resolver) begin(ctx context.Context, question string) (answer <-chan resolution, stop func()) {
	ctx, stop = context.WithCancel(ctx)
	c := make(chan resolution, 1)
	if len(r.stubs) == 0 {
		c <- resolution{err: &ResolveError{Requested: r.work.request.Add, Text: "nothing is visible that could stay"}}
		return c, stop
	}
	go func() { c <- r.ask(ctx, question) }()
	return c, stop
}

// movesVisible says whether anything that is visible would get another version.
func (w *work) movesVisible(list []locked) bool {
	for _, l := range list {
		if there, ok := w.view.packages[l.name]; ok && !l.local && !equalVersions(there.stub, l.version) {
			return true
		}
	}
	return false
}
