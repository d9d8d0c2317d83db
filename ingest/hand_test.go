package ingest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
)

// reading is a source of two texts: the first does to its reader what read does.
type reading struct {
	env  ingest.Environment
	text string
	read func()
}

func (c reading) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	if cursor == c.text {
		return ingest.Outcome{Cursor: cursor}, nil
	}
	for i, text := range []string{c.text, strings.Repeat("All is well. ", 9000)} {
		key := "ab"[i : i+1]
		if err := c.env.Hand.Take([]byte(text)); err != nil {
			out.Skip("pages/"+key+".md", err)
			continue
		}
		if key == "a" {
			c.read()
		}
		if err := out.Put(ctx, page(key)); err != nil {
			return ingest.Outcome{}, err
		}
	}
	return ingest.Outcome{Cursor: c.text, Complete: true}, nil
}

var deadly = strings.Repeat("Nobody reads this to its end. ", 4000)

// connect makes the connectors of the fixture's sources.
func (f *fixture) connect(connector func(ingest.Environment) ingest.Cursored) {
	f.config.Connectors = fake(func(_ network.Source, env ingest.Environment) (
		ingest.Cursored, error,
	) {
		return connector(env), nil
	})
}

// reads makes the fixture's first source a reading with a working directory.
func (f *fixture) reads(dir, text string, read func()) (ingest.Report, error) {
	f.config.WorkDir = dir
	f.connect(func(env ingest.Environment) ingest.Cursored {
		return reading{env, text, read}
	})
	reports, err := ingest.New(f.config).Sync(f.Context(), []string{"first"})
	return reports[0], err
}

// marks are what a run left in hand.
func marks(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "first", "in-hand", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestWhatARunWasKilledOverIsSkippedByTheNext(t *testing.T) {
	if dir := os.Getenv("KILLED_IN"); dir != "" {
		_, err := setup(t).reads(dir, deadly, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		t.Fatal("still alive", err)
	}
	dir, f := t.TempDir(), setup(t)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "KILLED_IN="+dir, "TMPDIR="+t.TempDir()) // what it leaves goes with this
	if out, err := child.CombinedOutput(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("%v: %s", err, out)
	}
	never := func() { t.Error("the text is read again") }
	for _, problems := range []int{1, 0} { // the second finds the source unchanged
		report, err := f.reads(dir, deadly, never)
		if err != nil {
			t.Fatal(err)
		}
		if f.get(catalog.KindDoc, "b"); report.Skipped != 1 || len(report.Problems) != problems ||
			!strings.HasPrefix(report.Remark, "pages/a.md: a run ended while it was read") {
			t.Errorf("%+v", report)
		}
	}
	again := 0
	if _, err := f.reads(dir, deadly+"Changed.", func() { again++ }); err != nil || again != 1 {
		t.Errorf("after a change it is read %d times: %v", again, err)
	}
	if left := marks(t, dir); len(left) != 1 {
		t.Errorf("marks: %q", left)
	}
}

// TestAnotherProgramTriesAgain: the source is where it was, but the program is not.
func TestAnotherProgramTriesAgain(t *testing.T) {
	dir, f := t.TempDir(), setup(t)
	if _, err := f.reads(dir, deadly, func() { panic("no end") }); err == nil {
		t.Fatal("a panic is no error")
	}
	if report, err := f.reads(dir, deadly, func() { t.Error("read again") }); err != nil || report.Skipped != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	cursor := f.state("first").Cursor
	at := strings.Index(cursor, "left-out-by:")
	if at < 0 {
		t.Fatalf("the cursor does not say who left it out: %.80s", cursor)
	}
	at += len("left-out-by:")
	other := cursor[:at] + "another" + cursor[strings.Index(cursor[at:], " ")+at:]
	if _, err := f.store.Apply(t.Context(), catalog.Batch{Source: "first", Cursor: &other}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(marks(t, dir)[0], filepath.Join(dir, "first", "in-hand", "of-another")); err != nil {
		t.Fatal(err)
	}
	read := 0
	if report, err := f.reads(dir, deadly, func() { read++ }); err != nil || read != 1 || report.Skipped != 0 {
		t.Errorf("read %d times, %+v, %v", read, report, err)
	}
	if got := f.state("first").Cursor; strings.Contains(got, "left-out-by:") {
		t.Errorf("the cursor still says that something is left out: %.80s", got)
	}
}

func TestAnInterruptionLeavesNothingInHand(t *testing.T) {
	dir, f := t.TempDir(), setup(t)
	ctx, interrupt := context.WithCancel(t.Context())
	f.config.WorkDir = dir
	during := -1
	f.connect(func(env ingest.Environment) ingest.Cursored {
		return connector(func(ctx context.Context, _ string, _ ingest.Sink) (ingest.Outcome, error) {
			if err := env.Hand.Take([]byte(deadly)); err != nil {
				return ingest.Outcome{}, err
			}
			during = len(marks(t, dir))
			interrupt()
			return ingest.Outcome{}, ctx.Err()
		})
	})
	if _, err := ingest.New(f.config).Sync(ctx, []string{"first"}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if left := marks(t, dir); during != 1 || len(left) != 0 {
		t.Errorf("%d marks while it was read, left: %q", during, left)
	}
}
