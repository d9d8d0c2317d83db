//go:build unix

package sqlite_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

// TestReadOnlyDirectoryIsOneSentence opens a catalog that the user may read
// and not write. Permissions do not bind root, so root's test asks a process
// of another user.
func TestReadOnlyDirectoryIsOneSentence(t *testing.T) {
	for _, empty := range []bool{true, false} {
		dir, err := os.MkdirTemp("", "catalog-readonly-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			os.Chmod(dir, 0o700)
			os.RemoveAll(dir)
		})
		path := filepath.Join(dir, "catalog.db")
		if !empty {
			copyFile(t, filled(t), path, 0o444)
		}
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		out, err := asUser(t, process(t, "open", path)).Output()
		text := strings.TrimSpace(string(out))
		if err == nil || strings.Contains(text, "\n") || !strings.Contains(text, path+" cannot be opened for writing") {
			t.Fatalf("empty %v: it says %q, %v", empty, text, err)
		}
	}
}

// reader is a process of another user that answers from a catalog it may not write.
type reader struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startReader(t *testing.T, path string) reader {
	t.Helper()
	r := reader{t: t, cmd: asUser(t, process(t, "read", path))}
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	return r
}

func (r reader) ask(what string) (answer string) {
	_, _ = io.WriteString(r.in, what+"\n") // one that has ended says why
	answer, _ = r.out.ReadString('\n')
	return strings.TrimSpace(answer)
}

func (r reader) end() {
	r.t.Helper()
	if err := errors.Join(r.in.Close(), r.cmd.Wait()); err != nil {
		r.t.Error(err)
	}
}

// TestWhatOneMayNotWriteIsRead reads another user's catalog whose owner is away, writes,
// ends, and is killed: each time all that was written, by a process that was there
// before and by a new one.
func TestWhatOneMayNotWriteIsRead(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be two users")
	}
	dir, err := os.MkdirTemp("", "catalog-sealed-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "catalog.db")
	var owner *sqlstore.Store
	opened := func() {
		if owner, err = sqlite.Open(t.Context(), sqlite.Config{Path: path}); err != nil {
			t.Fatal(err)
		}
	}
	closed := func() string {
		last, err := owner.LastChange(t.Context())
		if err = errors.Join(err, owner.Close()); err != nil {
			t.Fatal(err)
		}
		return strconv.FormatInt(last, 10)
	}
	wrote := func(source string) string {
		if err := write(owner, source, 3, nil); err != nil {
			t.Fatal(err)
		}
		last, err := owner.LastChange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strconv.FormatInt(last, 10)
	}
	opened()
	wrote("first")
	last := closed()
	early := startReader(t, path)
	all := func(when, want string) {
		t.Helper()
		late := startReader(t, path)
		for name, r := range map[string]reader{"one that was there before": early, "a new one": late} {
			if got := r.ask("last"); got != want {
				t.Errorf("%s: %s reads up to %q, want %s", when, name, got, want)
			}
		}
		late.end()
	}
	all("the owner is away", last)
	if said := early.ask("write"); !strings.Contains(said, "it is another user's") {
		t.Errorf("a write says %q", said)
	}
	opened()
	all("the owner writes", wrote("second"))
	all("the owner has ended", closed())
	early.end()
	opened()
	last = closed() // with no reader there, which leaves no log
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log is there: %v", err)
	}
	early = startReader(t, path)
	all("the owner is away again", last)
	opened()
	wrote("third")
	last = closed() // all of it between two looks
	if got := early.ask("last"); got != last {
		t.Errorf("after the owner came and went: %q, want %s", got, last)
	}
	early.end()

	writer := process(t, "write", path, "fourth", strconv.Itoa(endless))
	begun(t, writer)
	if err := writer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Wait() // killed
	late := startReader(t, path)
	got := late.ask("last")
	late.end()
	copied := filepath.Join(dir, "copy.db") // which has no index of its log
	copyFile(t, path, copied, 0o644)
	copyFile(t, path+"-wal", copied+"-wal", 0o644)
	late = startReader(t, copied)
	if said := late.ask("last"); !strings.Contains(said, "what was written last lies in") {
		t.Errorf("a log without its index: %q", said)
	}
	_ = late.cmd.Wait() // it failed
	opened()
	if want := closed(); got != want {
		t.Errorf("the owner was killed: a new one reads up to %q, want %s", got, want)
	}
}

// asUser makes the process one of an ordinary user.
func asUser(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		return cmd
	}
	dir, err := os.MkdirTemp("", "catalog-binary-") // the test's own directories are root's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "test")
	copyFile(t, cmd.Path, binary, 0o755)
	cmd.Path = binary
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd
}

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
