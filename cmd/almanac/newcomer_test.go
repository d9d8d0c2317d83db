package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/testing/gitrepotest"
)

// newcomer has a clone of this repository, and the program that was built there.
type newcomer struct{ clone, program string }

// arrive clones the repository, or copies it where it is no clone itself, and
// builds the program as the README says.
func arrive(t *testing.T) newcomer {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	n := newcomer{clone: filepath.Join(t.TempDir(), "almanac")}
	n.program = filepath.Join(n.clone, "bin", "almanac")
	if _, _, code := execute(t, nil, os.Environ(), "git", "-C", root, "rev-parse", "HEAD"); code == 0 {
		n.do(t, "git", "clone", "--quiet", "--depth", "1", "file://"+root, n.clone)
	} else if err := os.CopyFS(n.clone, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	n.do(t, "make", "-C", n.clone, "build", "man")
	return n
}

// do runs a program of the machine with the tests' environment.
func (n newcomer) do(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, errOut, code := execute(t, nil, os.Environ(), program, args...)
	if code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s%s", program, strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// almanac runs the program, which is to succeed.
func (n newcomer) almanac(t *testing.T, env []string, args ...string) string {
	t.Helper()
	out, errOut, code := execute(t, nil, env, n.program, args...)
	if code != 0 {
		t.Fatalf("almanac %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// TestANewcomersDay walks through the first day: from a clone to the sample over
// REST and stdio, a network of one's own, what is broken in it, its move to
// another machine, and what the shell and the reader of manuals get.
func TestANewcomersDay(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program again; not with -short")
	}
	t.Parallel()
	n := arrive(t)
	n.asks(t)
	n.describesItsOwn(t)
	n.readsTheManual(t)
}

// asks starts the sample and asks it over REST and stdio.
func (n newcomer) asks(t *testing.T) {
	home := t.TempDir()
	s := startProgram(t, environ(home), n.program)
	s.ready(t)
	for path, want := range map[string]string{
		"/api/v1/search?q=traffic+balance+error&limit=1": "Traffic accounting by message size",
		"/api/v1/cips/0004":    `"label":"CIP-0004"`,
		"/api/v1/openapi.json": `"openapi":"3.1`,
	} {
		if status, _, body := s.get(t, path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.200s", path, status, body)
		}
	}
	cmd := exec.Command(n.program, "mcp") // beside the server, on its directory
	cmd.Env = environ(home)
	session := connect(t, &sdk.CommandTransport{Command: cmd})
	res, err := session.CallTool(t.Context(),
		&sdk.CallToolParams{Name: "get_cip", Arguments: map[string]any{"id": "CIP-4"}})
	if err != nil || res.IsError || !strings.Contains(textOf(res), "Traffic accounting") {
		t.Errorf("over stdio: %v %.300s", err, textOf(res))
	}
}

// describesItsOwn has a network of a plain folder and of a repository on master,
// breaks it, and moves it.
func (n newcomer) describesItsOwn(t *testing.T) {
	mine := filepath.Join(t.TempDir(), "mine.yaml")
	folder := filepath.Dir(mine)
	const network = `name: mine
title: Mine
proposals: {prefix: MIP, digits: 1, statuses: [Draft, Final], default: Draft}
sources:
  - {name: mips, kind: proposals, options: {repository: mips, url: {file: "https://forge.example.org/{path}"}}}
  - {name: handbook, kind: docs, options: {folder: handbook, url: "https://docs.example.org/{page}"}}
`
	writeFile(t, mine, network)
	writeFile(t, filepath.Join(folder, "handbook", "locks.md"), "# Locks\n\nA barge waits for the lock keeper.\n")
	repository := gitrepotest.At(t, filepath.Join(folder, "mips"), "master",
		time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC))
	repository.Commit("first", map[string]string{
		"mip-1.md": "---\nmip: 1\ntitle: Lock fees\nstatus: Final\nauthor: Ada\n---\n\nA fee for each lock.\n"})
	own := environ(t.TempDir())
	of := func(command string, more ...string) string {
		return n.almanac(t, own, append([]string{command, "--network", mine}, more...)...)
	}
	if out := n.almanac(t, own, "network", "check", mine); !strings.Contains(out, "network mine is valid") {
		t.Errorf("check: %s", out)
	}
	of("sync")
	if out := of("search", "lock", "keeper"); !strings.Contains(out, "https://docs.example.org/locks") {
		t.Errorf("the folder: %s", out)
	}
	if out := of("show", "MIP-1"); !strings.Contains(out, "A fee for each lock.") {
		t.Errorf("the repository: %s", out)
	}

	writeFile(t, mine, strings.Replace(network, "sources:\n",
		"sources:\n  - {name: blog, kind: feed, options: {url: \"http://127.0.0.1:9/feed.xml\"}}\n", 1))
	if _, _, code := execute(t, nil, own, n.program, "sync", "--network", mine); code != 1 {
		t.Errorf("a broken source: exit code %d", code)
	}
	out, _, code := execute(t, nil, own, n.program, "doctor", "--network", mine)
	for _, want := range []string{"2 of 3 synced, 1 not", "source blog", "ALMANAC_SYNC_ALLOW"} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("doctor ends with %d and does not say %q:\n%s", code, want, out)
		}
	}

	moved, there := filepath.Join(t.TempDir(), "moved"), environ(t.TempDir())
	of("export", moved)
	elsewhere := filepath.Join(moved, "network.yaml")
	n.almanac(t, there, "import", "--network", elsewhere, moved)
	if out := n.almanac(t, there, "show", "--network", elsewhere, "MIP-1"); !strings.Contains(out, "Lock fees") {
		t.Errorf("elsewhere: %s", out)
	}
}

// readsTheManual loads the completions into bash and renders the man page.
func (n newcomer) readsTheManual(t *testing.T) {
	if bash, err := exec.LookPath("bash"); err == nil {
		env := append(environ(t.TempDir()), "PATH="+filepath.Dir(n.program)+":/usr/bin:/bin")
		const script = `source <(almanac completion bash) && complete -p almanac`
		if out, errOut, code := execute(t, nil, env, bash, "-c", script); code != 0 ||
			!strings.Contains(out, "-F _almanac almanac") {
			t.Errorf("completions in bash: %d %s%s", code, out, errOut)
		}
	}
	if man, err := exec.LookPath("man"); err == nil {
		env := append(environ(t.TempDir()), "MANPAGER=cat", "MANWIDTH=100", "LC_ALL=C.UTF-8")
		page := filepath.Join(n.clone, "bin", "almanac.1")
		out, errOut, code := execute(t, nil, env, man, "--warnings", "--local-file", page)
		if code != 0 || errOut != "" || !strings.Contains(out, "almanac") || !strings.Contains(out, "network kinds") {
			t.Errorf("the man page: %d %s\n%.500s", code, errOut, out)
		}
	}
}
