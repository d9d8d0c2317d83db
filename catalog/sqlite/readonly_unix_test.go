//go:build unix

package sqlite_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
