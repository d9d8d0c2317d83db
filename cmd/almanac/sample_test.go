package main

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"almanac/catalog"
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
