package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/postgres"
	"almanac/testing/postgrestest"
	"almanac/testing/wait"
)

func write(s *postgres.Store, key string) error {
	_, err := s.Apply(context.Background(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{
		{Record: catalog.Record{Kind: catalog.KindDoc, Key: key, Title: key}}}})
	return err
}

// TestOneWritesUntilItGivesWay holds that a lock is one process's, and that the next has
// it as soon as the first gives it up.
func TestOneWritesUntilItGivesWay(t *testing.T) {
	address := postgrestest.Database(t)
	first, second := open(t, address), open(t, address)
	lock, err := first.TryLock(t.Context())
	if err != nil || lock == nil {
		t.Fatalf("%v, %v", lock, err)
	}
	if other, err := second.TryLock(t.Context()); err != nil || other != nil {
		t.Fatalf("the second has it too: %v, %v", other, err)
	}
	for range 2 {
		if err := lock.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	other, err := second.TryLock(t.Context())
	if err != nil || other == nil {
		t.Fatalf("it was given up: %v, %v", other, err)
	}
	if err := write(first, "late"); !errors.Is(err, catalog.ErrOvertaken) {
		t.Errorf("a write of the first: %v", err)
	}
	if err := first.SetMeta(t.Context(), "what readers write", "passes"); err != nil {
		t.Error(err)
	}
	if err := write(second, "new"); err != nil {
		t.Error(err)
	}
	if err := other.Unlock(); err != nil {
		t.Error(err)
	}
}

// TestAnOvertakenWriterIsRefused lets a lease run out that nobody prolongs, as that of a
// process that was stopped: what it writes afterwards, also in a transaction that began
// before, is refused or was committed before the next took over.
func TestAnOvertakenWriterIsRefused(t *testing.T) {
	address := postgrestest.Database(t)
	first, second := open(t, address), open(t, address)
	if ok, err := first.Take(t.Context(), 50*time.Millisecond); err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	if err := write(first, "in time"); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the lease runs out", func() bool {
		ok, err := second.Take(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	})
	if err := write(first, "late"); !errors.Is(err, catalog.ErrOvertaken) {
		t.Errorf("a write of the first: %v", err)
	}
	if err := first.PutSnapshot(t.Context(), catalog.Snapshot{Series: "tides", CapturedAt: time.Now(),
		Data: []byte(`{}`)}); !errors.Is(err, catalog.ErrOvertaken) {
		t.Errorf("a snapshot of the first: %v", err)
	}
	_, err := second.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: "late"})
	if !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("the late write: %v", err)
	}
	if err := write(second, "new"); err != nil {
		t.Error(err)
	}
}

// TestNobodyWritesBesideTheWriter writes from a process that never had the lease, while
// another holds it and afterwards.
func TestNobodyWritesBesideTheWriter(t *testing.T) {
	address := postgrestest.Database(t)
	server, command := open(t, address), open(t, address)
	lock, err := server.TryLock(t.Context())
	if err != nil || lock == nil {
		t.Fatalf("%v, %v", lock, err)
	}
	if err := write(command, "beside"); !errors.Is(err, catalog.ErrNotWriter) {
		t.Errorf("beside the writer: %v", err)
	}
	id, err := command.Enqueue(t.Context(), catalog.Request{Kind: "sync", By: "pilot"})
	if err != nil {
		t.Errorf("asking the writer: %v", err)
	}
	if err := command.StartRequest(t.Context(), id); !errors.Is(err, catalog.ErrNotWriter) {
		t.Errorf("doing it itself: %v", err)
	}
	if err := errors.Join(server.StartRequest(t.Context(), id), lock.Unlock(), write(command, "alone")); err != nil {
		t.Error(err)
	}
}

// TestAJobOfAnOvertakenWriterIsTheNextOnes holds that what a process began is begun again by
// the one that took over, and that the first ends nothing.
func TestAJobOfAnOvertakenWriterIsTheNextOnes(t *testing.T) {
	address := postgrestest.Database(t)
	first, second := open(t, address), open(t, address)
	if ok, err := first.Take(t.Context(), 0); err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	id, err := first.Enqueue(t.Context(), catalog.Request{Kind: "sync", By: "pilot"})
	if err := errors.Join(err, first.StartRequest(t.Context(), id)); err != nil {
		t.Fatal(err)
	}
	if ok, err := second.Take(t.Context(), time.Minute); err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	if err := second.StartRequest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	_, progress := first.ProgressRequest(t.Context(), id, 1, 2)
	for _, err := range []error{progress, first.FinishRequest(t.Context(), id, "", "")} {
		if !errors.Is(err, catalog.ErrOvertaken) {
			t.Errorf("the first goes on: %v", err)
		}
	}
	if r, err := first.Job(t.Context(), id); err != nil || r.Attempts != 2 || r.State() != "running" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestReadersSayWhatTheyServe counts those that serve another generation, as long as they
// say so.
func TestReadersSayWhatTheyServe(t *testing.T) {
	address := postgrestest.Database(t)
	writer, reader := open(t, address), open(t, address)
	elsewhere := func(want int) {
		t.Helper()
		if n, err := writer.Elsewhere(t.Context(), 2); err != nil || n != want {
			t.Errorf("%d serve another generation, want %d, %v", n, want, err)
		}
	}
	elsewhere(0)
	for generation, want := range map[int64]int{1: 1, 2: 0} {
		if err := reader.Attend(t.Context(), generation); err != nil {
			t.Fatal(err)
		}
		elsewhere(want)
	}
	if err := reader.Attend(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	postgrestest.Run(t, address, `UPDATE readers SET seen_at = 0`)
	elsewhere(0)
}

// TestALostLeaseIsNoticed takes a lease away from its holder.
func TestALostLeaseIsNoticed(t *testing.T) {
	address := postgrestest.Database(t)
	s := open(t, address)
	s.Term(300 * time.Millisecond)
	lock, err := s.TryLock(t.Context())
	if err != nil || lock == nil {
		t.Fatalf("%v, %v", lock, err)
	}
	postgrestest.Run(t, address, `UPDATE leases SET epoch = epoch + 1, holder = 'another'`)
	<-lock.Lost()
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}

// TestATransactionLeftOpenHoldsUpNobody begins a write and leaves it, as a process does
// that is stopped.
func TestATransactionLeftOpenHoldsUpNobody(t *testing.T) {
	address := postgrestest.Database(t)
	first, second := open(t, address), open(t, address)
	tx, err := first.Begin(t.Context(), first.Writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(second, "next"); err != nil { // when the server has ended the other
		t.Error(err)
	}
	if tx.Commit() == nil {
		t.Error("the transaction was not ended")
	}
}
