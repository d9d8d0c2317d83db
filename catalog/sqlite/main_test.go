package sqlite_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

// role is the environment variable that makes the test binary another
// process of the same database instead of running tests.
const role = "CATALOG_TEST_ROLE"

func TestMain(m *testing.M) {
	if name := os.Getenv(role); name != "" {
		if err := roles[name](os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// process returns the test binary in a role, not yet started.
func process(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	if roles[name] == nil {
		t.Fatalf("no role %q", name)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), role+"="+name)
	return cmd
}

// open opens a catalog that the test's end closes.
func open(t testing.TB, path string) *sqlstore.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "catalog.db") }
