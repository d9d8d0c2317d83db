package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script against the built program. Each script has
// a snapshot of 40 documents in $CORPUS, its network file in $NETWORK and a
// word of the page 29 alone in $PAGE29.
func TestScripts(t *testing.T) {
	t.Parallel()
	bin := filepath.Dir(program(t))
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			f := writeFixture(t, filepath.Join(env.WorkDir, "fixture"), 40)
			env.Setenv("NETWORK", f.network)
			env.Setenv("CORPUS", f.corpus)
			env.Setenv("PAGE29", only(29))
			env.Setenv("ALMANAC_EMBED_MODEL", "table")
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails": fails, "holdport": holdPort, "resnap": resnap, "same": same,
		},
	})
}

// fails runs the program and wants the exit code.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("almanac", args[1:]...)
	e, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		ts.Fatalf("want exit code %s, got %v", args[0], err)
	}
	if code := strconv.Itoa(e.ExitCode()); code != args[0] {
		ts.Fatalf("want exit code %s, got %s", args[0], code)
	}
}

// holdPort listens on a free port until the script ends and puts the address
// into the named variable.
func holdPort(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], l.Addr().String())
}

// resnap writes the snapshot again with so many documents.
func resnap(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	fixture{corpus: ts.Getenv("CORPUS")}.write(scriptTB{ts: ts}, n)
}

// same fails unless two files are alike byte for byte.
func same(ts *testscript.TestScript, neg bool, args []string) {
	a, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	if bytes.Equal(a, b) == neg {
		ts.Fatalf("%s and %s: equal is %v", args[0], args[1], !neg)
	}
}

// scriptTB makes helpers of tests usable in scripts.
type scriptTB struct {
	testing.TB
	ts *testscript.TestScript
}

func (t scriptTB) Helper()           {}
func (t scriptTB) Fatal(args ...any) { t.ts.Fatalf("%v", args) }

// TestADirectoryThatCannotBeWrittenIsRead: who may not write it, as in an agent's
// sandbox, searches and reads as ever, and is told in a sentence what else needs.
func TestADirectoryThatCannotBeWrittenIsRead(t *testing.T) {
	t.Parallel()
	f := writeFixture(t, t.TempDir(), 8)
	data, judged := filepath.Join(t.TempDir(), "data"), t.TempDir()
	writeFile(t, filepath.Join(judged, "queries.jsonl"), `{"_id": "q1", "text": "tide"}`+"\n")
	writeFile(t, filepath.Join(judged, "qrels.tsv"), "query-id\tcorpus-id\tscore\nq1\tmanual/page-001.md\t1\n")
	env := environ(t.TempDir(), "ALMANAC_CORPUS="+f.corpus)
	of := []string{"--network", f.network, "--data", data}
	must(t, env, slices.Concat([]string{"sync"}, of)...)
	found := must(t, env, slices.Concat([]string{"search", "--files", "tide"}, of)...)
	user := unprivileged(t)
	if err := os.Chmod(data, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(data, 0o755) }) // so that it can be removed
	run := func(args ...string) (out, errOut string, code int) {
		return almanacAs(t, user, env, slices.Concat(args, of)...)
	}
	if out, errOut, code := run("search", "--files", "tide"); code != 0 || out != found {
		t.Errorf("search: %d, %q instead of %q, %s", code, out, found, errOut)
	}
	_, id, _ := strings.Cut(found, "\t")
	id, _, _ = strings.Cut(id, "\t")
	if err := os.Chmod(judged, 0o777); err != nil { // the backup is written into it
		t.Fatal(err)
	}
	for _, command := range [][]string{{"show", id}, {"tools", "call", "list_sources"},
		{"backup", filepath.Join(judged, "b.tar.gz")}, {"eval", "--queries", judged}, {"doctor", "--catalog"},
		{"profile", "list"}, {"mcp"}} {
		if out, errOut, code := run(command...); code != 0 || out == "" && command[0] != "mcp" {
			t.Errorf("%s: %d, %q, %s", command, code, out, errOut)
		}
	}
	if out, errOut, _ := run("doctor"); strings.Contains(out, "FAIL") || !strings.Contains(out, "cannot be written") {
		t.Errorf("doctor: %s%s", out, errOut)
	}
	for _, command := range [][]string{{"sync"}, {"reindex"}, {"serve", "--listen", "127.0.0.1:0", "--admin", ""},
		{"judge", "import", "tides", judged}} {
		if _, errOut, code := run(command...); code != 1 || !oneSentence(errOut) ||
			!strings.Contains(errOut, "cannot be written") {
			t.Errorf("%s: %d, %q", command, code, errOut)
		}
	}
	out, errOut, code := almanacAs(t, user, env, "search", "--network", f.network, "--data",
		filepath.Join(data, "deeper"), "tide")
	if code != 1 || out != "" || !oneSentence(errOut) {
		t.Errorf("a directory in it: %d, %q, %q", code, out, errOut)
	}
}

// unprivileged is who runs a program that permissions are to stop.
func unprivileged(t *testing.T) *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		return nil
	}
	for dir := filepath.Dir(t.TempDir()); dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
