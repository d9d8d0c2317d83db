// Package gitrepotest builds git repositories for tests and serves them as
// hosts do. It runs the git command without the machine's configuration.
package gitrepotest

import (
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Repo is a repository with a work tree. Its commits are a day apart.
type Repo struct {
	Dir string
	// Clock is the time of the last commit.
	Clock time.Time

	t testing.TB
}

// New makes an empty repository with the branch main.
func New(t testing.TB) *Repo {
	t.Helper()
	return At(t, t.TempDir(), "main", time.Date(2031, 1, 1, 12, 0, 0, 0, time.UTC))
}

// At makes an empty repository in a directory, with a branch. The first commit is
// one day after the given time.
func At(t testing.TB, dir, branch string, clock time.Time) *Repo {
	t.Helper()
	r := &Repo{Dir: dir, Clock: clock, t: t}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.Git("init", "--quiet", "--initial-branch="+branch)
	return r
}

// Git runs the git command in the work tree and returns its output.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	settings := []string{
		"-C", r.Dir, "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false",
	}
	cmd := exec.CommandContext(r.t.Context(), "git", append(settings, args...)...)
	when := r.Clock.Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada Quill", "GIT_AUTHOR_EMAIL=a@x.example", "GIT_AUTHOR_DATE="+when,
		"GIT_COMMITTER_NAME=Host", "GIT_COMMITTER_EMAIL=h@x.example", "GIT_COMMITTER_DATE="+when)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write writes files to the work tree; the text Gone removes one.
func (r *Repo) Write(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.Dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case text == Gone:
			err = os.Remove(path)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// Gone is the text of a file to be removed.
const Gone = "\x00gone"

// Commit writes files, commits the whole work tree a day after the last commit
// and returns the commit's hash.
func (r *Repo) Commit(message string, files map[string]string) string {
	r.t.Helper()
	r.Clock = r.Clock.AddDate(0, 0, 1)
	r.Write(files)
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message", message)
	return r.Git("rev-parse", "HEAD")
}

// Handler serves the repository read-only at /harbour/handbook.git.
func (r *Repo) Handler() http.Handler {
	r.t.Helper()
	backend := filepath.Join(r.Git("--exec-path"), "git-http-backend")
	return http.StripPrefix("/harbour/handbook.git", &cgi.Handler{
		Path: backend, Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Join(r.Dir, ".git"), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
			"PATH=" + os.Getenv("PATH"),
		},
	})
}
