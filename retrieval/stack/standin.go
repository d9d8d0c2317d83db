package stack

import (
	"context"
	"errors"
	"time"

	"almanac/embed"
	"almanac/embed/transformer"
)

// standIn is the index of the transformer in the program, which serves in place of the
// table, or of an index whose model is gone, while the configured model cannot be had.
type standIn struct {
	stop  func()
	ended chan struct{} // closed when it serves, or is given up
	fed   *feeding      // when ended; nil: it was given up
}

// missing is called again and again while the configured model cannot be had. Once that has
// lasted for k.outage it begins a stand-in: a short outage is not worth the embedding.
func (e *earlier) missing(ctx context.Context) {
	k := e.keeper
	if e.missed.IsZero() {
		e.missed = time.Now()
	}
	if e.better != nil && closes(e.better.ended, 0) {
		e.adopt()
		e.missed = time.Now() // what failed is tried again after as long
	}
	if e.better != nil || time.Since(e.missed) < k.outage || !closes(e.ready, 0) ||
		e.stack.cfg.Embed.Transformed() && !e.stack.lost || !transformer.Fast() {
		return
	}
	building, stop := context.WithCancel(ctx)
	b := &standIn{stop: stop, ended: make(chan struct{})}
	e.better = b
	old := e.fed
	e.group.Go(func() error {
		defer close(b.ended)
		defer stop()
		if err := e.build(ctx, building, b, old); err != nil && building.Err() == nil {
			k.cfg.Log.Warn("the index of the transformer in the program is not built", "error", err)
		}
		return nil
	})
}

// found is called when the model can be had: what is being built is given up.
func (e *earlier) found() {
	e.missed = time.Time{}
	if e.better != nil {
		e.better.stop()
		<-e.better.ended
		e.adopt()
	}
}

// adopt makes a stand-in that serves the earlier generation.
func (e *earlier) adopt() {
	if fed := e.better.fed; fed != nil {
		e.stack, e.fed = fed.stack, fed
	}
	e.better = nil
}

// build builds the index of a stand-in until building ends, has it serve in place of the old
// one, and feeds it until ctx ends.
func (e *earlier) build(ctx, building context.Context, b *standIn, old *feeding) error {
	k := e.keeper
	cfg := k.cfg.Config
	cfg.Embed, cfg.yield = Embed{Model: embed.Transformer}, k.yield
	s, err := openConfigured(building, cfg, false)
	if err != nil {
		return err
	}
	k.opens(s)
	w, hide := feed(ctx, e.group, s), func() {}
	if k.filling.Load() == nil { // else that of the configured model is shown
		hide = k.show(building, s)
	}
	err = k.ready(building, s, k.completing(s, s.Follower.WaitAll), func() { k.serving.Store(s) })
	hide()
	if err != nil {
		w.end()
		return errors.Join(err, k.release(context.WithoutCancel(ctx), s))
	}
	b.fed = w
	k.cfg.Log.Info("another model serves", "model", s.origin.Model, "before", old.stack.origin.Model)
	old.end()
	return k.release(ctx, old.stack)
}
