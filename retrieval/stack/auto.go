package stack

import (
	"context"
	"sync"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/embed"
	"almanac/embed/transformer"
	"almanac/retrieval"
	"almanac/retrieval/index"
)

// Resolve returns the model that embed.Auto stands for where no index is built beside
// another one: the transformer once its index was complete, or if that takes but a
// moment, else the table. Other configurations stay as they are.
func Resolve(ctx context.Context, store *sqlstore.Store, c Embed) (Embed, error) {
	if c.URL != "" || c.Model != embed.Auto {
		return c, nil
	}
	if c = c.aim(); c.Model == embed.Transformer {
		if at, err := atOnce(ctx, store); err != nil || at {
			return c, err
		}
	}
	c.Model = embed.Table
	return c, nil
}

// atOnce reports whether embed.Auto needs no table before the transformer: the
// transformer's index was complete, or there is little to embed.
func atOnce(ctx context.Context, store *sqlstore.Store) (bool, error) {
	done, err := transformed(ctx, store)
	if done || err != nil {
		return done, err
	}
	return little(ctx, store)
}

// What the transformer embeds in less than a second: small networks never see their
// results change.
const (
	fewRecords = 250
	fewBytes   = 16 << 10 // some twenty passages
)

// little reports whether what the sources of a catalog yielded is little.
func little(ctx context.Context, store *sqlstore.Store) (bool, error) {
	if synced, err := Synced(ctx, store); err != nil || !synced {
		return false, err
	}
	_, total, err := store.List(ctx, catalog.ListQuery{Limit: 1})
	if err != nil || total == 0 || total > fewRecords {
		return false, err
	}
	records, _, err := store.List(ctx, catalog.ListQuery{WithBody: true})
	bytes := 0
	for _, r := range records {
		bytes += len(r.Title) + len(r.Summary) + len(r.Body)
	}
	return err == nil && bytes <= fewBytes, err
}

// aim returns the model that embed.Auto leads to: the transformer, if this processor is
// fast enough.
func (e Embed) aim() Embed {
	if e.URL == "" && e.Model == embed.Auto {
		e.Model = embed.Table
		if transformer.Fast() {
			e.Model = embed.Transformer
		}
	}
	return e
}

// transformed reports whether the index of the transformer in the program was complete.
func transformed(ctx context.Context, store *sqlstore.Store) (bool, error) {
	fingerprint := index.Fingerprint(transformer.Model)
	all, err := store.Generations(ctx)
	if err != nil {
		return false, err
	}
	for _, g := range all {
		if g.Fingerprint == fingerprint {
			o, err := originOf(ctx, store, g)
			return o.Complete, err
		}
	}
	return false, nil
}

// Stays returns why embed.Auto is the table for good; "" if it is not.
func (e Embed) Stays() string {
	if e.URL != "" || e.Model != embed.Auto || transformer.Fast() {
		return ""
	}
	return slowProcessor
}

// slowProcessor is why embed.Auto stays with the table.
const slowProcessor = "embed.model auto stays with the table: this processor lacks the instructions (AVX2, or the " +
	"dot product of NEON) without which the transformer takes seconds for a passage"

// prepare returns the configuration of the index to write. Where a transformer in the
// program has no index yet, what was complete answers first, and gets the time of the
// cores that it needs; where auto begins, that is the table.
func (k *Keeper) prepare(ctx context.Context, before *earlier) (Config, error) {
	cfg := k.cfg.Config
	cfg.Embed = cfg.Embed.aim()
	if why := k.cfg.Embed.Stays(); why != "" {
		k.cfg.Log.Info(why)
	}
	if !cfg.Embed.inProgram() {
		return cfg, nil
	}
	done, err := transformed(ctx, cfg.Store)
	auto := k.cfg.Embed.Model == embed.Auto
	if !done && auto && err == nil {
		done, err = little(ctx, cfg.Store)
	}
	if err != nil {
		return cfg, err
	}
	if !done {
		if err := before.open(ctx, 0, auto); err != nil {
			return cfg, err
		}
		if before.fed != nil {
			select {
			case <-before.ready:
			case <-ctx.Done():
				return cfg, ctx.Err()
			}
		}
	}
	if done || before.stack != nil {
		cfg.yield = k.yield
	}
	return cfg, nil
}

// What builds an index goes on when no search has been under way for calm: who searches
// one time after the other leaves gaps. Beside searches without end it waits for mostYield
// and works for a slice: a small share of a core, so that it still ends.
const (
	calm      = 5 * time.Millisecond
	mostYield = 250 * time.Millisecond
	slice     = 20 * time.Millisecond
)

// yield waits while searches are under way.
func (k *Keeper) yield(ctx context.Context) {
	s := k.serving.Load()
	if s == nil || time.Now().UnixNano() < k.slice.Load() {
		return
	}
	if !s.users.quiet(ctx, calm, k.most) {
		k.slice.Store(time.Now().Add(slice).UnixNano())
	}
}

// FillingOf returns how far an index is, or was when the process that builds it stopped,
// that is built beside the one that serves; nil: none is.
func FillingOf(ctx context.Context, store *sqlstore.Store) (*retrieval.Filling, error) {
	_, o, ok, err := latest(ctx, store, func(o origin) bool { return o.Filling != nil && !o.Complete })
	if !ok {
		return nil, err
	}
	return o.Filling, err
}

// How often the progress of an index is looked at, stored and logged.
const (
	fillingLooked = time.Second
	fillingStored = 10 // looks
	fillingLogged = 60
)

// show makes the progress of an index that is built beside another visible until hide is
// called, which may be more than once.
func (k *Keeper) show(ctx context.Context, s *Stack) (hide func()) {
	p, looks := pace{began: time.Now()}, 0
	stop := every(ctx, fillingLooked, func() {
		f := retrieval.Filling{Model: s.origin.Model}
		f.Vectors, f.Passages = s.Follower.Filled()
		f.Left = p.left(time.Now(), f.Vectors, f.Passages)
		k.filling.Store(&f)
		if looks%fillingStored == 1 {
			o := s.origin
			o.Filling = &f
			if err := o.save(ctx, k.cfg.Store, s.generation); err != nil && ctx.Err() == nil {
				k.cfg.Log.Warn("the progress of an index is not stored", "error", err)
			}
		}
		if looks%fillingLogged == 1 {
			k.cfg.Log.Info("embedding", "model", f.Model, "passages", f.Vectors, "of", f.Passages,
				"left", f.Left.Round(time.Second))
		}
		looks++
	})
	return sync.OnceFunc(func() {
		stop()
		k.filling.Store(nil)
	})
}

// pace estimates how long the rest takes by the last minute or two.
type pace struct {
	began, middle time.Time // of the time looked at, and what will begin the next
	first, then   int       // done at these
}

func (p *pace) left(now time.Time, done, of int) time.Duration {
	if p.middle.IsZero() {
		p.middle, p.first, p.then = p.began, done, done
	}
	if now.Sub(p.middle) > time.Minute {
		p.began, p.first = p.middle, p.then
		p.middle, p.then = now, done
	}
	if done <= p.first {
		return 0
	}
	return now.Sub(p.began) / time.Duration(done-p.first) * time.Duration(of-done)
}
