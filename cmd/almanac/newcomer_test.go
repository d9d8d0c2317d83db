package main

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/ingest/gitrepo/gitrepotest"
)

// TestANewcomersDay walks through the first day: the sample over REST and stdio, a
// network of one's own, what is broken in it, and its move to another machine.
func TestANewcomersDay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := start(t, environ(home))
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
	session := connect(t, stdioOf(t, home)) // beside the server, on its directory
	res, err := session.CallTool(t.Context(),
		&sdk.CallToolParams{Name: "get_cip", Arguments: map[string]any{"id": "CIP-4"}})
	if err != nil || res.IsError || !strings.Contains(textOf(res), "Traffic accounting") {
		t.Errorf("over stdio: %v %.300s", err, textOf(res))
	}

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
		return must(t, own, append([]string{command, "--network", mine}, more...)...)
	}
	if out := must(t, own, "network", "check", mine); !strings.Contains(out, "network mine is valid") {
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
	if _, _, code := almanac(t, own, "sync", "--network", mine); code != 1 {
		t.Errorf("a broken source: exit code %d", code)
	}
	out, _, code := almanac(t, own, "doctor", "--network", mine)
	for _, want := range []string{"2 of 3 synced, 1 not", "source blog", "ALMANAC_SYNC_ALLOW"} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("doctor ends with %d and does not say %q:\n%s", code, want, out)
		}
	}

	moved, there := filepath.Join(t.TempDir(), "moved"), environ(t.TempDir())
	of("export", moved)
	must(t, there, "import", "--network", filepath.Join(moved, "network.yaml"), moved)
	if out := must(t, there, "show", "--network", filepath.Join(moved, "network.yaml"), "MIP-1"); !strings.Contains(out,
		"Lock fees") {
		t.Errorf("elsewhere: %s", out)
	}

	if bash, err := exec.LookPath("bash"); err == nil {
		cmd := exec.Command(bash, "-c", `source <(almanac completion bash) && complete -p almanac`)
		cmd.Env = append(environ(home), "PATH="+filepath.Dir(program(t))+":/usr/bin:/bin")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "-F _almanac almanac") {
			t.Errorf("completions in bash: %v %s", err, out)
		}
	}
}
