package sample

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/archive"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/text/nearest"
	"almanac/text/options"
)

// The directories of what is captured. Only records are there of every source.
const (
	recordsOf   = "captured/records"
	eventsOf    = "captured/events"
	snapshotsOf = "captured/snapshots"
)

// captured is a connector that yields what is captured of a source.
type captured struct {
	source string
	env    ingest.Environment
	anchor time.Time
}

func newCaptured(src network.Source, env ingest.Environment, anchor time.Time) (ingest.Connector[[]byte], error) {
	list, err := embedded.ReadDir(recordsOf)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, file := range list {
		known = append(known, strings.TrimSuffix(file.Name(), ".jsonl"))
	}
	c := captured{src.Name, env, anchor}
	if _, err := fs.Stat(embedded, c.file(recordsOf)); err != nil {
		return nil, src.Options.Errorf("sample: %s", nearest.Unknown("source of the sample", src.Name, known))
	}
	_, err = options.Decode(src.Options, struct{}{})
	return c, err
}

func (c captured) file(dir string) string { return path.Join(dir, c.source+".jsonl") }

// Sync implements ingest.Connector. Its state is a digest of the files and the anchor day.
func (c captured) Sync(ctx context.Context, state []byte, out ingest.Sink) ([]byte, ingest.Outcome, error) {
	digest := sha256.New()
	fmt.Fprint(digest, c.anchor)
	for _, dir := range []string{recordsOf, eventsOf, snapshotsOf} {
		text, _ := embedded.ReadFile(c.file(dir)) // none that can be read is none
		fmt.Fprintf(digest, "%d %s", len(text), text)
	}
	now := digest.Sum(nil)
	if bytes.Equal(state, now) {
		return now, ingest.Outcome{}, nil
	}
	err := c.read(recordsOf, func(f io.Reader) error {
		return archive.Entries(f, func(e catalog.Entry) error { return out.Put(ctx, e) })
	})
	if err == nil {
		err = c.read(eventsOf, func(f io.Reader) error { return events(ctx, f, out) })
	}
	if err == nil {
		err = c.read(snapshotsOf, func(f io.Reader) error { return c.snapshots(f, out) })
	}
	return now, ingest.Outcome{Complete: true}, err
}

// read renders the source's file of a directory, if there is one.
func (c captured) read(dir string, use func(io.Reader) error) error {
	functions := dates(c.anchor)
	functions["pseudonym"] = c.env.Pseudonym
	text, err := render(c.file(dir), functions)
	if err == nil {
		err = use(bytes.NewReader(text))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sample: %s: %w", c.file(dir), err)
	}
	return nil
}

// events passes on the events of each reference, which follow each other in the file.
func events(ctx context.Context, f io.Reader, out ingest.Sink) error {
	var of []catalog.Event
	err := archive.Events(f, func(e catalog.Event) error {
		var err error
		if len(of) > 0 && of[0].Ref != e.Ref {
			err, of = out.Events(ctx, of), nil
		}
		of = append(of, e)
		return err
	})
	if err != nil {
		return err
	}
	return out.Events(ctx, of)
}

// snapshots passes on the states of series. A state has the members of its line and, of those that the line leaves
// out, what the state before has. One without a time is that of the run.
func (c captured) snapshots(f io.Reader, out ingest.Sink) error {
	states := map[string]map[string]json.RawMessage{}
	return archive.Snapshots(f, func(s catalog.Snapshot) error {
		state := states[s.Series]
		err := json.Unmarshal(s.Data, &state)
		if err != nil {
			return err
		}
		states[s.Series] = state
		if s.CapturedAt.IsZero() {
			s.CapturedAt = c.env.Now()
		}
		if s.Data, err = json.Marshal(state); err != nil {
			return err
		}
		out.Snapshot(s)
		return nil
	})
}
