package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"almanac/catalog"
	"almanac/catalog/migrations"
	"almanac/catalog/postgres"
	"almanac/testing/postgrestest"
)

// TestWhatIsWrongIsOneSentence opens what cannot be opened. Nothing says a password.
func TestWhatIsWrongIsOneSentence(t *testing.T) {
	foreign, newer, former := postgrestest.Database(t), postgrestest.Database(t), postgrestest.Database(t)
	_, known := migrations.Versions(migrations.PostgreSQL())
	postgrestest.Run(t, foreign, `CREATE TABLE invoices (id BIGINT)`)
	if err := errors.Join(open(t, newer).Close(), open(t, former).Close()); err != nil {
		t.Fatal(err)
	}
	postgrestest.Run(t, newer, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true);
UPDATE meta SET value = '99' WHERE name = 'schema.oldest'`)
	postgrestest.Run(t, former, `UPDATE goose_db_version SET version_id = 1 WHERE version_id > 1`)
	absent := strings.Replace(postgrestest.Database(t), "/almanac", "/wreck", 1)
	for address, want := range map[string]string{
		"postgres://buoy:tide-secret@127.0.0.1:1/charts":     "refused: is the database running, and is its address right?",
		"postgres://buoy:tide-secret@harbour.example:x/tide": "catalog.url: cannot parse",
		absent:  "does not exist: is the database running",
		foreign: "holds another program's tables",
		former:  "has schema 1, from before almanac 0.2.0",
		newer: fmt.Sprintf("has schema 99, this program supports %d: it was written by a newer version, run that one",
			known),
	} {
		_, err := postgres.Open(t.Context(), postgres.Config{URL: address})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") ||
			strings.Contains(err.Error(), "tide-secret") || strings.Contains(err.Error(), "buoy@") {
			t.Errorf("%s:\n%v, want\n… %s", address, err, want)
		}
	}
	got := postgres.Name("postgres://buoy:tide-secret@127.0.0.1:1/charts")
	if got != "the PostgreSQL database charts on 127.0.0.1" {
		t.Error(got)
	}
}

// TestACheckComparesTexts: what somebody changes in the database is a wrong answer.
func TestACheckComparesTexts(t *testing.T) {
	address := postgrestest.Database(t)
	s := open(t, address)
	g, err := s.OpenGeneration(t.Context(), "a")
	if err == nil {
		err = s.PutPassages(t.Context(), g.ID, catalog.IndexBatch{Checkpoint: 1, Records: []catalog.RecordPassages{
			{Record: 1, Document: "\x00\xff", Passages: []catalog.Passage{{ID: 7, Text: "nine of the thirteen"}}}}})
	}
	if err = errors.Join(err, s.Close(), postgres.Check(t.Context(), address)); err != nil {
		t.Fatal(err)
	}
	postgrestest.Run(t, address, `UPDATE passages SET text = 'four of the thirteen'`)
	if err := postgres.Check(t.Context(), address); err == nil || !strings.Contains(err.Error(), "passage 7 is not as it was") {
		t.Errorf("a changed passage: %v", err)
	}
}

// TestTheSchemaIsReadAndNotMade holds that who asks for it changes nothing.
func TestTheSchemaIsReadAndNotMade(t *testing.T) {
	address := postgrestest.Database(t)
	_, known := migrations.Versions(migrations.PostgreSQL())
	has := func(want int64) {
		t.Helper()
		if has, newest, err := postgres.Schema(t.Context(), address); err != nil || has != want || newest != known {
			t.Errorf("schema %d of %d, want %d, %v", has, newest, want, err)
		}
	}
	has(0)
	has(0)
	open(t, address)
	has(known)
}

// TestAnOlderProgramGoesOnWithWhatWasOnlyAdded has a newer program migrate the database
// under this one, first so that this can go on, then so that it must not.
func TestAnOlderProgramGoesOnWithWhatWasOnlyAdded(t *testing.T) {
	address := postgrestest.Database(t)
	running := open(t, address)
	postgrestest.Run(t, address, `ALTER TABLE records ADD COLUMN draught BIGINT NOT NULL DEFAULT 0;
INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)`)
	for _, s := range []*postgres.Store{running, open(t, address)} {
		if err := errors.Join(s.Fits(t.Context()), write(s, "tides")); err != nil {
			t.Error(err)
		}
		if r, err := s.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: "tides"}); err != nil || r.Title != "tides" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	postgrestest.Run(t, address, `UPDATE meta SET value = '99' WHERE name = 'schema.oldest'`)
	if err := running.Fits(t.Context()); err == nil || !strings.Contains(err.Error(), "run that one") {
		t.Errorf("it goes on: %v", err)
	}
}

// TestManyOpenAtOnce has several processes make the tables of one database.
func TestManyOpenAtOnce(t *testing.T) {
	address := postgrestest.Database(t)
	var opening sync.WaitGroup
	for range 4 {
		opening.Go(func() {
			s, err := postgres.Open(t.Context(), postgres.Config{URL: address})
			if err == nil {
				err = errors.Join(s.SetMeta(t.Context(), "opened", "yes"), s.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
}

// TestASecondWriterWaitsUntilItsContextEnds holds the row that writers lock.
func TestASecondWriterWaitsUntilItsContextEnds(t *testing.T) {
	address := postgrestest.Database(t)
	s := open(t, address)
	release := postgrestest.Hold(t, address, `SELECT name FROM writers FOR UPDATE`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.SetMeta(ctx, "tide", "low") }()
	if value, err := s.Meta(t.Context(), "tide"); err != nil || value != "" {
		t.Errorf("reading meanwhile: %q, %v", value, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the second writer: %v", err)
	}
	release()
	if err := s.SetMeta(t.Context(), "tide", "high"); err != nil {
		t.Error(err)
	}
}

// TestChangesAreNumberedAsTheyAreCommitted follows the log while several processes
// write: whoever looks at what came after the last number that it saw misses nothing.
func TestChangesAreNumberedAsTheyAreCommitted(t *testing.T) {
	address := postgrestest.Database(t)
	follower := open(t, address)
	const writers, batches = 4, 25
	var writing sync.WaitGroup
	for w := range writers {
		s := open(t, address)
		writing.Go(func() {
			for b := range batches {
				key := fmt.Sprintf("%d/%d", w, b)
				_, err := s.Apply(t.Context(), catalog.Batch{Source: fmt.Sprint("docs", w), Entries: []catalog.Entry{
					{Record: catalog.Record{Kind: catalog.KindDoc, Key: key, Title: key}}}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	var seen []int64
	for last, end := int64(0), false; !end; {
		select {
		case <-done:
			end = true // one more look
		default:
		}
		list, err := follower.Changes(t.Context(), last, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			seen, last = append(seen, c.Record), c.Seq
		}
	}
	slices.Sort(seen)
	if len(seen) != writers*batches || len(slices.Compact(seen)) != writers*batches {
		t.Errorf("%d records seen of %d", len(slices.Compact(seen)), writers*batches)
	}
}
