package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/testing/soak"
)

// roles are what the test binary does as another process.
var roles = map[string]func(args []string) error{
	"open": func(args []string) error { return inCatalog(args[0], func(*sqlstore.Store) error { return nil }) },
	"write": func(args []string) error {
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return inCatalog(args[0], func(s *sqlstore.Store) error {
			return write(s, args[1], n, func() { fmt.Println("writing") })
		})
	},
	"read": func(args []string) error { return answer(args[0], os.Stdin) },
}

// answer opens a catalog that it may not write and says for each line that it reads
// what the last change is, or, for "write", why it writes nothing.
func answer(path string, asked io.Reader) error {
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, Sealed: errors.New("it is another user's")})
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(asked); lines.Scan(); {
		if lines.Text() == "write" {
			fmt.Println(s.SetMeta(context.Background(), "colour", "red"))
			continue
		}
		last, err := s.LastChange(context.Background())
		if err != nil {
			return err
		}
		fmt.Println(last)
	}
	return s.Close()
}

func inCatalog(path string, fn func(s *sqlstore.Store) error) error {
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	if err := fn(s); err != nil {
		return err
	}
	return s.Close()
}

// batchSize is the number of records of a batch that a writing process
// applies; the cursor that goes with it is the batch's number.
const batchSize = 40

// endless is a number of batches that only a kill ends.
const endless = 1 << 30

// write applies n batches of a source and calls begun after the first.
func write(s *sqlstore.Store, source string, n int, begun func()) error {
	for i := range n {
		cursor := strconv.Itoa(i)
		b := catalog.Batch{Source: source, Cursor: &cursor}
		for k := range batchSize {
			// Half of the records are new, half rewrite those of the batch before.
			key := fmt.Sprintf("%s-%d", source, i*batchSize/2+k)
			b.Entries = append(b.Entries, catalog.Entry{
				Record: catalog.Record{Kind: catalog.KindDoc, Key: key, State: cursor,
					Body: strings.Repeat(cursor+" ", 2_000), Tags: []string{cursor}},
				Aliases: []string{"alias of " + key},
				Links:   []catalog.Link{{Relation: catalog.Mentions, To: catalog.Ref{Kind: catalog.KindDoc, Key: "x"}}},
			})
		}
		if _, err := s.Apply(context.Background(), b); err != nil {
			return err
		}
		if i == 0 && begun != nil {
			begun()
		}
	}
	return nil
}

// begun starts a process and waits until it writes.
func begun(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "writing\n" {
		t.Fatalf("the process did not begin to write: %q, %v", line, err)
	}
}

func TestKilledWriterLeavesWholeBatches(t *testing.T) {
	path := file(t)
	for round := range soak.Rounds(30) {
		source := fmt.Sprintf("round%d", round)
		cmd := process(t, "write", path, source, strconv.Itoa(endless))
		begun(t, cmd)
		time.Sleep(rand.N(150 * time.Millisecond))
		if err := cmd.Process.Kill(); err != nil { // SIGKILL
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the process ended by itself")
		}
		intact(t, path)
		agrees(t, path, source)
	}
}

// intact has SQLite check the whole file.
func intact(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity check: %s, %v", verdict, err)
	}
}

// agrees checks that the records of a source are those its cursor stands for,
// with all that hangs on them and a change each.
func agrees(t *testing.T, path, source string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	last := -1
	states, err := s.Sources(t.Context())
	for _, st := range states {
		if st.Name == source {
			last, _ = strconv.Atoi(st.Cursor)
		}
	}
	if err != nil || last < 0 {
		t.Fatalf("the source has no cursor: %v", err)
	}
	list, total, err := s.List(t.Context(), catalog.ListQuery{Sources: []string{source}, WithBody: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := last*batchSize/2 + batchSize; total != want {
		t.Fatalf("%d records after batch %d, want %d", total, last, want)
	}
	changes, err := s.Changes(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	logged := map[int64]bool{}
	for _, c := range changes {
		logged[c.Record] = true
	}
	for i, r := range list {
		state := strconv.Itoa(min(i/(batchSize/2), last))
		if r.State != state || !strings.HasPrefix(r.Body, state+" ") || len(r.Tags) != 1 || r.Tags[0] != state ||
			!logged[r.ID] {
			t.Fatalf("record %s has state %q, tags %v, logged %v; want state %q", r.Key, r.State, r.Tags, logged[r.ID],
				state)
		}
		aliases, err := s.Aliases(t.Context(), r.ID)
		if err != nil || len(aliases) != 1 {
			t.Fatalf("record %s has aliases %v, %v", r.Key, aliases, err)
		}
		links, err := s.LinksFrom(t.Context(), r.ID)
		if err != nil || len(links) != 1 {
			t.Fatalf("record %s has links %v, %v", r.Key, links, err)
		}
	}
}

func TestTwoProcessesWriteAtOnce(t *testing.T) {
	path := file(t)
	s := open(t, path)
	var cmds []*exec.Cmd
	for _, source := range []string{"one", "two"} {
		cmd := process(t, "write", path, source, "12")
		begun(t, cmd)
		cmds = append(cmds, cmd)
	}
	if err := write(s, "three", 12, nil); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	intact(t, path)
	for _, source := range []string{"one", "two", "three"} {
		agrees(t, path, source)
	}
}

func TestManyProcessesOpenAFileAtOnce(t *testing.T) {
	for name, made := range map[string]func(*testing.T) string{
		"new":   func(t *testing.T) string { return file(t) },
		"older": older,
	} {
		t.Run(name, func(t *testing.T) { openAtOnce(t, made) })
	}
}

// openAtOnce opens files in six processes each, of which one migrates.
func openAtOnce(t *testing.T, made func(*testing.T) string) {
	for range 3 {
		path := made(t)
		var cmds []*exec.Cmd
		for range 6 {
			cmd := process(t, "open", path)
			cmd.Stdout = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cmds = append(cmds, cmd)
		}
		for _, cmd := range cmds {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		intact(t, path)
		open(t, path)
	}
}
