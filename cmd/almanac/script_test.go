package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"almanac/testing/port"
	"almanac/testing/wait"
)

// TestScripts runs testdata/script against the built program. Each script has
// a snapshot of 40 documents in $CORPUS, its network file in $NETWORK, a
// word of the pages 29 and 41 alone in $PAGE29 and $PAGE41, and free ports in $LISTEN and $ADMIN.
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
			env.Setenv("PAGE41", only(41))
			env.Setenv("LISTEN", port.Keep(t))
			env.Setenv("ADMIN", port.Keep(t))
			env.Setenv("ALMANAC_EMBED_MODEL", "table")
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails": fails, "get": get, "holdport": holdPort, "judged": judged, "resnap": resnap, "same": same,
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

// get asks an address, with a header if one is given, until it answers with the status and with what matches.
func get(ts *testscript.TestScript, neg bool, args []string) {
	status, want, said := args[0], regexp.MustCompile(args[2]), ""
	wait.Until(scriptTB{ts: ts}, strings.Join(args, " "), func() bool {
		r, err := http.NewRequest(http.MethodGet, "http://"+args[1], http.NoBody)
		ts.Check(err)
		if len(args) > 3 {
			r.Header.Set(args[3], args[4])
		}
		res, err := client.Do(r)
		if err != nil {
			return false // it does not listen yet
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if now := fmt.Sprintf("%d %.300s", res.StatusCode, body); now != said {
			said = now
			ts.Logf("%s", said)
		}
		return err == nil && strconv.Itoa(res.StatusCode) == status && want.Match(body)
	})
}

// holdPort listens on a free port until the script ends and puts the address
// into the named variable.
func holdPort(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], l.Addr().String())
}

// judged is writeJudged into a directory.
func judged(ts *testscript.TestScript, neg bool, args []string) {
	documents, err := strconv.Atoi(args[1])
	ts.Check(err)
	queries, err := strconv.Atoi(args[2])
	ts.Check(err)
	writeJudged(scriptTB{ts: ts}, ts.MkAbs(args[0]), documents, queries)
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

func (t scriptTB) Helper()                           {}
func (t scriptTB) Fatal(args ...any)                 { t.ts.Fatalf("%v", args) }
func (t scriptTB) Fatalf(format string, args ...any) { t.ts.Fatalf(format, args...) }

// TestADirectoryThatCannotBeWrittenIsRead: who may not write it, as in an agent's
// sandbox, searches and reads as ever, and is told in a sentence what else needs.
func TestADirectoryThatCannotBeWrittenIsRead(t *testing.T) {
	t.Parallel()
	at := newSite(t, 8)
	at.run(t, "sync")
	found := at.run(t, "search", "--files", "tide")
	_, id, _ := strings.Cut(found, "\t")
	id, _, _ = strings.Cut(id, "\t")
	user, out := unprivileged(t), filepath.Join(t.TempDir(), "out")
	if err := errors.Join(os.Mkdir(out, 0o777), os.Chmod(out, 0o777), os.Chmod(at.data, 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(at.data, 0o755) }) // so that it can be removed
	run := func(command ...string) (out, errOut string, code int) {
		return execute(t, user, at.env, program(t), append(command[:1:1], at.args(command[1:]...)...)...)
	}
	for want, command := range map[string][]string{
		found: {"search", "--files", "tide"}, "tide": {"show", id}, "lips": {"tools", "call", "list_sources"},
		"puts it back": {"backup", filepath.Join(out, "b.tar.gz")}, "cannot be written": {"doctor"}, "": {"mcp"},
	} {
		if out, errOut, code := run(command...); code != 0 || !strings.Contains(out, want) || strings.Contains(out, "FAIL") {
			t.Errorf("%s: %d, %q, %s", command, code, out, errOut)
		}
	}
	for _, command := range [][]string{{"sync"}, {"reindex"}, {"serve", "--listen", "127.0.0.1:0", "--admin", ""}} {
		if _, errOut, code := run(command...); code != 1 || !oneSentence(errOut) || !strings.Contains(errOut, "cannot be written") {
			t.Errorf("%s: %d, %q", command, code, errOut)
		}
	}
	at.data = filepath.Join(at.data, "deeper")
	if out, errOut, code := run("search", "tide"); code != 1 || out != "" || !oneSentence(errOut) {
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
