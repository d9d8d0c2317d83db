package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"almanac/catalog/sqlite"
)

var errSealed = errors.New("it is another user's")

// oneLine checks that an error says what is wrong, in one line that names the file.
func oneLine(t *testing.T, err error, path, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v, want one line with the path and %q", err, want)
	}
}

// written writes a file and returns its path.
func written(t *testing.T, content string) string {
	t.Helper()
	path := file(t)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// notSQLite is the content of a file that is no database.
var notSQLite = strings.Repeat("this is not a database. ", 400)

// killed leaves a catalog as a process that was killed while it wrote: what it wrote
// last is in the write-ahead log.
func killed(t *testing.T) (path string) {
	t.Helper()
	path = file(t)
	cmd := process(t, "write", path, "docs", strconv.Itoa(endless))
	begun(t, cmd)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("the process left no log: %v", err)
	}
	return path
}

// unlogged fails if a file has a write-ahead log, or an index of one.
func unlogged(t *testing.T, path string) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("there is %s%s: %v", filepath.Base(path), suffix, err)
		}
	}
}

// A copy has what was written before it and is a catalog of its own, although the
// original is open and is written to again, and although the process may only read it.
func TestACopyIsTheCatalogAtOneMoment(t *testing.T) {
	for name, copied := range map[string]func(t *testing.T, path, to string){
		"of one's own": func(t *testing.T, path, to string) {
			if err := sqlite.Copy(t.Context(), sqlite.Config{Path: path}, to); err != nil {
				t.Fatal(err)
			}
		},
		"of another user's": func(t *testing.T, path, to string) {
			if said := examined(t, path, to); said != allWell {
				t.Fatal(said)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, to := file(t), file(t)
			s := open(t, path)
			if err := write(s, "docs", 3, nil); err != nil {
				t.Fatal(err)
			}
			last, err := s.LastChange(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			copied(t, path, to)
			unlogged(t, to)
			if err := write(s, "mail", 1, nil); err != nil {
				t.Fatal(err)
			}
			intact(t, to)
			agrees(t, to, "docs")
			if got, err := open(t, to).LastChange(t.Context()); got != last || err != nil {
				t.Errorf("the copy ends with change %d, not %d; %v", got, last, err)
			}
		})
	}
}

func TestACopyThatCannotBeMadeLosesNothing(t *testing.T) {
	t.Run("a catalog that is missing is not made", func(t *testing.T) {
		path, to := file(t), file(t)
		if err := sqlite.Copy(t.Context(), sqlite.Config{Path: path}, to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error is %v", err)
		}
		for _, p := range []string{path, to} {
			if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s was made: %v", p, err)
			}
		}
	})
	t.Run("what is in the place of the copy stays", func(t *testing.T) {
		to := written(t, notSQLite)
		if err := sqlite.Copy(t.Context(), sqlite.Config{Path: filled(t)}, to); err == nil {
			t.Error("it was copied over")
		}
		if got, err := os.ReadFile(to); err != nil || string(got) != notSQLite {
			t.Errorf("it was changed: %v", err)
		}
	})
	t.Run("what is no catalog is said", func(t *testing.T) {
		path, to := written(t, notSQLite), file(t)
		oneLine(t, sqlite.Copy(t.Context(), sqlite.Config{Path: path}, to), path, "is not a SQLite database or is damaged")
	})
	t.Run("a copy that is cancelled is none", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		to := file(t)
		if err := sqlite.Copy(ctx, sqlite.Config{Path: filled(t)}, to); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it was made: %v", err)
		}
	})
}

// Whoever asks for the schema of a file, describes or checks it hears what it is instead.
func TestAFileThatIsNoCatalogIsSaid(t *testing.T) {
	bookmarks := file(t)
	execute(t, bookmarks, `CREATE TABLE bookmarks (url TEXT)`)
	for _, c := range []struct{ path, want string }{
		{written(t, notSQLite), "is not a SQLite database or is damaged"},
		{bookmarks, "is another program's database"},
	} {
		cfg := sqlite.Config{Path: c.path}
		_, _, err := sqlite.Schema(t.Context(), cfg)
		oneLine(t, err, c.path, c.want)
		oneLine(t, sqlite.Check(t.Context(), cfg), c.path, c.want)
		_, _, err = sqlite.Describe(t.Context(), c.path, "network")
		oneLine(t, err, c.path, c.want)
	}
}

// Whoever puts another file in the catalog's place has it alone: the log of before would
// be taken for one of the new file.
func TestOneWhoIsAloneFindsEverythingInTheFile(t *testing.T) {
	path, kept := killed(t), file(t)
	err := sqlite.Alone(t.Context(), path, func() error {
		if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("there is a log: %v", err)
		}
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(kept, data, 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	intact(t, kept)
	agrees(t, kept, "docs")
	agrees(t, path, "docs") // which can be opened again
}

func TestNobodyIsAloneWhileAnotherHasTheCatalogOpen(t *testing.T) {
	never := func() error {
		t.Error("it was done")
		return nil
	}
	t.Run("a process that reads it", func(t *testing.T) {
		path := filled(t)
		s := open(t, path)
		if _, err := s.LastChange(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := sqlite.Alone(t.Context(), path, never)
		oneLine(t, err, path, "another process has it open")
		if !errors.Is(err, sqlite.ErrOpen) {
			t.Errorf("error is %v", err)
		}
		if err := s.SetMeta(t.Context(), "colour", "red"); err != nil {
			t.Errorf("the process that has it open: %v", err)
		}
	})
	t.Run("one that is alone already", func(t *testing.T) {
		path := filled(t)
		err := sqlite.Alone(t.Context(), path, func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := sqlite.Alone(ctx, path, never); !errors.Is(err, context.Canceled) {
				t.Errorf("whoever stops to wait for the turn: %v", err)
			}
			if s, err := sqlite.Open(ctx, sqlite.Config{Path: path}); !errors.Is(err, context.Canceled) {
				s.Close()
				t.Errorf("whoever stops to wait to open it: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("whoever has given up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := sqlite.Alone(ctx, filled(t), never); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	})
}

// The log of a file that is gone or damaged belongs to none that takes its place.
func TestTheLogOfAFileThatCannotBeReadIsRemoved(t *testing.T) {
	for name, path := range map[string]string{"gone": file(t), "damaged": written(t, notSQLite)} {
		t.Run(name, func(t *testing.T) {
			for _, suffix := range []string{"-wal", "-shm"} {
				if err := os.WriteFile(path+suffix, []byte("of before"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before, beforeErr := os.ReadFile(path)
			done := errors.New("it was done")
			err := sqlite.Alone(t.Context(), path, func() error {
				unlogged(t, path)
				return done
			})
			if !errors.Is(err, done) {
				t.Errorf("error is %v", err)
			}
			after, afterErr := os.ReadFile(path)
			if string(after) != string(before) || (beforeErr == nil) != (afterErr == nil) {
				t.Errorf("the file itself was changed: %v", afterErr)
			}
		})
	}
}
