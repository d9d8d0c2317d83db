package gitrepo_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"almanac/ingest/gitrepo"
	"almanac/ingest/outbound"
	"almanac/testing/gitrepotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// head fetches a remote and returns the hash of its branch main.
func head(t *testing.T, client *outbound.Client, dir, remote string) (string, error) {
	t.Helper()
	if _, err := gitrepo.Fetch(t.Context(), client, dir, gitrepo.Source{Remote: remote, Branch: "main"}); err != nil {
		return "", err
	}
	r, err := gitrepo.Open(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Head, nil
}

// allowing makes a client that may connect to some private addresses.
func allowing(t *testing.T, prefixes ...string) *outbound.Client {
	t.Helper()
	c := outbound.Config{Timeout: 30 * time.Second,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	for _, p := range prefixes {
		c.Allow = append(c.Allow, netip.MustParsePrefix(p))
	}
	client := outbound.New(c)
	t.Cleanup(client.Close)
	return client
}

func TestFetchFollowsItsRemote(t *testing.T) {
	repo := gitrepotest.New(t)
	first := repo.Commit("one", map[string]string{"a.md": "a", "dir/b.md": "b"})
	dir := filepath.Join(t.TempDir(), "mirror.git")
	step := func(name, want string) {
		t.Helper()
		if got, err := head(t, nil, dir, repo.Dir); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	step("a new mirror", first)
	second := repo.Commit("two", map[string]string{"a.md": "aa"})
	step("a commit more", second)
	repo.Git("reset", "--quiet", "--hard", first)
	other := repo.Commit("another two", map[string]string{"c.md": "c"})
	step("a rewritten branch", other)

	for _, left := range []string{"refs/heads/main.lock", "packed-refs.lock", "shallow.lock",
		"objects/pack/tmp_pack_x", "objects/pack/.tmp-1-pack-x.pack"} {
		if err := os.WriteFile(filepath.Join(dir, left), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	third := repo.Commit("three", map[string]string{"c.md": "cc"})
	step("what a killed fetch left", third)
	if left, err := filepath.Glob(filepath.Join(dir, "objects/pack/*tmp*")); err != nil || len(left) > 0 {
		t.Errorf("half-written packs are still there: %q, %v", left, err)
	}
	if err := os.Remove(filepath.Join(dir, "HEAD")); err != nil {
		t.Fatal(err)
	}
	step("a half-made mirror", third)

	bundle := filepath.Join(t.TempDir(), "all.bundle")
	repo.Git("bundle", "create", "--quiet", bundle, "main")
	if got, err := head(t, nil, filepath.Join(t.TempDir(), "m.git"), bundle); err != nil || got != third {
		t.Errorf("a bundle: %q, %v", got, err)
	}
}

// TestRepositoriesOfSHA256AreRead: git names their objects by other hashes.
func TestRepositoriesOfSHA256AreRead(t *testing.T) {
	repo := gitrepotest.New(t)
	if err := os.RemoveAll(filepath.Join(repo.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	repo.Git("init", "--quiet", "--object-format=sha256", "--initial-branch=main")
	repo.Commit("one", map[string]string{"a.md": "text"})
	blob := repo.Git("rev-parse", "HEAD:a.md")
	for _, remote := range []string{repo.Dir, serve(t, "127.0.0.1:0", repo.Handler()).URL + "/harbour/handbook.git"} {
		err := gitrepo.Read(t.Context(), allowing(t, "127.0.0.1/32"), filepath.Join(t.TempDir(), "m.git"),
			gitrepo.Source{Remote: remote}, func(r *gitrepo.Repository) error {
				text, err := r.Blob(blob, 10)
				if err != nil || string(text) != "text" {
					t.Errorf("%q, %v", text, err)
				}
				added := must(r.Changes(nil, must(r.Commits())[r.Head])).Changes
				for step, err := range r.History() {
					if diff := cmp.Diff(added, step.Changes); diff != "" || err != nil || len(added) != 1 {
						t.Errorf("%v (-compared +history)\n%s", err, diff)
					}
				}
				return nil
			})
		if err != nil {
			t.Errorf("%s: %v", remote, err)
		}
	}
}

// TestPacksDoNotPileUp: each fetch that finds something new leaves a pack.
func TestPacksDoNotPileUp(t *testing.T) {
	repo := gitrepotest.New(t)
	dir := filepath.Join(t.TempDir(), "mirror.git")
	for i := range 25 {
		want := repo.Commit("more", map[string]string{"a.md": strings.Repeat("a", i)})
		if got, err := head(t, nil, dir, repo.Dir); err != nil || got != want {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	}
	if packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack")); err != nil || len(packs) > 20 {
		t.Errorf("%d packs, %v", len(packs), err)
	}
	repo.Git("--git-dir", dir, "fsck", "--strict")
}

func TestWithoutABranchTheRemotesOwnIsFetched(t *testing.T) {
	repo := gitrepotest.New(t)
	repo.Commit("one", map[string]string{"a.md": "a"})
	repo.Git("branch", "--move", "main", "north")
	repo.Git("branch", "old")
	tip := repo.Commit("two", map[string]string{"a.md": "aa"})
	bundle := func(refs ...string) string {
		file := filepath.Join(t.TempDir(), "some.bundle")
		repo.Git(append([]string{"bundle", "create", "--quiet", file}, refs...)...)
		return file
	}
	follow := func(name, remote, want string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "m.git")
		branch, err := gitrepo.Fetch(t.Context(), allowing(t, "127.0.0.0/8"), dir, gitrepo.Source{Remote: remote})
		if err != nil || branch != want {
			t.Errorf("%s: branch %q, %v; want %q", name, branch, err, want)
			return
		}
		r, err := gitrepo.Open(t.Context(), dir, branch)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		defer r.Close()
		if want == "north" && r.Head != tip {
			t.Errorf("%s: is at %s, want %s", name, r.Head, tip)
		}
	}
	follow("a clone", repo.Dir, "north")
	server := httptest.NewServer(repo.Handler())
	defer server.Close()
	follow("a server", server.URL+"/harbour/handbook.git", "north")
	follow("a bundle with HEAD", bundle("HEAD", "north", "old"), "north")
	follow("a bundle of one branch", bundle("old"), "old")
	repo.Git("checkout", "--quiet", "--detach")
	follow("a detached HEAD", repo.Dir, "north")
	repo.Git("branch", "master", "old")
	follow("a bundle of several with a usual one", bundle("master", "north", "old"), "master")

	empty := gitrepotest.New(t)
	for name, c := range map[string]struct{ remote, want string }{
		"an empty repository": {empty.Dir, "the repository has no branch"},
		"a bundle that says nothing": {bundle("north", "old"),
			"does not name its main branch; name one of north, old in option branch"},
		"a repository that is missing": {filepath.Join(t.TempDir(), "missing"), "no such file"},
	} {
		_, err := gitrepo.Fetch(t.Context(), nil, filepath.Join(t.TempDir(), "m.git"), gitrepo.Source{Remote: c.remote})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// TestAnotherOwner reads a clone that belongs to somebody else, as one that is
// mounted into a container does, and runs none of the commands that its owner put
// into it.
func TestAnotherOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a clone away")
	}
	repo := gitrepotest.New(t)
	hash := repo.Commit("one", map[string]string{"a.md": "# A"})
	marker := filepath.Join(t.TempDir(), "marker")
	run := "touch " + marker
	for _, name := range []string{"core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.alternateRefsCommand",
		"uploadpack.packObjectsHook", "uploadpack.hook", "credential.helper", "remote.origin.uploadpack"} {
		repo.Git("config", name, run)
	}
	repo.Git("config", "core.hooksPath", filepath.Join(repo.Dir, ".git", "hooks"))
	for _, hook := range []string{"pre-upload", "post-upload", "pre-auto-gc", "reference-transaction", "post-checkout"} {
		write(t, filepath.Join(repo.Dir, ".git", "hooks", hook), "#!/bin/sh\n"+run+"\n")
	}
	err := filepath.WalkDir(repo.Dir, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, 4242, 4242))
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "mirror.git")
	branch, err := gitrepo.Fetch(t.Context(), nil, dir, gitrepo.Source{Remote: repo.Dir, Pulls: true})
	if err != nil || branch != "main" {
		t.Fatalf("branch %q, %v", branch, err)
	}
	r, err := gitrepo.Open(t.Context(), dir, branch)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Head != hash {
		t.Errorf("head %s, want %s", r.Head, hash)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a command of the clone was run")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
}

func TestBadRemotes(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	marker := filepath.Join(t.TempDir(), "marker")
	repo := gitrepotest.New(t)
	repo.Commit("one", map[string]string{"a.md": "a"})
	tests := map[string]struct{ remote, branch, want string }{
		"nothing":                   {"", "main", "not a repository address"},
		"an option":                 {"--upload-pack=touch " + marker, "main", "not a repository address"},
		"a command":                 {"ext::sh -c touch% " + marker, "main", "not a repository address"},
		"another helper":            {"ext://touch " + marker, "main", "not a repository address"},
		"files by address":          {"file://" + repo.Dir, "main", "not a repository address"},
		"a password":                {"https://ada:hush@forge.example.org/a/b", "main", "without password"},
		"a query":                   {"https://forge.example.org/a/b?token=hush", "main", "not a repository address"},
		"no host":                   {"https:///a/b", "main", "not a repository address"},
		"a host of shell":           {"ssh://forge.example.org'$(touch)/a/b", "main", "not a repository address"},
		"an address as a number":    {"http://2130706433/a/b", "main", "not a repository address"},
		"an address in hexadecimal": {"http://0x7f.1/a/b", "main", "not a repository address"},
		"an address with a zone":    {"http://[fe80::1%25eth0]/a/b", "main", "not a repository address"},
		"a missing path":            {filepath.Join(t.TempDir(), "missing"), "main", "no such file"},
		"a short form of ssh":       {"git@forge.example.org:a/b", "main", "ssh://user@host/path"},
		"a missing branch": {repo.Dir, "trunk",
			"the repository has no branch trunk; name one of main in option branch, or omit the option"},
		"a branch as an option": {repo.Dir, "--upload-pack=x", "not a branch name"},
		"a branch upwards":      {repo.Dir, "a/../../b", "not a branch name"},
		"no repository":         {t.TempDir(), "main", "does not appear to be a git repository"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := gitrepo.Fetch(t.Context(), allowing(t), filepath.Join(t.TempDir(), "m.git"),
				gitrepo.Source{Remote: tt.remote, Branch: tt.branch})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v; want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Errorf("%v: has a secret in it", err)
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("ran a command")
			}
		})
	}
	t.Run("no git", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := gitrepo.Fetch(t.Context(), nil, filepath.Join(t.TempDir(), "m.git"),
			gitrepo.Source{Remote: repo.Dir, Branch: "main"})
		if err == nil || !strings.Contains(err.Error(), "install git") {
			t.Errorf("%v", err)
		}
	})
	t.Run("an old git", func(t *testing.T) {
		standIn(t, "git", "echo git version 2.36.9")
		_, err := gitrepo.Fetch(t.Context(), allowing(t), filepath.Join(t.TempDir(), "m.git"),
			gitrepo.Source{Remote: "https://forge.example.org/a/b", Branch: "main"})
		if err == nil || !strings.Contains(err.Error(), "too old") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a cancelled run", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := gitrepo.Fetch(ctx, nil, filepath.Join(t.TempDir(), "m.git"),
			gitrepo.Source{Remote: repo.Dir, Branch: "main"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

// standIn puts a shell script in front of a command in PATH.
func standIn(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestName(t *testing.T) {
	for remote, want := range map[string]string{
		"https://forge.example.org/harbour/handbook":      "harbour/handbook",
		"https://forge.example.org/harbour/handbook.git/": "harbour/handbook",
		"ssh://git@forge.example.org:2222/a/b/c.git":      "b/c",
		"https://forge.example.org/handbook":              "handbook",
		"/srv/git/handbook.git":                           "handbook",
		"../bundles/handbook.bundle":                      "handbook",
	} {
		if got := gitrepo.Name(remote); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
}

// host serves a repository and records its requests.
type host struct {
	*httptest.Server
	mu     sync.Mutex
	agents []string
}

func serve(t *testing.T, address string, h http.Handler) *host {
	t.Helper()
	s := &host{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.agents = append(s.agents, r.UserAgent())
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	_ = s.Listener.Close()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (h *host) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.agents
}

func (h *host) port() string {
	u, _ := url.Parse(h.URL)
	return u.Port()
}

func TestFetchFromAServer(t *testing.T) {
	repo := gitrepotest.New(t)
	want := repo.Commit("one", map[string]string{"a.md": "a"})
	s := serve(t, "127.0.0.1:0", repo.Handler())
	dir := filepath.Join(t.TempDir(), "m.git")
	if got, err := head(t, allowing(t, "127.0.0.1/32"), dir, s.URL+"/harbour/handbook.git"); err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	want = repo.Commit("two", map[string]string{"a.md": "aa"})
	if got, err := head(t, allowing(t, "127.0.0.1/32"), dir, s.URL+"/harbour/handbook.git/"); err != nil ||
		got != want {
		t.Errorf("again: %q, %v; want %q", got, err, want)
	}
	before := len(s.requests())
	if _, err := head(t, allowing(t), dir, s.URL+"/harbour/handbook.git"); !errors.Is(err, outbound.ErrRefused) {
		t.Errorf("without leave: %v", err)
	}
	if _, err := head(t, nil, dir, s.URL+"/harbour/handbook.git"); err == nil {
		t.Error("without a client: is fetched")
	}
	if len(s.requests()) != before {
		t.Error("a request was sent to a refused server")
	}
}

// The token is sent to a private repository, but not to the host that it moved
// to, and it is not stored.
func TestPrivateRepositories(t *testing.T) {
	repo := gitrepotest.New(t)
	want := repo.Commit("one", map[string]string{"a.md": "a"})
	git := repo.Handler()
	private := serve(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "hush" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		git.ServeHTTP(w, r)
	}))
	var shown atomic.Bool
	elsewhere := serve(t, "127.0.0.2:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			shown.Store(true)
		}
		git.ServeHTTP(w, r)
	}))
	moved := serve(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.RequestURI, http.StatusFound)
	}))
	client := allowing(t, "127.0.0.0/8")
	fetch := func(server *host, token string) (string, error) {
		dir := filepath.Join(t.TempDir(), "m.git")
		_, err := gitrepo.Fetch(t.Context(), client, dir,
			gitrepo.Source{Remote: server.URL + "/harbour/handbook.git", Branch: "main", Token: token})
		if err != nil {
			return "", err
		}
		r, err := gitrepo.Open(t.Context(), dir, "main")
		if err != nil {
			return "", err
		}
		defer r.Close()
		config, err := os.ReadFile(filepath.Join(dir, "config"))
		if err != nil || bytes.Contains(config, []byte("hush")) {
			t.Errorf("the token is on the disk: %v", err)
		}
		return r.Head, nil
	}
	for name, tt := range map[string]struct {
		server      *host
		token, want string
	}{
		"with its token":  {private, "hush", ""},
		"without":         {private, "", "the repository is not public, or does not exist"},
		"with another":    {private, "other", "the token is not accepted"},
		"moved elsewhere": {moved, "hush", ""},
	} {
		got, err := fetch(tt.server, tt.token)
		if tt.want == "" && (err != nil || got != want) ||
			tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) ||
				strings.Contains(err.Error(), tt.token) && tt.token != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
		}
	}
	if shown.Load() {
		t.Error("another host saw the token")
	}
}

func TestServersThatMisbehave(t *testing.T) {
	repo := gitrepotest.New(t)
	want := repo.Commit("one", map[string]string{"a.md": "a"})
	inside := serve(t, "127.0.0.2:0", repo.Handler())
	git := repo.Handler()
	isGit := func(r *http.Request) bool { return strings.HasPrefix(r.UserAgent(), "git/") }
	tests := map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"a page": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<!doctype html>")) },
			"no git repository at the address"},
		"nothing there": {http.NotFound, "404"},
		"not public": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
			"not public"},
		"fails": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "502"},
		"leads inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inside.URL+r.RequestURI, http.StatusFound)
		}, "refused"},
		"leads git inside": {func(w http.ResponseWriter, r *http.Request) {
			if isGit(r) {
				http.Redirect(w, r, inside.URL+r.RequestURI, http.StatusFound)
				return
			}
			git.ServeHTTP(w, r)
		}, "git: "},
		"breaks off": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				panic(http.ErrAbortHandler)
			}
			git.ServeHTTP(w, r)
		}, "git: "},
		"another page behind a redirect": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/front" {
				w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
				return
			}
			http.Redirect(w, r, "/front", http.StatusFound)
		}, "not that of a git repository"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := serve(t, "127.0.0.1:0", tt.handler)
			_, err := head(t, allowing(t, "127.0.0.1/32"), filepath.Join(t.TempDir(), "m.git"),
				s.URL+"/harbour/handbook.git")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v; want %q", err, tt.want)
			}
		})
	}
	t.Run("moved", func(t *testing.T) {
		s := serve(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if rest, ok := strings.CutPrefix(r.RequestURI, "/old/name/"); ok {
				http.Redirect(w, r, "/harbour/handbook.git/"+rest, http.StatusMovedPermanently)
				return
			}
			git.ServeHTTP(w, r)
		}))
		if got, err := head(t, allowing(t, "127.0.0.1/32"), filepath.Join(t.TempDir(), "m.git"),
			s.URL+"/old/name"); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	})
	if got := inside.requests(); len(got) > 0 {
		t.Errorf("the private server got requests from %v", got)
	}
}

// TestGitIsPinnedToTheGuardedAddress gives a name one address for the guard and
// another one for a later lookup by git.
func TestGitIsPinnedToTheGuardedAddress(t *testing.T) {
	repo := gitrepotest.New(t)
	want := repo.Commit("one", map[string]string{"a.md": "a"})
	outside := serve(t, "127.0.0.2:0", repo.Handler())
	inside := serve(t, "127.0.0.1:"+outside.port(), http.NotFoundHandler())
	dialer := &net.Dialer{}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, "127.0.0.2:"+outside.port())
	}}
	defer transport.CloseIdleConnections()
	client := outbound.New(outbound.Config{Transport: transport})
	defer client.Close()
	for _, name := range []string{"localhost", "LocalHost", "forge.example.org"} {
		got, err := head(t, client, filepath.Join(t.TempDir(), "m.git"),
			"http://"+name+":"+outside.port()+"/harbour/handbook.git")
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if got := inside.requests(); len(got) > 0 {
		t.Errorf("the private server got requests from %v", got)
	}
}

func TestOtherProtocolsUseTheGuard(t *testing.T) {
	repo := gitrepotest.New(t)
	want := repo.Commit("one", map[string]string{"a.md": "a"})
	port := daemon(t, repo.Dir, func(w io.Writer) io.Writer { return w })
	remote := "git://localhost:" + port + "/.git"
	if got, err := head(t, allowing(t, "127.0.0.1/32", "::1/128"), filepath.Join(t.TempDir(), "m.git"),
		remote); err != nil || got != want {
		t.Errorf("git: %q, %v; want %q", got, err, want)
	}
	if _, err := head(t, allowing(t), filepath.Join(t.TempDir(), "m.git"), remote); !errors.Is(err,
		outbound.ErrRefused) {
		t.Errorf("git without leave: %v", err)
	}

	// A stand-in records the arguments of ssh.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	record := filepath.Join(t.TempDir(), "record")
	standIn(t, "ssh", `printf '%s\n' "$@" > `+record+"; exit 1")
	remote = "ssh://git@localhost:" + port + "/harbour/handbook"
	if _, err := head(t, allowing(t), filepath.Join(t.TempDir(), "m.git"), remote); !errors.Is(err,
		outbound.ErrRefused) {
		t.Errorf("ssh without leave: %v", err)
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("ssh was started for an address that is refused")
	}
	if _, err := head(t, allowing(t, "127.0.0.1/32"), filepath.Join(t.TempDir(), "m.git"), remote); err == nil {
		t.Error("the stand-in for ssh fetched")
	}
	args, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-oHostName=127.0.0.1\n", "-oPort=", "-oHostKeyAlias=[localhost]:" + port + "\n",
		"-oProxyCommand=none\n", "-oBatchMode=yes\n"} {
		if !strings.Contains(string(args), want) {
			t.Errorf("ssh did not get the argument %q but\n%s", want, args)
		}
	}
}

// daemon serves a repository with git's own protocol until the test ends; through
// is what its answers go through.
func daemon(t *testing.T, dir string, through func(io.Writer) io.Writer) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--base-path="+dir, dir)
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
			cmd.Stdin, cmd.Stdout = conn, through(conn)
			cmd.WaitDelay = time.Second
			_ = cmd.Run() // it fails after a connection without a request
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
	})
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

func TestHistory(t *testing.T) {
	long := strings.Repeat("The lamp is lit at dusk.\n", 20)
	repo := gitrepotest.New(t)
	one := repo.Commit("one", map[string]string{"docs/a b.md": long, "docs/c.md": "c", "other/x.md": "x"})
	two := repo.Commit("two", map[string]string{"docs/a b.md": gitrepotest.Gone,
		"docs/ü/new line.md": long + "And put out.\n"})
	repo.Git("checkout", "--quiet", "-b", "side", one)
	repo.Commit("aside", map[string]string{"docs/side.md": "s"})
	repo.Git("checkout", "--quiet", "main")
	repo.Clock = repo.Clock.AddDate(0, 0, 1)
	repo.Git("merge", "--quiet", "--no-ff", "--message", "merge", "side")
	merge := repo.Git("rev-parse", "HEAD")
	empty := repo.Commit("nothing", nil)
	last := repo.Commit("last", map[string]string{"docs/c.md": gitrepotest.Gone, "other/x.md": "y"})

	type step struct {
		Commit  string
		Day     int
		Shallow bool
		Changes []gitrepo.Change
	}
	read := func(t *testing.T, depth, limit int, dirs ...string) (steps []step) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "m.git")
		remote := serve(t, "127.0.0.1:0", repo.Handler()).URL +
			"/harbour/handbook.git" // a path is never fetched shallow
		if _, err := gitrepo.Fetch(t.Context(), allowing(t, "127.0.0.1/32"), dir,
			gitrepo.Source{Remote: remote, Branch: "main", Depth: depth}); err != nil {
			t.Fatal(err)
		}
		r, err := gitrepo.Open(t.Context(), dir, "main")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for s, err := range r.History(dirs...) {
			if err != nil {
				t.Fatal(err)
			}
			steps = append(steps, step{s.Hash, s.Committed.Day(), s.Shallow, paths(s.Changes)})
			if len(steps) == limit {
				break
			}
		}
		return steps
	}
	all := []step{
		{last, 7, false, []gitrepo.Change{{Old: "docs/c.md"}}},
		{empty, 6, false, nil},
		{merge, 5, false, []gitrepo.Change{{New: "docs/side.md"}}},
		{two, 3, false, []gitrepo.Change{{Old: "docs/a b.md", New: "docs/ü/new line.md"}}},
		{one, 2, false, []gitrepo.Change{{New: "docs/a b.md"}, {New: "docs/c.md"}}},
	}
	if diff := cmp.Diff(all, read(t, 0, 0, "docs")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(all[:2], read(t, 0, 2, "docs")); diff != "" {
		t.Errorf("stopped (-want +got)\n%s", diff)
	}
	if got := read(t, 0, 1); len(got[0].Changes) != 2 {
		t.Errorf("of the whole tree: %v", got)
	}
	if got := read(t, 0, 0, "d*"); len(got) != 5 || got[0].Changes != nil {
		t.Errorf("a directory is no pattern: %v", got)
	}
	cut := read(t, 2, 0, "docs")
	if len(cut) != 2 || !cut[1].Shallow || cut[0].Shallow || len(cut[1].Changes) != 3 {
		t.Errorf("cut short: %v", cut)
	}
	t.Run("cancelled", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "m.git")
		if _, err := head(t, nil, dir, repo.Dir); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := gitrepo.Open(ctx, dir, "main")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range r.History() {
			cancel()
			break
		}
		for _, err := range r.History() {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
	})
}

func TestDepthMayChange(t *testing.T) {
	repo := gitrepotest.New(t)
	for _, text := range []string{"1", "2", "3", "4"} {
		repo.Commit(text, map[string]string{"a.md": text})
	}
	remote := serve(t, "127.0.0.1:0", repo.Handler()).URL + "/harbour/handbook.git"
	dir := filepath.Join(t.TempDir(), "m.git")
	for _, tt := range []struct{ depth, want int }{{1, 1}, {3, 3}, {2, 2}, {0, 4}, {0, 4}} {
		if _, err := gitrepo.Fetch(t.Context(), allowing(t, "127.0.0.1/32"), dir,
			gitrepo.Source{Remote: remote, Branch: "main", Depth: tt.depth}); err != nil {
			t.Fatal(err)
		}
		r, err := gitrepo.Open(t.Context(), dir, "main")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range r.History() {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		r.Close()
		if n != tt.want {
			t.Errorf("depth %d: %d commits, want %d", tt.depth, n, tt.want)
		}
	}
}

func TestFiles(t *testing.T) {
	repo := gitrepotest.New(t)
	repo.Commit("one", map[string]string{"a.md": "a", "big.md": strings.Repeat("x", 2000), "run.sh": "#!/bin/sh"})
	if err := os.Symlink("/etc/passwd", filepath.Join(repo.Dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	repo.Git("update-index", "--add", "--cacheinfo", "160000,"+repo.Git("rev-parse", "HEAD")+",module")
	repo.Git("add", "link.md")
	repo.Git("update-index", "--chmod=+x", "run.sh")
	repo.Git("commit", "--quiet", "--message", "two")
	dir := filepath.Join(t.TempDir(), "m.git")
	if _, err := head(t, nil, dir, repo.Dir); err != nil {
		t.Fatal(err)
	}
	r, err := gitrepo.Open(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files, _, err := r.Files(r.Head)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name := range files {
		names[name] = true
	}
	if diff := cmp.Diff(map[string]bool{"a.md": true, "big.md": true, "run.sh": true}, names); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	if text, err := r.Blob(files["a.md"], 10); string(text) != "a" || err != nil {
		t.Errorf("a.md: %q, %v", text, err)
	}
	if _, err := r.Blob(files["big.md"], 1999); !errors.Is(err, gitrepo.ErrTooLarge) {
		t.Errorf("big.md: %v", err)
	}
}

// odd are names that git takes and that are hard to read from a listing: with
// quotes, in another encoding than UTF-8, of directories. Nothing is read of those with
// control characters.
var odd, control = []string{"\"quoted\" 'b'.md", `back\slash.md`, "\xfcber.md", "概要 1.md", " b ", "%H 0/a.md"},
	[]string{"a\tb.md", "a\nb.md", "tab\tdir/a.md", "\x01%H 0.md", "\x1b[31m.md", "c1\u0085.md"}

func TestNamesThatAreHardToRead(t *testing.T) {
	repo := gitrepotest.New(t)
	files, text := map[string]string{}, strings.Repeat("The ferry leaves at dawn.\n", 20)
	for _, name := range slices.Concat(odd, control) {
		files[name] = text + name
	}
	repo.Commit("one", files)
	repo.Git("mv", odd[0], "plain.md")
	repo.Commit("two", map[string]string{odd[5]: text + "changed", odd[1]: gitrepotest.Gone,
		control[0]: gitrepotest.Gone})
	dir := filepath.Join(t.TempDir(), "m.git")
	if _, err := head(t, nil, dir, repo.Dir); err != nil {
		t.Fatal(err)
	}
	r, err := gitrepo.Open(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	commits, err := r.Commits()
	if err != nil {
		t.Fatal(err)
	}
	first := commits[commits[r.Head].Parents[0]]
	listed, others, err := r.Files(first.Hash)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range control {
		if err := others[name]; err == nil || !strings.Contains(err.Error(), "control character") {
			t.Errorf("%q: %v", name, err)
		}
	}
	want := map[string]bool{}
	got := map[string]bool{}
	for _, name := range odd {
		want[name] = true
	}
	for name := range listed {
		got[name] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}

	changed := []gitrepo.Change{
		{Old: odd[0], New: "plain.md"}, {Old: odd[1]}, {Old: odd[5], New: odd[5]},
	}
	order := func(a, b gitrepo.Change) int { return strings.Compare(a.Old, b.Old) }
	slices.SortFunc(changed, order)
	step, err := r.Changes(first, commits[r.Head])
	if err != nil || step.Wrong != nil {
		t.Fatal(err, step.Wrong)
	}
	found := paths(step.Changes)
	slices.SortFunc(found, order)
	if diff := cmp.Diff(changed, found); diff != "" {
		t.Errorf("changes (-want +got)\n%s", diff)
	}
	step, err = r.Changes(nil, first)
	if err != nil || len(step.Changes) != len(odd) || step.Wrong == nil {
		t.Errorf("changes since an empty tree: %d, %v, %v", len(step.Changes), step.Wrong, err)
	}
	for step, err := range r.History() {
		if err != nil {
			t.Fatal(err)
		}
		step.Changes = slices.DeleteFunc(paths(step.Changes), func(c gitrepo.Change) bool { return c.Old == control[0] })
		slices.SortFunc(step.Changes, order)
		if diff := cmp.Diff(changed, step.Changes); diff != "" {
			t.Errorf("history (-want +got)\n%s", diff)
		}
		break
	}
}

// paths leaves out what the files contain.
func paths(changes []gitrepo.Change) (out []gitrepo.Change) {
	for _, c := range changes {
		out = append(out, gitrepo.Change{Old: c.Old, New: c.New})
	}
	return out
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// object writes an object as it is, whatever git says of it.
func object(t *testing.T, repo *gitrepotest.Repo, kind, content string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "-C", repo.Dir, "hash-object", "-t", kind, "-w", "--literally",
		"--stdin")
	cmd.Stdin = strings.NewReader(content)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git hash-object: %v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// entry is one of a tree.
func entry(t *testing.T, mode, name, hash string) string {
	t.Helper()
	raw, err := hex.DecodeString(hash)
	if err != nil {
		t.Fatal(err)
	}
	return mode + " " + name + "\x00" + string(raw)
}

// TestObjectsOfAFetchAreChecked: what old tools made is read, and names that no file has are
// told; what is no history of git is refused.
func TestObjectsOfAFetchAreChecked(t *testing.T) {
	const commit = "tree %s\nauthor Ada Quill <a@x.example> %s\ncommitter Host<h@x.example> %s\n\nOne\n"
	for name, c := range map[string]struct {
		tree          func(repo *gitrepotest.Repo, blob string) string
		when          string
		files, others []string
		fails         string
	}{
		"old": {func(repo *gitrepotest.Repo, blob string) string {
			dir := object(t, repo, "tree", entry(t, "100664", "b.md", blob))
			return object(t, repo, "tree", entry(t, "100644", "a.md", blob)+entry(t, "040000", "dir", dir))
		}, "1930000000 +051800", []string{"a.md", "dir/b.md"}, nil, ""},
		"hand-made": {func(repo *gitrepotest.Repo, blob string) string {
			dir := object(t, repo, "tree", entry(t, "100644", "b.md", blob))
			return object(t, repo, "tree", entry(t, "40000", "..", dir)+
				entry(t, "40000", ".GIT", dir)+entry(t, "40000", ".git", dir)+entry(t, "100644", "/e.md", blob)+
				entry(t, "100644", "a.md", blob)+entry(t, "100644", "a/c.md", blob)+entry(t, "100644", "d\n\x1b[31m.md", blob))
		}, "1930000000 +0000", []string{"a.md", "a/c.md"},
			[]string{"../b.md", ".GIT/b.md", ".git/b.md", "/e.md", "d\n\x1b[31m.md"}, ""},
		"unsorted": {func(repo *gitrepotest.Repo, blob string) string {
			return object(t, repo, "tree", entry(t, "100644", "b.md", blob)+entry(t, "100644", "a.md", blob))
		}, "1930000000 +0000", nil, nil, "treeNotSorted"},
	} {
		t.Run(name, func(t *testing.T) {
			repo := gitrepotest.New(t)
			tree := c.tree(repo, object(t, repo, "blob", "text"))
			repo.Git("update-ref", "refs/heads/main", object(t, repo, "commit", fmt.Sprintf(commit, tree, c.when, c.when)))
			dir := filepath.Join(t.TempDir(), "mirror.git")
			if _, err := head(t, nil, dir, repo.Dir); err != nil || c.fails != "" {
				if c.fails == "" || err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("error %v, want %q", err, c.fails)
				}
				return
			}
			r := must(gitrepo.Open(t.Context(), dir, "main"))
			defer r.Close()
			files, others, err := r.Files(r.Head)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.files, slices.Sorted(maps.Keys(files))); diff != "" {
				t.Errorf("files (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.others, slices.Sorted(maps.Keys(others))); diff != "" {
				t.Errorf("others (-want +got)\n%s", diff)
			}
		})
	}
}

// TestReadingGoesOnAfterAFault: one object that cannot be read costs no other, and ends with the run.
func TestReadingGoesOnAfterAFault(t *testing.T) {
	repo := gitrepotest.New(t)
	hash := repo.Commit("one", map[string]string{"a.md": "a", "broken.md": strings.Repeat("An oar. ", 1000),
		"large.md": strings.Repeat("x", 3<<20)})
	dir := filepath.Join(t.TempDir(), "m.git")
	repo.Git("clone", "--quiet", "--bare", "--no-hardlinks", repo.Dir, dir)
	blob := func(name string) string { return repo.Git("rev-parse", "HEAD:"+name) }
	broken := filepath.Join(dir, "objects", blob("broken.md")[:2], blob("broken.md")[2:])
	data := must(os.ReadFile(broken))
	data[len(data)/2] ^= 0xff
	if err := errors.Join(os.Chmod(broken, 0o600), os.WriteFile(broken, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := must(gitrepo.Open(ctx, dir, "main"))
	defer r.Close()
	for _, c := range []struct {
		name, hash, want string
		is               error
	}{
		{"one that is too large", blob("large.md"), "has 3145728 bytes, larger than the limit of 1000000",
			gitrepo.ErrTooLarge},
		{"one that is damaged", blob("broken.md"), "", nil},
		{"one that is lost", strings.Repeat("0a", 20), "", gitrepo.ErrMissing},
		{"none", "", "", gitrepo.ErrMissing},
		{"a request of two lines", hash + "\n" + hash, "", gitrepo.ErrMissing},
		{"a commit", hash, "is a commit, not a blob", nil},
	} {
		if _, err := r.Blob(c.hash, 1_000_000); err == nil || !strings.Contains(err.Error(), c.want) ||
			c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.name, err)
		}
		if text, err := r.Blob(blob("a.md"), 10); string(text) != "a" || err != nil {
			t.Errorf("after %s: %q, %v", c.name, text, err)
		}
	}
	cancel()
	if _, err := r.Blob(blob("a.md"), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("in a run that has ended: %v", err)
	}
}

// TestSmallTreesOfVeryMuchAreTooLarge: ten nested trees with ten names each.
func TestSmallTreesOfVeryMuchAreTooLarge(t *testing.T) {
	for name, leaf := range map[string]string{"files": "100644", "empty directories": "40000"} {
		repo := gitrepotest.New(t)
		repo.Commit("one", map[string]string{"a.md": "a"})
		mode, hash := leaf, object(t, repo, "blob", "text")
		if leaf == "40000" {
			hash = object(t, repo, "tree", "")
		}
		for range 10 {
			var entries string
			for i := range 10 {
				entries += entry(t, mode, fmt.Sprint(i), hash)
			}
			mode, hash = "40000", object(t, repo, "tree", entries)
		}
		repo.Git("update-ref", "refs/heads/main", repo.Git("commit-tree", "-p", "main", "-m", "Much", hash))
		r := must(gitrepo.Open(t.Context(), filepath.Join(repo.Dir, ".git"), "main"))
		if _, _, err := r.Files(r.Head); !errors.Is(err, gitrepo.ErrTooLarge) {
			t.Errorf("%s are listed: %v", name, err)
		}
		commits := must(r.Commits())
		if _, err := r.Changes(commits[commits[r.Head].Parents[0]], commits[r.Head]); !errors.Is(err, gitrepo.ErrTooLarge) {
			t.Errorf("%s are compared: %v", name, err)
		}
		r.Close()
	}
}
