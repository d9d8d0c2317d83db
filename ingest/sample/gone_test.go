package sample_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/ingest/outbound"
	"almanac/ingest/sample"
	"almanac/testing/race"
)

// leaving is a network that goes away after so many bytes, in the middle of the body that
// crosses the limit.
type leaving struct {
	servers http.RoundTripper
	left    *atomic.Int64 // bytes
}

func (l leaving) RoundTrip(req *http.Request) (*http.Response, error) {
	if l.left.Load() <= 0 {
		return nil, errors.New("no route to host")
	}
	resp, err := l.servers.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	answer := io.Reader(bytes.NewReader(body))
	if after := l.left.Add(-int64(len(body)) - 1); after < 0 {
		answer = io.MultiReader(bytes.NewReader(body[:max(0, int64(len(body))+after)]),
			iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	resp.Body = io.NopCloser(answer)
	return resp, nil
}

// leavable is a catalog of the sample whose servers can go away.
type leavable struct {
	store   *sqlstore.Store
	network network.Network
	dir     string
}

func newLeavable(t *testing.T) leavable {
	t.Helper()
	l := leavable{dir: t.TempDir()}
	var err error
	if l.network, err = networks.Load("sample"); err != nil {
		t.Fatal(err)
	}
	if l.store, err = sqlite.Open(t.Context(),
		sqlite.Config{Path: filepath.Join(l.dir, "catalog.db"), Now: func() time.Time { return anchor }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// sync reads every source until so many bytes have come, and returns how many
// bytes were left.
func (l leavable) sync(t *testing.T, size int64) ([]ingest.Report, int64) {
	t.Helper()
	var left atomic.Int64
	left.Store(size)
	known, all := ingest.Registry{}, connectors.All(anchor)
	for kind := range all {
		known[kind] = ingest.Constructor(func(src network.Source, env ingest.Environment) (ingest.Connector[[]byte], error) {
			if env.Files != nil {
				env.HTTP = outbound.New(outbound.Config{
					Transport: leaving{sample.Web(env.Files), &left}, Now: env.Now,
					Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
				})
			}
			return all.Connector(src, env)
		})
	}
	registry := connectors.All(anchor)
	registry[connectors.Sample] = sample.Connector(anchor, known)
	reports, _ := ingest.New(ingest.Config{
		Store: l.store, Network: l.network, Now: func() time.Time { return anchor }, WorkDir: l.dir,
		Connectors: registry, Log: slog.New(slog.DiscardHandler),
	}).Sync(t.Context(), nil) // the reports have the errors
	return reports, left.Load()
}

// holds is every record with its links, votes and history, without what
// differs between two catalogs: ids, and hashes salted by the directory.
func (l leavable) holds(t *testing.T) []string {
	t.Helper()
	type dumped struct {
		Source string
		catalog.Entry
	}
	refs := map[int64]catalog.Ref{}
	var entries []dumped
	err := l.store.Dump(t.Context(), func(source string, e catalog.Entry) error {
		refs[e.Record.ID] = e.Record.Ref()
		entries = append(entries, dumped{source, e})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		e.Parent = refs[e.Record.Parent]
		e.Record.ID, e.Record.Parent, e.Record.Hash = 0, 0, ""
		if e.Record.Kind == catalog.KindMailMessage {
			e.Record.Data = nil
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(line))
	}
	slices.Sort(all)
	return all
}

// The servers go away in the middle of an answer, each time at another moment.
// What was read until then may stay; the next sync completes it.
func TestServersGoneMidPageTheNextSyncCompletes(t *testing.T) {
	race.Skip(t)
	const plenty = 1 << 40
	undisturbed := newLeavable(t)
	reports, left := undisturbed.sync(t, plenty)
	for _, r := range reports {
		if r.Err != nil {
			t.Fatalf("%s: %v", r.Source, r.Err)
		}
	}
	whole, want := plenty-left, undisturbed.holds(t)
	r := rand.New(rand.NewPCG(30, 3))
	moments := 10
	if testing.Short() {
		moments = 3
	}
	for i := range moments {
		size := r.Int64N(whole)
		l := newLeavable(t)
		reports, _ := l.sync(t, size)
		if !slices.ContainsFunc(reports, func(r ingest.Report) bool { return r.Err != nil }) {
			t.Errorf("%d: %d of %d bytes: no source failed", i, size, whole)
		}
		reports, _ = l.sync(t, plenty)
		for _, r := range reports {
			if r.Err != nil {
				t.Errorf("%d: %d of %d bytes: then %s: %v", i, size, whole, r.Source, r.Err)
			}
		}
		if diff := cmp.Diff(want, l.holds(t)); diff != "" {
			t.Errorf("%d: %d of %d bytes: (-undisturbed +disturbed)\n%.3000s", i, size, whole, diff)
		}
		reports, _ = l.sync(t, plenty)
		for _, r := range reports {
			if r.Created+r.Updated+r.Deleted > 0 {
				t.Errorf("%d: %d of %d bytes: a further sync writes: %+v", i, size, whole, r)
			}
		}
	}
}
