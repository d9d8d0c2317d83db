package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/text/options"
)

func TestRunStoresRecordsAndState(t *testing.T) {
	f := setup(t)
	src := network.Source{Name: "first", Kind: "fake", Freshness: time.Hour}
	report := f.with(listing(page("a"), page("b"))).Run(t.Context(), src)
	if report.Created != 2 || !report.Complete || report.Err != nil || report.Source != "first" {
		t.Errorf("report %+v", report)
	}
	if got := f.get(catalog.KindDoc, "a"); got.Source != "first" || got.Title != "Page a" {
		t.Errorf("record %+v", got)
	}
	now := f.clock.now()
	got := f.state("first")
	got.Cursor, got.Settings = "", ""
	want := catalog.SourceState{Name: "first", Kind: "fake", LastRun: now, LastSuccess: now, Freshness: time.Hour}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if got := f.cursorOf("first"); got != "after 2" {
		t.Errorf("the next run starts at %q", got)
	}
}

func TestUnchangedSecondRunWritesNoRecord(t *testing.T) {
	f := setup(t)
	cip := catalog.Entry{Record: catalog.Record{
		Kind: catalog.KindCIP, Key: "NSP-0007", Title: "Tides", Author: "ann@site.example",
		Body: "# Tides\n\n## Abstract\n\nThis proposal lets every node publish the height of the tide it measures. " +
			"It supersedes NSP-3.\n",
	}}
	c := listing(cip, page("a"))
	f.run("first", c)
	seq, batches := f.lastChange(), len(f.store.batches)
	f.clock.advance(48 * time.Hour)
	report := f.run("first", c)
	if report.Unchanged != 2 || report.Created+report.Updated+report.Deleted != 0 {
		t.Errorf("report %+v", report)
	}
	if got := f.lastChange(); got != seq {
		t.Errorf("the change log went from %d to %d", seq, got)
	}
	for _, b := range f.store.batches[batches:] {
		if b.Cursor != nil {
			t.Error("an unchanged cursor was written")
		}
	}
	if s := f.state("first"); s.LastSuccess != f.clock.now() {
		t.Errorf("last success %v", s.LastSuccess)
	}
}

func TestTombstones(t *testing.T) {
	t.Run("records missing from a complete listing are removed", func(t *testing.T) {
		f := setup(t)
		f.run("first", listing(page("a"), page("b"), page("c")))
		if r := f.run("first", listing(page("a"), page("c"))); r.Deleted != 1 {
			t.Errorf("report %+v", r)
		}
		if got := f.keys("first"); !slices.Equal(got, []string{"a", "c"}) {
			t.Errorf("left are %v", got)
		}
	})
	t.Run("an incomplete run removes nothing", func(t *testing.T) {
		f := setup(t)
		f.run("first", listing(page("a"), page("b")))
		f.run("first", connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
			return outcome{Cursor: "x"}, out.Put(ctx, page("a"))
		}))
		if got := f.keys("first"); len(got) != 2 {
			t.Errorf("left are %v", got)
		}
	})
	t.Run("an incomplete run removes what it reports gone", func(t *testing.T) {
		f := setup(t)
		f.run("first", listing(pages(0, 12)...))
		f.run("second", listing(page("of another")))
		gone := func(keys ...string) connector {
			return func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
				o := outcome{Cursor: "x"}
				for _, k := range keys {
					o.Gone = append(o.Gone, page(k).Record.Ref())
				}
				return o, out.Put(ctx, pages(1, 2)[0])
			}
		}
		keys := f.keys("first")
		r := f.run("first", gone(keys[0], keys[0], keys[1], "of another", "unknown")) // the second was put nevertheless
		if got := f.keys("first"); r.Deleted != 1 || !slices.Equal(got, keys[1:]) || len(f.keys("second")) != 1 {
			t.Errorf("%d deleted; left are %v", r.Deleted, got)
		}
		if _, err := f.try("first", gone(keys[2:8]...)); !errors.Is(err, ingest.ErrShrunk) {
			t.Errorf("more than a fifth: %v", err)
		}
	})
	t.Run("what is kept stays", func(t *testing.T) {
		f := setup(t)
		f.run("first", listing(page("a"), page("b")))
		f.run("first", connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
			out.Keep(page("b").Record.Ref())
			return outcome{Complete: true}, nil
		}))
		if got := f.keys("first"); !slices.Equal(got, []string{"b"}) {
			t.Errorf("left are %v", got)
		}
	})
	t.Run("records of another source stay", func(t *testing.T) {
		f := setup(t)
		f.run("first", listing(page("a")))
		f.run("second", listing(page("a"), page("b")))
		f.run("second", listing())
		if got := f.keys("first"); !slices.Equal(got, []string{"a"}) {
			t.Errorf("left of first are %v", got)
		}
		if got := f.keys("second"); len(got) != 0 {
			t.Errorf("left of second are %v", got)
		}
	})
	t.Run("a file that could not be read has not vanished", func(t *testing.T) {
		f := setup(t)
		f.run("first", listing(page("a"), page("b"), page("c"), page("d")))
		f.run("first", connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
			out.Skip("pages/b.md:17", errors.New("broken"))
			out.Skip("doc c", errors.New("broken"))
			out.Skip("pages/d", errors.New("is another file"))
			return outcome{Complete: true}, out.Put(ctx, page("a"))
		}))
		if got := f.keys("first"); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("left are %v", got)
		}
	})
	t.Run("a file that is no item anymore has no record", func(t *testing.T) {
		f := setup(t)
		f.run("first", listing(page("a"), page("b")))
		r := f.run("first", connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
			out.Skip("pages/b.md", fmt.Errorf("%w: a template", ingest.ErrNoItem))
			return outcome{Complete: true}, out.Put(ctx, page("a"))
		}))
		if got := f.keys("first"); !slices.Equal(got, []string{"a"}) || r.Skipped != 1 {
			t.Errorf("left are %v, skipped %d", got, r.Skipped)
		}
	})
	t.Run("a record that turned bad keeps its last good version", func(t *testing.T) {
		f := setup(t)
		f.run("first", listing(page("a"), page("b")))
		bad := page("b")
		bad.Record.Data = json.RawMessage(`{"format": 7}`)
		r := f.run("first", listing(page("a"), bad))
		if got := f.keys("first"); len(got) != 2 || r.Skipped != 1 {
			t.Errorf("left are %v, report %+v", got, r)
		}
	})
}

func TestShrinkGuard(t *testing.T) {
	tests := map[string]struct {
		before, after int
		accept        bool
		refused       bool
	}{
		"an emptied source is refused":                {before: 20, after: 0, refused: true},
		"more than a fifth is refused":                {before: 20, after: 15, refused: true},
		"a fifth passes":                              {before: 20, after: 16},
		"a small source may shrink":                   {before: 9, after: 0},
		"ten records are enough for the guard":        {before: 10, after: 7, refused: true},
		"what the operator accepts passes":            {before: 20, after: 0, accept: true},
		"growing passes":                              {before: 10, after: 30},
		"the same size with other records is refused": {before: 20, after: -20, refused: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.config.AcceptShrink = tt.accept
			f.run("first", listing(pages(0, tt.before)...))
			after := pages(0, tt.after)
			if tt.after < 0 {
				after = pages(tt.before, tt.before-tt.after)
			}
			report, err := f.try("first", listing(after...))
			if !tt.refused {
				if err != nil || len(f.keys("first")) != tt.after {
					t.Fatalf("error %v, %d records left", err, len(f.keys("first")))
				}
				return
			}
			if !errors.Is(err, ingest.ErrShrunk) || report.Deleted != 0 {
				t.Fatalf("error %v, report %+v", err, report)
			}
			lost := tt.before - max(tt.after, 0)
			for _, want := range []string{fmt.Sprintf("%d of its %d records", lost, tt.before),
				"sync --accept-shrink first"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if n := len(f.keys("first")); n < tt.before {
				t.Errorf("%d of %d records left", n, tt.before)
			}
			if s := f.state("first"); s.Error == "" || !s.LastSuccess.Equal(s.LastRun) {
				t.Errorf("state %+v", s)
			}
			f.config.AcceptShrink = true
			if got := f.cursorOf("first"); got != fmt.Sprintf("after %d", tt.before) {
				t.Errorf("the cursor moved to %q", got)
			}
		})
	}
}

// TestTheGuardKnowsAChangedFile: who changes how a source is read means what is lost
// by it, unless nothing is read any more; a server that broke changes nothing.
func TestTheGuardKnowsAChangedFile(t *testing.T) {
	broken := func(context.Context, string, ingest.Sink) (outcome, error) {
		return outcome{}, errors.New("unreachable")
	}
	for name, tt := range map[string]struct {
		change  func(*network.Network)
		between connector // a run with the change that fails
		after   []catalog.Entry
		refused bool
	}{
		"nothing":   {change: func(*network.Network) {}, after: pages(0, 10), refused: true},
		"a comment": {change: func(n *network.Network) { n.Sources[0].Every = time.Hour }, after: pages(0, 10), refused: true},
		"an option": {change: func(n *network.Network) {
			n.Sources[0].Options = options.Of(map[string]any{"exclude": "b"})
		}, after: pages(0, 10)},
		"an option, after a failed run": {change: func(n *network.Network) {
			n.Sources[0].Options = options.Of(map[string]any{"exclude": "b"})
		}, between: broken, after: pages(0, 10)},
		"an option, by which nothing is read": {change: func(n *network.Network) {
			n.Sources[0].Options = options.Of(map[string]any{"exclude": "*"})
		}, refused: true},
		"the padding": {change: func(n *network.Network) { n.Proposals.Digits = 7 }, after: pages(30, 50)},
		"the prefix":  {change: func(n *network.Network) { n.Proposals.Prefix = "SSP" }, after: pages(30, 50)},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.config.Network.Sources = slices.Clone(testNetwork.Sources[:1])
			f.run("first", listing(pages(0, 20)...))
			tt.change(&f.config.Network)
			try := func(c connector) error {
				return f.with(c).Run(t.Context(), f.config.Network.Sources[0]).Err
			}
			if tt.between != nil {
				_ = try(tt.between)
			}
			err := try(listing(tt.after...))
			if errors.Is(err, ingest.ErrShrunk) != tt.refused || !tt.refused && len(f.keys("first")) != len(tt.after) {
				t.Errorf("error %v, %d records", err, len(f.keys("first")))
			}
			if tt.refused && len(f.keys("first")) != 20 {
				t.Errorf("%d records", len(f.keys("first")))
			}
			if err == nil { // from then on it may break
				if err := try(listing(tt.after[0])); !errors.Is(err, ingest.ErrShrunk) {
					t.Errorf("afterwards: %v", err)
				}
			}
		})
	}
}

// TestWhatWasLeftOutIsSaidUntilItIsLookedAtAgain: by runs that find the source where
// it was, and by those that fail.
func TestWhatWasLeftOutIsSaidUntilItIsLookedAtAgain(t *testing.T) {
	f := setup(t)
	bad := true
	source := connector(func(ctx context.Context, cursor string, out ingest.Sink) (outcome, error) {
		if cursor == "here" {
			out.Keep(page("a").Record.Ref()) // as a list does of what has not changed
			return outcome{Cursor: "here", Complete: true}, nil
		}
		if bad {
			out.Skip("b.md", fmt.Errorf("%w: it has no number", ingest.ErrNoItem))
		}
		return outcome{Cursor: "here", Complete: true}, out.Put(ctx, page("a"))
	})
	failing := func(context.Context, string, ingest.Sink) (outcome, error) {
		return outcome{}, errors.New("unreachable")
	}
	says := func(when string, r ingest.Report, skipped int, remark string) {
		t.Helper()
		st := f.state("first")
		if r.Skipped != skipped || r.Remark != remark || st.Skipped != skipped || st.Remark != remark {
			t.Errorf("%s: report %d %q, state %d %q", when, r.Skipped, r.Remark, st.Skipped, st.Remark)
		}
	}
	const why = "b.md: not read: it has no number"
	says("the first run", f.run("first", source), 1, why)
	says("an unchanged one", f.run("first", source), 1, why)
	failed, _ := f.try("first", connector(failing))
	says("a failed one", failed, 1, why)
	says("again", f.run("first", source), 1, why)
	if err := f.store.SetSource(t.Context(), f.state("first")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Apply(t.Context(), catalog.Batch{Source: "first", Cursor: new("")}); err != nil {
		t.Fatal(err)
	}
	bad = false
	says("one that looks", f.run("first", source), 0, "")
}

// TestASourceWithoutRecordsIsNeverOK: unless it has none of its own but prices.
func TestASourceWithoutRecordsIsNeverOK(t *testing.T) {
	f := setup(t)
	for name, tt := range map[string]struct {
		connector
		want   string
		unread bool
	}{
		"nothing": {listing(), "no records", false},
		"files, none of which is read": {func(_ context.Context, _ string, out ingest.Sink) (outcome, error) {
			out.Skip("a.txt", ingest.ErrNoItem)
			return outcome{Complete: true}, nil
		}, "no records; a.txt: not read", true},
		"a bad record": {listing(catalog.Entry{Record: catalog.Record{Kind: "odd", Key: "a"}}),
			`no records; odd a: has an unknown kind "odd"`, true},
		"a price": {func(_ context.Context, _ string, out ingest.Sink) (outcome, error) {
			out.Snapshot(catalog.Snapshot{Series: "price", CapturedAt: f.clock.now(), Data: []byte("{}")})
			return outcome{}, nil
		}, "ok", false},
		"a record":                   {listing(page("a")), "ok", false},
		"a record of another source": {listing(page("a")), "ok", false},
	} {
		r := f.run(name, tt.connector)
		if got := r.Verdict(); got != tt.want || f.state(name).Unread() != tt.unread {
			t.Errorf("%s: %q, %+v", name, got, f.state(name))
		}
	}
}

func TestTheFirstSourceOwnsWhatSeveralYield(t *testing.T) {
	f := setup(t)
	other := page("a")
	other.Record.Title, other.Record.Body = "Another", "Names NSP-9."
	other.Aliases = []string{"alpha"}
	f.config.Connectors = fake(func(src network.Source, _ ingest.Environment) (ingest.Connector[[]byte],
		error) {
		if src.Name == "first" {
			return listing(page("a")), nil
		}
		return listing(other, page("b")), nil
	})
	reports, err := ingest.New(f.config).Sync(t.Context(), nil)
	if err != nil || len(reports) != 2 || reports[0].Source != "first" || reports[1].Foreign != 1 ||
		reports[1].Created != 1 {
		t.Fatalf("error %v, reports %+v", err, reports)
	}
	got := f.get(catalog.KindDoc, "alpha")
	if got.Title != "Page a" || got.Source != "first" {
		t.Errorf("record %+v", got)
	}
	links, err := f.store.LinksTo(t.Context(), catalog.Ref{Kind: catalog.KindCIP, Key: "NSP-0009"})
	if err != nil || len(links) != 1 || links[0].From != got.ID {
		t.Errorf("links %+v, error %v", links, err)
	}
}

func TestBatchesAreBounded(t *testing.T) {
	f := setup(t)
	f.run("first", listing(pages(0, 1201)...))
	var sizes []int
	for i, b := range f.store.batches {
		sizes = append(sizes, len(b.Entries))
		if last := i == len(f.store.batches)-1; (b.Cursor != nil) != last {
			t.Errorf("batch %d of %d has cursor %v", i, len(f.store.batches), b.Cursor)
		}
	}
	if !slices.Equal(sizes, []int{500, 500, 201}) {
		t.Errorf("batches of %v entries", sizes)
	}
	f.store.batches = nil
	var large []catalog.Entry
	for _, e := range pages(0, 5) {
		e.Record.Body = strings.Repeat("tide ", 300_000)
		large = append(large, e)
	}
	f.run("second", listing(slices.Concat(large, pages(2000, 2001))...))
	if n := len(f.store.batches); n != 2 {
		t.Errorf("7.5 MB were written in %d batches", n)
	}
}

func TestCursorMovesWithTheLastWriteOnly(t *testing.T) {
	broken := errors.New("disk full")
	t.Run("a failing last batch leaves it", func(t *testing.T) {
		f := setup(t)
		f.run("first", listing(page("a")))
		f.store.fail = func(b catalog.Batch) error {
			if b.Cursor != nil {
				return broken
			}
			return nil
		}
		if _, err := f.try("first", listing(pages(0, 600)...)); !errors.Is(err, broken) {
			t.Fatalf("error %v", err)
		}
		f.store.fail = nil
		if got := f.cursorOf("first"); got != "after 1" {
			t.Errorf("the cursor is %q", got)
		}
		if n := len(f.keys("first")); n != 501 { // the first batch was written, and nothing was removed
			t.Errorf("%d records", n)
		}
	})
	t.Run("a failing connector keeps what it yielded", func(t *testing.T) {
		f := setup(t)
		report, err := f.try("first", connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome,
			error) {
			if err := out.Put(ctx, page("a")); err != nil {
				return outcome{}, err
			}
			return outcome{Cursor: "never", Complete: true}, broken
		}))
		if !errors.Is(err, broken) || report.Err != err || report.Created != 1 {
			t.Fatalf("error %v, report %+v", err, report)
		}
		if s := f.state("first"); !strings.Contains(s.Error, "disk full") || !s.LastSuccess.IsZero() ||
			s.LastRun.IsZero() {
			t.Errorf("state %+v", s)
		}
		if got := f.cursorOf("first"); got != "" {
			t.Errorf("the cursor is %q", got)
		}
	})
}

func TestCancelledRunStopsAndReportsIt(t *testing.T) {
	f := setup(t)
	f.run("first", listing(pages(0, 3)...))
	ctx, cancel := context.WithCancel(t.Context())
	report := f.with(
		connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
			if err := out.Put(ctx, page("new")); err != nil {
				t.Error(err)
			}
			cancel()
			err := out.Put(ctx, page("newer"))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Put after the end: %v", err)
			}
			return outcome{Cursor: "x", Complete: true}, nil // a careless connector
		})).Run(ctx, network.Source{Name: "first", Kind: "fake"})
	if !errors.Is(report.Err, context.Canceled) || report.Deleted != 0 {
		t.Errorf("report %+v", report)
	}
	if got := f.keys("first"); len(got) != 3 {
		t.Errorf("records %v", got)
	}
	if s := f.state("first"); s.Error != "interrupted" {
		t.Errorf("state %+v", s)
	}
}

func TestCancelledRunFailsEvenWithNothingToWrite(t *testing.T) {
	f := setup(t)
	f.run("first", listing(page("a")))
	f.clock.advance(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	err := f.with(
		connector(func(_ context.Context, cursor string, _ ingest.Sink) (outcome, error) {
			cancel()
			return outcome{Cursor: cursor}, nil
		})).Run(ctx, network.Source{Name: "first", Kind: "fake"}).Err
	if s := f.state("first"); !errors.Is(err, context.Canceled) || s.LastSuccess.Equal(s.LastRun) {
		t.Errorf("error %v, state %+v", err, s)
	}
}

func TestPanickingConnectorIsAnError(t *testing.T) {
	f := setup(t)
	_, err := f.try("first", connector(func(context.Context, string, ingest.Sink) (outcome, error) {
		panic("no such page")
	}))
	if err == nil || !strings.Contains(err.Error(), "source first: the connector panicked: no such page") {
		t.Errorf("error %v", err)
	}
	if s := f.state("first"); s.Error == "" {
		t.Errorf("state %+v", s)
	}
}

func TestAnItemTheStoreRejectsDoesNotStopTheRest(t *testing.T) {
	f := setup(t)
	f.store.fail = func(b catalog.Batch) error {
		for _, e := range b.Entries {
			if e.Record.Key == "p0033" {
				return fmt.Errorf("doc p0033: %w", catalog.ErrConflict)
			}
		}
		return nil
	}
	report := f.run("first", listing(pages(0, 100)...))
	if report.Created != 99 || report.Skipped != 1 || report.Problems[0].Locator != "pages/p0033.md" {
		t.Errorf("report %+v", report)
	}
	if got := f.cursorOf("first"); got != "after 100" {
		t.Errorf("cursor %q", got)
	}
}

func TestNoMailAddressReachesTheCatalog(t *testing.T) {
	f := setup(t)
	const secret = "jane@site.org"
	e := catalog.Entry{
		Record: catalog.Record{
			Kind: catalog.KindMailThread, Key: "general-1", Title: "Ask " + secret,
			Body:    "Mail " + secret + " about NSP-7.",
			Summary: "By " + secret, Author: "Jane <" + secret + ">",
			Data: json.RawMessage(`{"messages":1,"participants":["` + secret + `"],"proposals":[]}`),
		},
		Links: []catalog.Link{{Relation: catalog.Cites, To: catalog.Ref{Kind: catalog.KindCIP, Key: "NSP-0008"},
			Snippet: secret + " cites"}},
		Votes: []catalog.Vote{{Voter: secret, Choice: "in_favour", Reason: "see " + secret, CastAt: f.clock.now()}},
	}
	ref := e.Record.Ref()
	f.run("first", connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
		if err := out.Events(ctx, []catalog.Event{
			{Ref: ref, Field: "status", At: f.clock.now(), To: "Draft", Subject: "by " + secret},
			{Ref: ref, Field: "status", To: "Final"},
		}); err != nil {
			return outcome{}, err
		}
		out.Warn("x", "odd: "+secret)
		return outcome{Complete: true}, out.Put(ctx, e)
	}))
	facts := &catalog.Facts{Data: json.RawMessage(`{"messages":2,"participants":["` + secret + `"]}`)}
	f.run("second", listing(catalog.Entry{Record: e.Record, Facts: facts, Addition: true}))
	r := f.get(ref.Kind, ref.Key)
	if !strings.Contains(string(r.Data), `"messages":2`) || !strings.Contains(string(facts.Data), secret) {
		t.Fatalf("data %s with the facts %s", r.Data, facts.Data)
	}
	links, err := f.store.LinksFrom(t.Context(), r.ID)
	if err != nil || len(links) != 2 {
		t.Fatalf("links %v, %v", links, err)
	}
	votes, err := f.store.VotesOn(t.Context(), r.ID)
	if err != nil || len(votes) != 1 || !strings.HasPrefix(votes[0].Voter, "member-") {
		t.Fatalf("votes %v, %v", votes, err)
	}
	events, err := f.store.Events(t.Context(), catalog.EventQuery{Ref: ref})
	if err != nil || len(events) != 1 { // the one without a date is dropped
		t.Fatalf("events %v, %v", events, err)
	}
	if r.Author != "Jane" {
		t.Errorf("author %q", r.Author)
	}
	all := fmt.Sprintf("%v %s %v %v %v", r, r.Data, links, votes, events)
	if strings.Contains(all, "@") {
		t.Errorf("an address remains in %s", all)
	}
}

// TestNothingInvisibleReachesTheCatalog: wherever a source writes it.
func TestNothingInvisibleReachesTheCatalog(t *testing.T) {
	f := setup(t)
	const secret = "\u202e\U000e0049\U000e0047\u200b"
	e := catalog.Entry{
		Record: catalog.Record{
			Kind: catalog.KindMailThread, Key: "general-1", Title: "Fees" + secret, Body: "They rise." + secret,
			Summary: secret + "By", Author: "Jane" + secret, URL: "https://lists.example/" + secret, Path: "a" + secret,
			Container: "general" + secret, Tags: []string{"label:a" + secret},
			Data: json.RawMessage(`{"messages":1,"participants":["J` + secret + `","\u202eK"],"proposals":[]}`),
		},
		Aliases: []string{"b" + secret},
		Links: []catalog.Link{{Relation: catalog.Cites,
			To:      catalog.Ref{Kind: catalog.KindCIP, Key: "NSP-0008" + secret},
			Snippet: "cites" + secret}},
		Votes: []catalog.Vote{{Voter: "V" + secret, Choice: "in_favour", Reason: "why" + secret,
			CastAt: f.clock.now()}},
	}
	ref := e.Record.Ref()
	report := f.run("first", connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
		if err := out.Events(ctx, []catalog.Event{{Ref: ref, Field: "status", At: f.clock.now(), To: "Draft",
			RawTo: "draft" + secret, Subject: "made" + secret}}); err != nil {
			return outcome{}, err
		}
		out.Warn("x"+secret, "odd: "+secret)
		out.Snapshot(catalog.Snapshot{Series: "market", CapturedAt: f.clock.now(),
			Data: json.RawMessage(`{"a":"b` + secret + `"}`)})
		hidden := e
		hidden.Record.Key, hidden.Record.Path = "general-2"+secret, "b"
		if err := out.Put(ctx, hidden); err != nil {
			return outcome{}, err
		}
		return outcome{Complete: true}, out.Put(ctx, e)
	}))
	if report.Skipped != 1 || report.Created != 1 {
		t.Fatalf("report %+v", report)
	}
	known := e
	known.Addition, known.Facts = true, &catalog.Facts{State: "open" + secret, Category: "c" + secret,
		Tags: []string{"label:b" + secret}, Data: json.RawMessage(`{"participants":["L` + secret + `"]}`)}
	if f.run("second", listing(known)); f.get(ref.Kind, ref.Key).State != "open" {
		t.Fatalf("state %q", f.get(ref.Kind, ref.Key).State)
	}
	r := f.get(ref.Kind, ref.Key)
	links, err := f.store.LinksFrom(t.Context(), r.ID)
	votes, votesErr := f.store.VotesOn(t.Context(), r.ID)
	events, eventsErr := f.store.Events(t.Context(), catalog.EventQuery{Ref: ref})
	snapshots, snapshotsErr := f.store.Snapshots(t.Context(), "market", 1)
	aliased, aliasErr := f.store.Get(t.Context(), catalog.Ref{Kind: ref.Kind, Key: "b"})
	if err := errors.Join(err, votesErr, eventsErr, snapshotsErr, aliasErr); err != nil || len(links)*len(votes)*
		len(events)*len(snapshots) != 1 || aliased.ID != r.ID || r.Title != "Fees" {
		t.Fatalf("%v: %v %v %v %v", err, links, votes, events, snapshots)
	}
	all := fmt.Sprintf("%v %s %v %v %v %s %v", r, r.Data, links, votes, events, snapshots[0].Data, report.Problems)
	if strings.ContainsFunc(all, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) ||
		strings.Contains(all, `\u`) {
		t.Errorf("something hides in %+q", all)
	}
}

func TestSyncRunsChosenSources(t *testing.T) {
	f := setup(t)
	var order []string
	f.config.WorkDir = t.TempDir()
	f.config.Connectors = fake(func(src network.Source, env ingest.Environment) (ingest.Connector[[]byte],
		error) {
		order = append(order, src.Name)
		if !strings.HasSuffix(env.WorkDir, src.Name) || env.Pseudonym("a@b.example") == "" ||
			env.Network.Name != "north-sea" {
			t.Errorf("environment %+v", env)
		}
		if src.Name == "first" {
			return nil, errors.New("no options")
		}
		return listing(page("b")), nil
	})
	p := ingest.New(f.config)
	t.Run("in the network's order, the next after a failing one", func(t *testing.T) {
		order = nil
		reports, err := p.Sync(t.Context(), []string{"second", "first"})
		if !slices.Equal(order, []string{"first", "second"}) || len(reports) != 2 {
			t.Fatalf("order %v, reports %+v", order, reports)
		}
		if err == nil || err.Error() != "ingest: source first: no options" || reports[0].Err == nil ||
			reports[1].Err != nil {
			t.Errorf("error %v", err)
		}
		if s := f.state("first"); !strings.Contains(s.Error, "no options") {
			t.Errorf("state %+v", s)
		}
	})
	t.Run("only those named", func(t *testing.T) {
		order = nil
		if _, err := p.Sync(t.Context(), []string{"second", "second"}); err != nil ||
			!slices.Equal(order, []string{"second"}) {
			t.Errorf("order %v, error %v", order, err)
		}
	})
	t.Run("an unknown name runs nothing and lists the known ones", func(t *testing.T) {
		order = nil
		_, err := p.Sync(t.Context(), []string{"second", "third"})
		if !errors.Is(err, ingest.ErrUnknownSource) ||
			!strings.Contains(err.Error(), `"third": network north-sea has first, second`) || order != nil {
			t.Errorf("order %v, error %v", order, err)
		}
	})
}

// A source may know more than its present. What it says of times before the
// run is kept for each of them, also where nothing had changed.
func TestSnapshotsOfThePastAreStoredAsTheyAre(t *testing.T) {
	f := setup(t)
	now := f.clock.now()
	f.run("first", connector(func(_ context.Context, _ string, out ingest.Sink) (outcome, error) {
		for hours := 3; hours >= 0; hours-- {
			at := now.Add(-time.Hour * time.Duration(hours))
			out.Snapshot(catalog.Snapshot{Series: catalog.SeriesMarket, CapturedAt: at,
				Data: []byte(`{"price_usd":1}`)})
		}
		return outcome{}, nil
	}))
	list, err := f.store.Snapshots(t.Context(), catalog.SeriesMarket, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || !list[0].CapturedAt.Equal(now.Add(-time.Hour)) {
		t.Errorf("%d snapshots, want the three of the past: the present says what the last of them does", len(list))
	}
}

func TestSnapshotsAreStoredWithTheRunThatTookThem(t *testing.T) {
	f := setup(t)
	run := func(data string, end error) {
		t.Helper()
		f.clock.advance(time.Minute)
		_, err := f.try("first", connector(func(_ context.Context, _ string, out ingest.Sink) (outcome, error) {
			out.Snapshot(catalog.Snapshot{Series: catalog.SeriesMarket, CapturedAt: f.clock.now(), Data: []byte(data)})
			return outcome{}, end
		}))
		if (err != nil) != (end != nil) {
			t.Fatal(err)
		}
	}
	run(`{"price_usd":1}`, nil)
	run(`{"price_usd":1}`, nil)
	run(`{"price_usd":2}`, nil)
	run(`{"price_usd":3}`, errors.New("broke off"))
	list, err := f.store.Snapshots(t.Context(), catalog.SeriesMarket, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		got = append(got, string(s.Data))
	}
	if want := []string{`{"price_usd":2}`, `{"price_usd":1}`}; !slices.Equal(got, want) {
		t.Errorf("snapshots %v, want %v", got, want)
	}
}

// noSnapshots is a store that cannot read, or cannot write, the state of a series.
type noSnapshots struct {
	*spy
	read, write error
}

func (s noSnapshots) Snapshots(ctx context.Context, series string, limit int) ([]catalog.Snapshot, error) {
	if s.read != nil {
		return nil, s.read
	}
	return s.spy.Snapshots(ctx, series, limit)
}

func (s noSnapshots) PutSnapshot(ctx context.Context, snapshot catalog.Snapshot) error {
	if s.write != nil {
		return s.write
	}
	return s.spy.PutSnapshot(ctx, snapshot)
}

// TestASnapshotThatIsNotStoredFailsTheRun: else nobody would know of the gap. Records that
// were written before stay.
func TestASnapshotThatIsNotStoredFailsTheRun(t *testing.T) {
	full := errors.New("disk full")
	for name, broken := range map[string]noSnapshots{"read": {read: full}, "write": {write: full}} {
		f := setup(t)
		broken.spy = f.store
		f.config.Store = broken
		_, err := f.try("first", connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
			out.Snapshot(catalog.Snapshot{Series: catalog.SeriesMarket, CapturedAt: f.clock.now(),
				Data: []byte(`{"price_usd":1}`)})
			return outcome{}, out.Put(ctx, page("a"))
		}))
		if !errors.Is(err, full) || !strings.Contains(err.Error(), catalog.SeriesMarket) {
			t.Errorf("%s: error %v", name, err)
		}
		if s := f.state("first"); !strings.Contains(s.Error, full.Error()) {
			t.Errorf("%s: state %+v", name, s)
		}
		if keys := f.keys("first"); !slices.Equal(keys, []string{"a"}) {
			t.Errorf("%s: records %q", name, keys)
		}
	}
}

// told is a Progress that notes what it is told.
type told struct{ lines []string }

func (p *told) Start(source string) { p.lines = append(p.lines, "start "+source) }

func (p *told) Progress(source string, done, total int) {
	p.lines = append(p.lines, fmt.Sprint(source, " ", done, "/", total))
}

func (p *told) Done(r ingest.Report) {
	p.lines = append(p.lines, fmt.Sprint("done ", r.Source, " ", r.Created))
}

// TestProgressIsThatOfItsSource: people watch several runs at once.
func TestProgressIsThatOfItsSource(t *testing.T) {
	f := setup(t)
	p := &told{}
	f.config.Progress = p
	for i, source := range []string{"first", "second"} {
		f.run(source, connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
			out.Progress(i, 2)
			err := out.Put(ctx, page(source))
			out.Progress(i+1, 0)
			return outcome{Complete: true}, err
		}))
	}
	want := []string{"start first", "first 0/2", "first 1/0", "done first 1",
		"start second", "second 1/2", "second 2/0", "done second 1"}
	if !slices.Equal(p.lines, want) {
		t.Errorf("%q", p.lines)
	}
}
