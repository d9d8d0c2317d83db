// Package networktest makes two invented networks for tests: one with its own
// status words and padding, one whose proposals have front matter and no
// padding. Each is a network file in its own directory with the git
// repositories and files that its sources read, so that tests and a built
// binary can use it.
//
// It may import catalog, catalog/network, ingest, ingest/connectors,
// testing/gitrepotest and ingest/networks.
package networktest

import (
	_ "embed"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/testing/gitrepotest"
)

var (
	//go:embed lagoon.txtar
	lagoon []byte
	//go:embed wick.txtar
	wick []byte
)

// LIP creates the network lagoon: prefix LIP, three digits, the status words
// Idea, Candidate, Active, Parked and Dropped. It has proposals, drafts,
// grants, documentation in a repository and in a plain folder, mail, a calendar
// and curated files.
func LIP(t testing.TB) (n network.Network, file string) {
	t.Helper()
	return build(t, lagoon, "main")
}

// EIP creates the network wick: prefix EIP, no padding, the status words Draft,
// Review, Last Call, Final, Living, Stagnant and Withdrawn, types with
// categories, and a main branch called master. It has proposals, a draft,
// documentation and curated files.
func EIP(t testing.TB) (n network.Network, file string) {
	t.Helper()
	return build(t, wick, "master")
}

// Fill reads all sources of a network file into a store and fails the test if a
// source fails, skips something or warns.
func Fill(t testing.TB, store *sqlstore.Store, file string) {
	t.Helper()
	n, err := networks.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	files, err := networks.Folder(file)
	if err != nil {
		t.Fatal(err)
	}
	p := ingest.New(ingest.Config{
		Store: store, Network: n, Files: files, WorkDir: t.TempDir(), Now: time.Now,
		Connectors: connectors.All(time.Now()),
		Log:        slog.New(slog.NewTextHandler(warnings{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	reports, err := p.Sync(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if r.Created == 0 || r.Skipped > 0 {
			t.Errorf("source %s: %+v", r.Source, r)
		}
	}
}

// warnings fails a test for each line that is logged.
type warnings struct{ t testing.TB }

func (w warnings) Write(line []byte) (int, error) {
	w.t.Errorf("sync: %s", line)
	return len(line), nil
}

// start is the day before the first commit of every repository.
var start = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

// build writes a network's files and creates its repositories. In the archive,
// "@repository: subject" begins a commit and "@repository: pull N open" a pull
// request; the files up to the next such line belong to it.
func build(t testing.TB, archive []byte, branch string) (network.Network, string) {
	t.Helper()
	b := builder{t: t, dir: t.TempDir(), branch: branch, repositories: map[string]*gitrepotest.Repo{}}
	for _, f := range txtar.Parse(archive).Files {
		if heading, ok := strings.CutPrefix(f.Name, "@"); ok {
			b.flush()
			b.repository, b.subject, _ = strings.Cut(heading, ": ")
		} else if b.repository != "" {
			b.files[f.Name] = string(f.Data)
		} else {
			b.write(f.Name, f.Data)
		}
	}
	b.flush()
	file := filepath.Join(b.dir, "network.yaml")
	n, err := networks.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return n, file
}

type builder struct {
	t            testing.TB
	dir, branch  string
	repositories map[string]*gitrepotest.Repo

	repository, subject string // of the current commit
	files               map[string]string
}

func (b *builder) write(name string, data []byte) {
	b.t.Helper()
	file := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// flush creates the commit or the pull request that was read.
func (b *builder) flush() {
	b.t.Helper()
	defer func() { b.files = map[string]string{} }()
	if b.repository == "" {
		return
	}
	repo := b.repositories[b.repository]
	if repo == nil {
		repo = gitrepotest.At(b.t, filepath.Join(b.dir, "repositories", b.repository), b.branch, start)
		b.repositories[b.repository] = repo
	}
	pull, ok := strings.CutPrefix(b.subject, "pull ")
	if !ok {
		repo.Commit(b.subject, b.files)
		return
	}
	number, state, _ := strings.Cut(pull, " ")
	repo.Git("checkout", "--quiet", "--detach")
	repo.Commit("A proposal", b.files)
	repo.Git("update-ref", "refs/pull/"+number+"/head", "HEAD")
	if state == "open" {
		repo.Git("update-ref", "refs/pull/"+number+"/merge", "HEAD")
	}
	repo.Git("checkout", "--quiet", b.branch)
}
