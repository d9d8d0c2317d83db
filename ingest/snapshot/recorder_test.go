package snapshot_test

import (
	"context"

	"almanac/catalog"
	"almanac/ingest"
)

// recorder is a Sink that remembers.
type recorder struct {
	killed  string // what an earlier run was killed over
	entries []catalog.Entry
	events  []catalog.Event
	kept    []catalog.Ref
	skips   []string // "locator: error"
	warns   []string // "locator: message"
	done    int
	total   int
}

func newRecorder() *recorder { return &recorder{} }

func (r *recorder) Begin(content []byte) error {
	if r.killed != "" && string(content) == r.killed {
		return ingest.ErrKilled
	}
	return nil
}

func (r *recorder) Put(_ context.Context, e catalog.Entry) error {
	r.entries = append(r.entries, e)
	return nil
}

func (r *recorder) Events(_ context.Context, events []catalog.Event) error {
	r.events = append(r.events, events...)
	return nil
}

func (r *recorder) Snapshot(catalog.Snapshot) {}

func (r *recorder) Keep(ref catalog.Ref) { r.kept = append(r.kept, ref) }
func (r *recorder) Skip(locator string, err error) {
	r.skips = append(r.skips, locator+": "+err.Error())
}
func (r *recorder) Warn(locator, message string) { r.warns = append(r.warns, locator+": "+message) }
func (r *recorder) Progress(done, total int)     { r.done, r.total = done, total }

// find returns the entry of a kind and key.
func (r *recorder) find(kind catalog.Kind, key string) (catalog.Entry, bool) {
	for _, e := range r.entries {
		if e.Record.Kind == kind && e.Record.Key == key {
			return e, true
		}
	}
	return catalog.Entry{}, false
}
