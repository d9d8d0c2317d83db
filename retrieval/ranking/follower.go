package ranking

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"almanac/catalog"
)

// The times between two looks: at what is published, and, since pins name
// records, at whether records have changed.
const (
	lookEvery    = time.Second
	recordsEvery = 30 * time.Second
)

// Follower keeps a searcher at what is published, whichever process published it.
type Follower struct {
	source Source
	to     Publisher
	log    *slog.Logger

	head    int64     // of the publications that the searcher has
	changes int64     // of records when its pins were looked up
	looked  time.Time // at records
	said    string    // the last error that was logged
}

// Publisher is what a Follower keeps: an engine, or the keeper of several.
type Publisher interface {
	Publish(Relevance) error
}

// NewFollower returns a follower; its searcher has the relevance of the
// configuration.
func NewFollower(s Source, to Publisher, log *slog.Logger) *Follower {
	return &Follower{source: s, to: to, log: log}
}

// Run looks every second until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		f.Look(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Look brings the searcher up to date. If it refuses what is published, what it
// has stays; that is logged once, and tried again with the next look.
func (f *Follower) Look(ctx context.Context) {
	list, head, err := f.source.Store.Published(ctx)
	if err == nil && head != 0 {
		err = f.follow(ctx, list, head)
	}
	switch {
	case err == nil:
		f.said = ""
	case ctx.Err() == nil && err.Error() != f.said:
		f.said = err.Error()
		f.log.Error("what is published cannot be used: what was in force stays", "error", err)
	}
}

// follow publishes to the searcher if publications or records changed.
func (f *Follower) follow(ctx context.Context, list []catalog.Publication, head int64) error {
	if head == f.head && time.Since(f.looked) < recordsEvery {
		return nil
	}
	changes, err := f.source.Store.LastChange(ctx)
	if err != nil {
		return err
	}
	if head == f.head && changes == f.changes {
		f.looked = time.Now()
		return nil
	}
	relevance, err := f.source.Relevance(ctx)
	if err != nil {
		return err
	}
	if err := f.to.Publish(relevance); err != nil {
		return err
	}
	if head != f.head {
		f.log.Info("relevance is published", "revisions", strings.Join(titles(list), ", "))
	}
	f.head, f.changes, f.looked = head, changes, time.Now()
	return nil
}

// titles names what is in force.
func titles(list []catalog.Publication) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = string(p.Kind) + ": " + p.String()
	}
	return out
}
