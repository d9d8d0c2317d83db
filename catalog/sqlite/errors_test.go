package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// created is the error of making a table in a file.
func created(path string, parameters ...string) error {
	db, err := pool(path, 1, parameters...)
	if err == nil {
		_, err = db.Exec(`CREATE TABLE lamps (n); INSERT INTO lamps VALUES (zeroblob(100000))`)
		err = errors.Join(err, db.Close())
	}
	return err
}

// What SQLite says of the file is told to the operator as what to do about it, and is
// not tried again.
func TestWhatSQLiteSaysIsToldToTheOperator(t *testing.T) {
	dir := t.TempDir()
	locked := filepath.Join(dir, "locked.db")
	owner, err := pool(locked, 1, "_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	tx, err := owner.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	zeros := filepath.Join(dir, "zeros.db")
	if err := os.WriteFile(zeros, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	full, missing := filepath.Join(dir, "full.db"), filepath.Join(dir, "missing.db")
	for _, c := range []struct {
		path string
		err  error
		tell func(string, error) error
		want string
	}{
		{full, created(full, pragma("max_page_count(4)")), explain, "the disk of %s is full"},
		{locked, created(locked, pragma("busy_timeout(0)")), explain, "%s stayed locked by another process"},
		{zeros, created(zeros), explain, "%s is not a SQLite database or is damaged"},
		{missing, created(missing, "mode=ro"), explain, "%s cannot be opened for writing; check the permissions"},
		{missing, created(missing, "mode=ro"), explainSealed, "%s cannot be read; check the permissions"},
		{zeros, created(zeros), explainSealed, "%s is not a SQLite database or is damaged"},
	} {
		err := c.tell(c.path, c.err)
		known := (*fileError)(nil)
		if want := fmt.Sprintf(c.want, c.path); !errors.As(err, &known) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
			continue
		}
		if again := explain("elsewhere.db", err); again != err {
			t.Errorf("%v is told a second time: %v", err, again)
		}
	}
	if other := errors.New("the lamp is out"); explain(full, other) != other {
		t.Errorf("what SQLite did not say became %v", explain(full, other))
	}
}
