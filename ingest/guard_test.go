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
	text string
	read func()
}

func (c reading) sync(ctx context.Context, cursor string, out ingest.Sink) (outcome, error) {
	if cursor == c.text {
		return outcome{Cursor: cursor}, nil
	}
	for i, text := range []string{c.text, strings.Repeat("All is well. ", 9000)} {
		key := "ab"[i : i+1]
		if err := out.Begin([]byte(text)); err != nil {
			out.Skip("pages/"+key+".md", err)
			continue
		}
		if key == "a" {
			c.read()
		}
		if err := out.Put(ctx, page(key)); err != nil {
			return outcome{}, err
		}
	}
	return outcome{Cursor: c.text, Complete: true}, nil
}

var deadly = strings.Repeat("Nobody reads this to its end. ", 4000)

// connect makes the connectors of the fixture's sources.
func (f *fixture) connect(connector func() ingest.Connector[[]byte]) {
	f.config.Connectors = fake(func(network.Source, ingest.Environment) (
		ingest.Connector[[]byte], error,
	) {
		return connector(), nil
	})
}

// reads makes the fixture's first source a reading with a working directory.
func (f *fixture) reads(dir, text string, read func()) (ingest.Report, error) {
	f.config.WorkDir = dir
	f.connect(func() ingest.Connector[[]byte] {
		return connector(reading{text, read}.sync)
	})
	reports, err := ingest.New(f.config).Sync(f.Context(), []string{"first"})
	return reports[0], err
}

// unfinished is where a source notes what it parses.
func unfinished(dir string) string { return filepath.Join(dir, "first", "unfinished") }

// marks are the digests of what runs were killed over.
func marks(dir string) []string {
	text, err := os.ReadFile(unfinished(dir))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))[1:]
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
	if left := marks(dir); len(left) != 1 {
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
	left := append([]string{"another"}, marks(dir)...)
	if err := os.WriteFile(unfinished(dir), []byte(strings.Join(left, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	read := 0
	if report, err := f.reads(dir, deadly, func() { read++ }); err != nil || read != 1 || report.Skipped != 0 {
		t.Errorf("read %d times, %+v, %v", read, report, err)
	}
	if left := marks(dir); len(left) != 0 {
		t.Errorf("marks of another program: %q", left)
	}
}

func TestAnInterruptionLeavesNothingInHand(t *testing.T) {
	dir, f := t.TempDir(), setup(t)
	ctx, interrupt := context.WithCancel(t.Context())
	f.config.WorkDir = dir
	during := -1
	f.connect(func() ingest.Connector[[]byte] {
		return connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
			if err := out.Begin([]byte(deadly)); err != nil {
				return outcome{}, err
			}
			during = len(marks(dir))
			interrupt()
			return outcome{}, ctx.Err()
		})
	})
	if _, err := ingest.New(f.config).Sync(ctx, []string{"first"}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if left := marks(dir); during != 1 || len(left) != 0 {
		t.Errorf("%d marks while it was read, left: %q", during, left)
	}
}
