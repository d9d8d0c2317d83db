package main

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/ingest/networks"
)

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestAnchorDay(t *testing.T) {
	now := day("2031-03-20").Add(13 * time.Hour)
	for _, c := range []struct{ name, configured, kept, want string }{
		{"the first load hangs on today", "", "", "2031-03-20"},
		{"a kept day stays", "", "2031-03-10", "2031-03-10"},
		{"also when it is a fortnight ago but for hours", "", "2031-03-07", "2031-03-07"},
		{"an older one gives way to today", "", "2031-03-06", "2031-03-20"},
		{"the configured day wins", "2020-01-01", "2031-03-10", "2020-01-01"},
		{"a kept day that does not parse is none", "", "soon", "2031-03-20"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := anchorDay(c.configured, c.kept, now).Format(time.DateOnly); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestAnotherAnchorDayLoadsTheSampleAnew looks at what a start leaves in the
// catalog.
func TestAnotherAnchorDayLoadsTheSampleAnew(t *testing.T) {
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	fictional := network.Network{Sources: []network.Source{{Name: "isles", Kind: "sample"},
		{Name: "other", Kind: "snapshot"}}}
	var log strings.Builder
	a := &app{log: slog.New(slog.NewTextHandler(&log, nil))}
	load := func(n network.Network, now string) string {
		t.Helper()
		anchor, err := a.sampleAnchor(t.Context(), n, store, day(now))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"isles", "other"} { // what a sync would leave
			if _, err := store.Apply(t.Context(), catalog.Batch{Source: name, Cursor: new("read " + now)}); err != nil {
				t.Fatal(err)
			}
			if err := store.SetSource(t.Context(), catalog.SourceState{Name: name, LastRun: day(now)}); err != nil {
				t.Fatal(err)
			}
		}
		return anchor.Format(time.DateOnly)
	}
	cursors := func() string {
		t.Helper()
		states, err := store.Sources(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, s := range states {
			all = append(all, s.Name+"="+s.Cursor)
		}
		return strings.Join(all, ", ")
	}
	if got := load(fictional, "2031-03-01"); got != "2031-03-01" {
		t.Errorf("the first load hangs on %s", got)
	}
	if got := load(fictional, "2031-03-12"); got != "2031-03-01" || log.Len() > 0 {
		t.Errorf("eleven days later it hangs on %s\n%s", got, &log)
	}
	anchor, err := a.sampleAnchor(t.Context(), fictional, store, day("2031-03-20"))
	if err != nil || anchor != day("2031-03-20") || !strings.Contains(log.String(), "from=2031-03-01 to=2031-03-20") {
		t.Errorf("three weeks later it hangs on %s: %v\n%s", anchor, err, &log)
	}
	if got := cursors(); got != "isles=, other=read 2031-03-12" {
		t.Errorf("cursors after the move: %s", got)
	}
	if got := load(network.Network{Sources: fictional.Sources[1:]}, "2031-03-21"); got != "0001-01-01" {
		t.Errorf("a network without a sample hangs on %s", got)
	}
}

// TestTheSampleMayShrink: a program whose sample has less than that of the one before
// does not take its own files for a source that broke.
func TestTheSampleMayShrink(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	n, err := networks.Load("sample")
	if err != nil {
		t.Fatal(err)
	}
	const former = 100
	b := catalog.Batch{Source: "papers"}
	for i := range former {
		b.Entries = append(b.Entries, catalog.Entry{Record: catalog.Record{Kind: catalog.KindWhitepaper,
			Key: fmt.Sprintf("former-%d", i), Title: "Former", Data: []byte("{}")}})
	}
	if _, err := store.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	a := &app{log: slog.New(slog.DiscardHandler)}
	a.config.Network.Name = "sample"
	pipeline, err := a.pipeline(t.Context(), n, store, dir, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := pipeline.Sync(t.Context(), []string{"papers"})
	if err != nil || len(reports) != 1 || reports[0].Err != nil || reports[0].Deleted != former {
		t.Errorf("%v, %+v", err, reports)
	}
}
