package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/corpus"
	"almanac/retrieval/passage"
	"almanac/testing/postgrestest"
	"almanac/testing/wait"
)

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

// almanac runs the program to its end.
func almanac(tb testing.TB, env []string, args ...string) (out, errOut string, code int) {
	tb.Helper()
	return execute(tb, nil, env, program(tb), args...)
}

// execute runs a program to its end, as another user if one is given.
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

// server is a running `almanac serve`.
type server struct {
	cmd      *exec.Cmd
	log      *logReader
	base     string // http://127.0.0.1:port
	admin    string
	exited   chan struct{}
	exitCode int // when exited
}

// start runs serve on free ports and returns when it listens.
func start(tb testing.TB, env []string, args ...string) *server {
	tb.Helper()
	return startProgram(tb, env, program(tb), args...)
}

// startProgram is start of another build.
func startProgram(tb testing.TB, env []string, program string, args ...string) *server {
	tb.Helper()
	s := &server{log: newLogReader(), exited: make(chan struct{})}
	s.cmd = exec.Command(program,
		append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
	s.cmd.Env, s.cmd.Stderr = env, s.log
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // the exit code says how it ended
		s.exitCode = s.cmd.ProcessState.ExitCode()
		close(s.exited)
	}()
	tb.Cleanup(func() {
		s.kill()
		if tb.Failed() {
			tb.Logf("log of the server:\n%s", s.log)
		}
	})
	s.base = "http://" + s.await(tb, "listening").Address
	s.admin = "http://" + s.await(tb, "admin listener ready").Address
	return s
}

// await returns the next log line with a message.
func (s *server) await(tb testing.TB, msg string) logLine {
	tb.Helper()
	late := time.After(wait.Bound)
	for {
		select {
		case line := <-s.log.lines:
			if line.Msg == msg {
				return line
			}
		case <-s.exited:
			// What it said last may still be in the channel.
			select {
			case line := <-s.log.lines:
				if line.Msg == msg {
					return line
				}
			default:
				tb.Fatalf("the server ended with %d before it said %q:\n%s", s.exitCode, msg, s.log)
			}
		case <-late:
			tb.Fatalf("the server did not say %q:\n%s", msg, s.log)
		}
	}
}

// ready waits for the first index and returns its size.
func (s *server) ready(tb testing.TB) logLine {
	tb.Helper()
	line := s.await(tb, "ready")
	if status, _, body := s.get(tb, "/ready"); status != http.StatusOK {
		tb.Fatalf("/ready answers %d %s after it was logged", status, body)
	}
	return line
}

func (s *server) signal(tb testing.TB, signal os.Signal) {
	tb.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		tb.Fatal(err)
	}
}

// stop sends the termination signal and wants exit code 0.
func (s *server) stop(tb testing.TB) {
	tb.Helper()
	s.signal(tb, syscall.SIGTERM)
	if code := s.ended(tb); code != 0 {
		tb.Errorf("exit code %d:\n%s", code, s.log)
	}
}

func (s *server) ended(tb testing.TB) int {
	tb.Helper()
	select {
	case <-s.exited:
		return s.exitCode
	case <-time.After(wait.Bound):
		tb.Fatalf("the server does not stop:\n%s", s.log)
		return 0
	}
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.exited
}

// client opens a connection for each request, so that none outlives its test.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	Timeout: wait.Bound}

// do sends a request; headers are name, value, …; Host is one of them.
func do(tb testing.TB, method, address string, headers ...string) (int, http.Header, string) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, address, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	res, err := client.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return res.StatusCode, res.Header, string(body)
}

func (s *server) get(tb testing.TB, path string, headers ...string) (int, http.Header, string) {
	tb.Helper()
	return do(tb, http.MethodGet, s.base+path, headers...)
}

// getJSON decodes an answer that must be 200.
func getJSON[T any](tb testing.TB, s *server, path string) (v T) {
	tb.Helper()
	status, _, body := s.get(tb, path)
	if status != http.StatusOK {
		tb.Fatalf("%s: %d %s", path, status, body)
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// found is a search's answer without what differs from run to run.
type (
	found struct {
		Total    int
		Items    []item
		Degraded []string
	}
	item struct {
		Key, Title, Snippet string
		Score               float64
	}
)

func (s *server) search(tb testing.TB, query string) found {
	tb.Helper()
	return getJSON[found](tb, s, "/api/v1/search?limit=5&q="+url.QueryEscape(query))
}

// finds reports whether a page is found by its own word.
func (s *server) finds(tb testing.TB, page int) bool {
	tb.Helper()
	return s.search(tb, only(page)).has(page)
}

// has reports whether a page is among the results.
func (f found) has(page int) bool {
	key := fmt.Sprintf("manual/page-%03d.md", page)
	return slices.ContainsFunc(f.Items, func(i item) bool { return i.Key == key })
}

// degraded searches for something new and returns the engines that did not answer.
func (s *server) degraded(tb testing.TB) []string {
	tb.Helper()
	return s.search(tb, fmt.Sprintf("beacon harbour %d", time.Now().UnixNano())).Degraded
}

// model is that of the index which answers.
func (s *server) model(tb testing.TB) string {
	tb.Helper()
	return getJSON[struct{ Index struct{ Model string } }](tb, s, "/status").Index.Model
}

// reason is what the operator is told of an engine that is down. The public is
// told no more than that.
func (s *server) reason(tb testing.TB, engine string) string {
	tb.Helper()
	var all struct {
		Down []struct{ Engine, Reason string }
	}
	_, _, body := do(tb, http.MethodGet, s.admin+"/engines")
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		tb.Fatal(err, body)
	}
	for _, d := range all.Down {
		if d.Engine != engine {
			continue
		}
		for _, path := range []string{"/status", "/ready", "/health"} {
			if _, _, body := s.get(tb, path); strings.Contains(body, d.Reason) {
				tb.Errorf("%s tells everybody: %s", path, body)
			}
		}
		return d.Reason
	}
	return ""
}

// queries are of every class; the words are those of the fixture.
var queries = []string{"LIP-3", "beacon harbour", "tide", "how does a tug tow a barge through the canal",
	"settelment ledgr", only(29), "1.2.0"}

// state is everything of an index that must survive what happens to it, of a server that
// just said it was ready: its size, its records by type, and answers.
func (s *server) state(tb testing.TB, ready logLine) string {
	tb.Helper()
	type row struct {
		Type  string
		Count int
	}
	rows := getJSON[struct{ Sources []row }](tb, s, "/api/v1/sources").Sources
	text := fmt.Sprintf("%+v %d passages\n", rows, ready.Passages)
	for _, q := range queries {
		text += fmt.Sprintf("%s: %+v\n", q, s.search(tb, q))
	}
	return text
}

// site is a fixture with a data directory and what runs programs on them.
type site struct {
	fixture
	data string
	env  []string
}

func newSite(tb testing.TB, documents int, settings ...string) site {
	tb.Helper()
	if testing.Short() {
		tb.Skip("starts the program: make programs runs it")
	}
	f := writeFixture(tb, tb.TempDir(), documents)
	return site{f, filepath.Join(tb.TempDir(), "data"),
		environ(tb.TempDir(), append([]string{"ALMANAC_CORPUS=" + f.corpus, "ALMANAC_LIMIT_REST=0",
			"ALMANAC_LIMIT_MCP=0"}, settings...)...)}
}

func (s site) args(more ...string) []string {
	return append([]string{"--network", s.network, "--data", s.data}, more...)
}

// servers starts so many on one catalog, each with a data directory of its own.
func (s site) servers(tb testing.TB, n int) (all []*server) {
	tb.Helper()
	for range n {
		one := s.elsewhere(tb).serve(tb)
		one.ready(tb)
		all = append(all, one)
	}
	return all
}

func (s site) serve(tb testing.TB, settings ...string) *server {
	tb.Helper()
	return start(tb, append(slices.Clone(s.env), settings...), s.args()...)
}

// run runs a command that cannot fail.
func (s site) run(tb testing.TB, command string, args ...string) string {
	tb.Helper()
	return must(tb, s.env, append([]string{command}, s.args(args...)...)...)
}

// refuses runs a command that is to end with 1 and to say something.
func (s site) refuses(tb testing.TB, want, command string, args ...string) {
	tb.Helper()
	out, errOut, code := almanac(tb, s.env, append([]string{command}, s.args(args...)...)...)
	if code != 1 || !strings.Contains(out+errOut, want) {
		tb.Errorf("%s ends with %d and does not say %q:\n%s%s", command, code, want, out, errOut)
	}
}

// elsewhere is the same network with a data directory of its own.
func (s site) elsewhere(tb testing.TB) site {
	s.data = filepath.Join(tb.TempDir(), "data")
	return s
}

// stdio connects to `almanac mcp` as a client starts it.
func (s site) stdio(tb testing.TB, args ...string) *sdk.ClientSession {
	tb.Helper()
	cmd := exec.Command(program(tb), append([]string{"mcp"}, s.args(args...)...)...)
	cmd.Env = s.env
	return connect(tb, &sdk.CommandTransport{Command: cmd})
}

func connect(tb testing.TB, transport sdk.Transport) *sdk.ClientSession {
	tb.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(tb.Context(), transport, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = session.Close() }) // a stateless server has nothing to close
	return session
}

// callTool calls a tool until what it asks is loaded.
func callTool(tb testing.TB, session *sdk.ClientSession, tool string, arguments map[string]any) (answer string, failed bool) {
	tb.Helper()
	wait.Until(tb, tool+" answers", func() bool {
		res, err := session.CallTool(tb.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			tb.Fatal(err)
		}
		answer, failed = "", res.IsError
		if len(res.Content) > 0 {
			answer = res.Content[0].(*sdk.TextContent).Text
		}
		return !failed || !strings.Contains(answer, "loading")
	})
	return answer, failed
}

// index reads every file of the engines' snapshots.
func (s site) index(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	for _, path := range s.snapshots(tb) {
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files[name] = read(tb, name)
			}
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return files
}

// snapshots returns the paths of the engines' snapshots.
func (s site) snapshots(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(s.data, "*.snapshot"))
	if err != nil {
		tb.Fatal(err)
	}
	return paths
}

// damage changes every file of an engine's snapshot.
func (s site) damage(tb testing.TB, engine string, change func(b []byte) []byte) {
	tb.Helper()
	damaged := 0
	for name, content := range s.index(tb) {
		if in, _ := filepath.Rel(s.data, name); !strings.HasPrefix(in, engine) {
			continue
		}
		if err := os.WriteFile(name, change(content), 0o600); err != nil {
			tb.Fatal(err)
		}
		damaged++
	}
	if damaged == 0 {
		tb.Fatalf("no snapshot of the %s engine", engine)
	}
}

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// store opens the catalog.
func (s site) store(tb testing.TB) *sqlstore.Store {
	tb.Helper()
	store, err := sqlite.Open(tb.Context(), sqlite.Config{Path: datadir.File(s.data)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	return store
}

// passages returns the texts that the catalog's last generation has embedded, by passage.
func (s site) passages(tb testing.TB) map[int64]string {
	tb.Helper()
	store := s.store(tb)
	all, err := store.Generations(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	generation, titles := all[len(all)-1].ID, map[int64]string{}
	err = store.ScanDocuments(tb.Context(), generation, func(record int64, data []byte) error {
		d, err := corpus.Decode(record, string(data))
		for o := 0; err == nil && o < d.Len(); o++ {
			titles[int64(passage.NewID(record, o))] = d.Title
		}
		return err
	})
	var list []catalog.Passage
	if err == nil {
		list, err = store.Passages(tb.Context(), generation, slices.Collect(maps.Keys(titles)))
	}
	if err != nil || len(list) != len(titles) {
		tb.Fatalf("%d of %d passages: %v", len(list), len(titles), err)
	}
	texts := map[int64]string{}
	for _, p := range list {
		texts[p.ID] = passage.EmbedText(titles[p.ID], passage.Piece{Heading: p.Heading, Text: p.Text})
	}
	return texts
}
