package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"almanac/testing/postgrestest"
)

// buoysYAML describes a fictional network of three sources over a snapshot.
const buoysYAML = `name: buoys
title: Lantern Buoys
proposals:
  prefix: LIP
  statuses: [Draft, Review, Final]
  status_map: {Active: Final}
  default: Draft
sources:
  - name: lips
    kind: snapshot
    options: {dir: "${corpus}", content_types: {lip: cip}, url: {"*": "https://forge.example/{repo}/blob/{commit}/{source_path}"}}
  - name: manual
    kind: snapshot
    options: {dir: "${corpus}", content_types: {page: doc}, url: {"*": "https://forge.example/{repo}/blob/{commit}/{source_path}"}}
  - name: notes
    kind: snapshot
    options: {dir: "${corpus}", content_types: {note: release}, url: {"*": "https://forge.example/{repo}/blob/{commit}/{source_path}"}}
`

// fixture is a network file and its snapshot.
type fixture struct{ network, corpus string }

// writeFixture writes the network with so many documents, the same for the
// same number: an eighth each of proposals and release notes, the rest pages.
func writeFixture(tb testing.TB, dir string, documents int) fixture {
	tb.Helper()
	f := fixture{filepath.Join(dir, "buoys.yaml"), filepath.Join(dir, "corpus")}
	writeFile(tb, f.network, buoysYAML)
	f.write(tb, documents)
	return f
}

// write writes the snapshot with so many documents.
func (f fixture) write(tb testing.TB, documents int) {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var manifest bytes.Buffer
	for n := range documents {
		row := map[string]any{"source_repo": "lantern/docs", "commit": "f00d", "licence": "CC0-1.0"}
		var name, text string
		switch n % 8 {
		case 0:
			number := fmt.Sprintf("%04d", n/8+1)
			name = fmt.Sprintf("lips/lip-%s/lip-%s.md", number, number)
			text = fmt.Sprintf(
				"## LIP %s\n\n<pre>\n  LIP: %s\n  Title: %s\n  Author: Mara Quill (fictional)\n  Status: Active\n  "+
					"Type: Process\n  Created: 2021-01-%02d\n</pre>\n\n## Abstract\n\n%s", number, number, title(r),
				n%28+1, prose(r, 3))
			row["content_type"], row["cip"] = "lip", number
		case 4:
			name = fmt.Sprintf("notes/tug/1.%d.0.md", n/8)
			text = fmt.Sprintf("# Tug 1.%d.0\n\n%s", n/8, prose(r, 2))
			row["content_type"] = "note"
		default:
			name = fmt.Sprintf("manual/page-%03d.md", n)
			text = fmt.Sprintf("# %s\n\n%s\n\n## Notes on %s\n\n%s", title(r), prose(r, 2), only(n), prose(r, 2))
			row["content_type"] = "page"
		}
		sum := sha256.Sum256([]byte(text))
		row["path"], row["source_path"], row["sha256"], row["bytes"] = name, name, hex.EncodeToString(sum[:]), len(text)
		line, err := json.Marshal(row)
		if err != nil {
			tb.Fatal(err)
		}
		manifest.Write(append(line, '\n'))
		writeFile(tb, filepath.Join(f.corpus, filepath.FromSlash(name)), text)
	}
	writeFile(tb, filepath.Join(f.corpus, "manifest.jsonl"), manifest.String())
}

// words are the words of documents.
var words = strings.Fields(`anchor barge beacon bell berth bollard breakwater buoy cable canal captain chain channel chart current deck
	dock draught dredge ferry fender fog gangway gauge harbour hawser hull jetty keel knot lantern lighthouse lock log manifest mast mooring
	ledger notary quay rope rudder sail sounding storm tide toll towline tug vessel wharf winch validator settlement transfer`)

// only is a word that a page has alone, far from every other.
func only(page int) string {
	r := rand.New(rand.NewPCG(uint64(page), 3))
	word := make([]byte, 10)
	for i := range word {
		word[i] = byte('a' + r.IntN(26))
	}
	return string(word)
}

func title(r *rand.Rand) string {
	a, b := words[r.IntN(len(words))], words[r.IntN(len(words))]
	return strings.ToUpper(a[:1]) + a[1:] + " of the " + b
}

// prose is so many paragraphs.
func prose(r *rand.Rand, paragraphs int) string {
	var b strings.Builder
	for range paragraphs {
		for range 40 + r.IntN(40) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

func writeFile(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// binary builds the program once for all tests, as it is released: without the race detector, whose timing is not what
// these tests are about, and without cgo, which only that wants.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "almanac-test-*")
	if err != nil {
		return "", err
	}
	binaryDir = dir
	path := filepath.Join(dir, "almanac")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, os.Chmod(dir, 0o755)
})

var binaryDir string // removed by TestMain

func TestMain(m *testing.M) {
	code := postgrestest.M{M: m}.Run()
	if binaryDir != "" {
		_ = os.RemoveAll(binaryDir) // a temporary directory
	}
	os.Exit(code)
}

func program(tb testing.TB) string {
	tb.Helper()
	path, err := binary()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// environ is the environment of a program under test: none of our variables but the
// given settings, and unless these say otherwise as much time for a search as a busy
// machine may need, and the model that takes none.
func environ(home string, settings ...string) []string {
	usual := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"ALMANAC_SEARCH_DEADLINE=1m", "ALMANAC_EMBED_MODEL=table"}
	usual = slices.DeleteFunc(usual, func(u string) bool {
		name, _, _ := strings.Cut(u, "=")
		return slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	})
	return append(usual, settings...)
}

// today is the day of the sample's first load, if it is loaded now.
func today() string { return time.Now().UTC().Format(time.DateOnly) }

// onOneDay runs something whose result depends on the day, again if that has changed
// meanwhile: the sample hangs on the day of its first load, and a window of days on that
// of the question.
func onOneDay(run func()) {
	for began := ""; began != today(); {
		began = today()
		run()
	}
}

// almanac runs the program to its end.
func almanac(tb testing.TB, env []string, args ...string) (out, errOut string, code int) {
	tb.Helper()
	return almanacAs(tb, nil, env, args...)
}

// almanacAs is almanac as another user.
func almanacAs(tb testing.TB, user *syscall.SysProcAttr, env []string, args ...string) (out, errOut string, code int) {
	tb.Helper()
	return execute(tb, user, env, program(tb), args...)
}

// execute runs a program to its end.
func execute(tb testing.TB, user *syscall.SysProcAttr, env []string, program string,
	args ...string) (out, errOut string, code int) {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(tb.Context(), program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = env, &stdout, &stderr, user
	err := cmd.Run()
	if cmd.ProcessState == nil {
		tb.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// must is almanac for what cannot fail.
func must(tb testing.TB, env []string, args ...string) string {
	tb.Helper()
	out, errOut, code := almanac(tb, env, args...)
	if code != 0 {
		tb.Fatalf("almanac %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// oneSentence reports whether the program said what is wrong in one line.
func oneSentence(errOut string) bool {
	return strings.HasPrefix(errOut, "almanac: ") && strings.Count(errOut, "\n") == 1 && strings.HasSuffix(errOut, "\n")
}

// logLine is a line of the program's log.
type logLine struct {
	Level    string `json:"level"`
	Msg      string `json:"msg"`
	Address  string `json:"address"`
	Records  int    `json:"records"`
	Passages int    `json:"passages"`
	Model    string `json:"model"`
	// Of the run of a source.
	Source  string `json:"source"`
	Created int    `json:"created"`
	Skipped int    `json:"skipped"`
	Error   string `json:"error"`
}

// logReader passes on lines of a log as they are written, and keeps all.
type logReader struct {
	mu    sync.Mutex // guards all
	all   bytes.Buffer
	rest  []byte
	lines chan logLine
}

func newLogReader() *logReader { return &logReader{lines: make(chan logLine, 10_000)} }

func (l *logReader) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.Write(p)
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.rest = rest
		var parsed logLine
		if json.Unmarshal(line, &parsed) == nil && parsed.Msg != "" {
			l.lines <- parsed
		}
	}
}

func (l *logReader) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

var _ io.Writer = (*logReader)(nil)
