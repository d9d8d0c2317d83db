// Package gitrepo keeps a bare mirror of a branch of a git repository and reads
// it: files, content, history. The repository may be a URL, a local clone or a
// bundle.
//
// The git command does both, because it supports every protocol, bundles and what
// old tools wrote; it runs without any configuration, hook, credential or prompt of
// the machine, and its memory is bounded. Its connections bypass package outbound, so
// the guard is called first and git is pinned to the address that the guard allowed.
package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/ingest/gitrepo/rlimit"
	"almanac/ingest/outbound"
)

const (
	fetchTimeout = 10 * time.Minute
	fetchMemory  = 2 << 30   // bytes that git may allocate; a pack of ten million objects takes half
	readMemory   = 512 << 20 // the same while it reads; the changes of a commit take some hundred each
	maxListing   = 4 << 20   // bytes of a remote's list of references
	maxPacks     = 20        // files that git keeps objects in
)

// Source is a branch to fetch.
type Source struct {
	// Remote is a path to a clone or a bundle, or an https, http, ssh or git URL.
	Remote string
	// Branch is the branch to fetch; "" is the branch of the remote's HEAD.
	Branch string
	// Token is sent to a web server; "" sends none.
	Token string
	// Pulls also fetches the host's references of pull requests.
	Pulls bool
	// Branches also fetches all other branches.
	Branches bool
	// Depth is how many commits of the branch to fetch; 0 = all.
	Depth int
}

// errGit: the git command does not exist.
var errGit = errors.New("the git command was not found: install git, 2.37 or newer, where almanac runs")

// Fetch fetches a source into the bare repository dir, creating it if necessary,
// and returns the fetched branch. References that the remote deleted or rewrote
// are deleted and rewritten. The client decides which addresses a URL may lead
// to; its ErrRefused is wrapped. A fetch takes ten minutes at most, and a server
// may be slower than outbound.MinRate for two. Only one Fetch may use dir at a
// time.
func Fetch(ctx context.Context, client *outbound.Client, dir string, s Source) (branch string, err error) {
	if s.Branch != "" && !IsBranch(s.Branch) {
		return "", fmt.Errorf("%q is not a branch name", s.Branch)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	to, err := find(ctx, stop, client, s)
	if err != nil {
		return "", err
	}
	if s.Branch == "" {
		if s.Branch, err = headBranch(ctx, to); err != nil {
			return "", err
		}
	}
	return s.Branch, fetch(ctx, to, dir, s)
}

// tolerated are the faults that the objects of a fetch may have, by the names that git fsck gives them. Old tools
// made the first two groups, and hosts keep their commits. Nothing here reads what the third is about. Names of
// files are looked at when they are read (see odd), so that one pull request does not make a repository unreadable.
var tolerated = []string{
	"badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "missingEmail", "missingNameBeforeEmail",
	"missingSpaceBeforeDate", "missingSpaceBeforeEmail", "multipleAuthors", "nulInCommit", "zeroPaddedDate",
	"badFilemode", "zeroPaddedFilemode",
	"gitattributesBlob", "gitattributesLarge", "gitattributesLineLength", "gitattributesMissing", "gitmodulesBlob",
	"gitmodulesLarge", "gitmodulesMissing", "gitmodulesName", "gitmodulesParse", "gitmodulesPath", "gitmodulesSymlink",
	"gitmodulesUpdate", "gitmodulesUrl",
	"emptyName", "fullPathname", "hasDot", "hasDotdot", "hasDotgit",
}

func fetch(ctx context.Context, to route, dir string, s Source) error {
	if err := prepare(ctx, dir, s.Branch); err != nil {
		return err
	}
	args := append(slices.Clone(to.settings), "-c", "fetch.fsckObjects=true")
	for _, fault := range tolerated {
		args = append(args, "-c", "fetch.fsck."+fault+"=ignore")
	}
	args = append(args, "--git-dir="+dir, "fetch", "--quiet", "--force", "--prune", "--no-tags",
		"--no-auto-maintenance", "--no-write-fetch-head", "--no-recurse-submodules")
	if s.Depth > 0 {
		args = append(args, "--depth="+strconv.Itoa(s.Depth))
	} else if _, err := os.Stat(filepath.Join(dir, "shallow")); err == nil {
		args = append(args, "--unshallow")
	}
	args = append(append(args, to.options...), "--", to.address, "+refs/heads/"+s.Branch+":refs/heads/"+s.Branch)
	if s.Branches {
		args = append(args, "+refs/heads/*:refs/heads/*")
	}
	if s.Pulls {
		for _, refs := range []string{"pull", "merge-requests", "pull-requests"} { // of GitHub and Gitea, GitLab, Bitbucket
			args = append(args, "+refs/"+refs+"/*:refs/"+refs+"/*")
		}
	}
	err := run(ctx, to, args...)
	if err != nil && strings.Contains(err.Error(), "mismatched algorithms") { // SHA-256 instead of SHA-1
		if err = create(ctx, dir, s.Branch, "sha256"); err == nil {
			err = run(ctx, to, args...)
		}
	}
	if err != nil && strings.Contains(err.Error(), "couldn't find remote ref") {
		return noBranch(ctx, to, s.Branch)
	}
	if err == nil {
		repack(ctx, dir)
	}
	return err
}

// repack joins the packs of many fetches, each of which has one, so that reading opens few files. If it fails, the
// packs stay as they are, and the next fetch tries again.
func repack(ctx context.Context, dir string) {
	files, _ := os.ReadDir(filepath.Join(dir, "objects", "pack"))
	packs := slices.DeleteFunc(files, func(f fs.DirEntry) bool { return filepath.Ext(f.Name()) != ".pack" })
	if len(packs) > maxPacks {
		_ = run(ctx, route{}, "-c", "pack.threads=1", "-c", "pack.windowMemory=64m", "--git-dir="+dir, "repack", "--quiet",
			"-d", "--geometric=2")
	}
}

// create makes the bare repository, also in place of an incomplete one.
func create(ctx context.Context, dir, branch, hashes string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return run(ctx, route{}, "init", "--quiet", "--bare", "--template=", "--object-format="+hashes,
		"--initial-branch="+branch, "--", dir)
}

// prepare makes the bare repository, or removes the remains of a killed fetch,
// whose locks would block every later one.
func prepare(ctx context.Context, dir, branch string) error {
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		return create(ctx, dir, branch, "sha1")
	}
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && len(base) == 2 && filepath.Base(filepath.Dir(name)) == "objects":
			return fs.SkipDir // loose objects are not locked
		case d.Type().IsRegular() && (strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_") ||
			strings.HasPrefix(base, ".tmp-")):
			return os.Remove(name)
		}
		return nil
	})
}

// command is a git command that uses nothing of the machine's configuration but
// the route to a remote.
func command(ctx context.Context, to route, args ...string) *exec.Cmd {
	settings := []string{
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "credential.helper=",
		"-c", "protocol.ext.allow=never", "-c", "gc.auto=0", "-c", "safe.directory=*",
	}
	cmd := exec.CommandContext(ctx, "git", append(settings, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_SSH_COMMAND=" + to.ssh, "GIT_ALLOW_PROTOCOL=file:https:http:ssh:git",
		"GIT_NO_LAZY_FETCH=1", // what a partial clone lacks would be fetched by its own configuration
		"HOME=/dev/null",      // git would search it for passwords
	}
	if to.authorization != "" { // in the environment, which other users cannot read
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader",
			"GIT_CONFIG_VALUE_0=Authorization: "+to.authorization)
	}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func run(ctx context.Context, to route, args ...string) error {
	_, err := output(ctx, to, args...)
	return err
}

// start starts a command that may allocate some memory, in bytes.
func start(cmd *exec.Cmd, memory uint64) error {
	err := cmd.Start()
	if err == nil {
		rlimit.Memory(cmd.Process.Pid, memory)
	}
	return err
}

// output runs a command and returns its output, up to a limit.
func output(ctx context.Context, to route, args ...string) (string, error) {
	cmd := command(ctx, to, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limitedWriter{w: &stdout, left: maxListing}, &limitedWriter{w: &stderr, left: 4096}
	err := start(cmd, fetchMemory)
	if err == nil {
		err = cmd.Wait()
	}
	return stdout.String(), failure(ctx, err, &stderr)
}

// failure returns the error of a command, nil if it succeeded.
func failure(ctx context.Context, err error, stderr *bytes.Buffer) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return errGit
	}
	if said := strings.TrimSpace(stderr.String()); said != "" {
		return fmt.Errorf("git: %w: %s", err, said)
	}
	return fmt.Errorf("git: %w", err)
}

// limitedWriter keeps the first bytes and discards the rest.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	if _, err := l.w.Write(keep); err != nil {
		return 0, err
	}
	return len(p), nil
}

var branchName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// IsBranch reports whether a name can be the name of a branch.
func IsBranch(name string) bool { return branchName.MatchString(name) && !strings.Contains(name, "..") }

// maxNamed is how many branches an error names.
const maxNamed = 12

// usual are the usual names of main branches in order of preference, for a
// remote that does not name its own.
var usual = []string{"main", "master", "trunk", "develop"}

// headBranch returns the branch of a remote's HEAD. A bundle and a clone with a
// detached HEAD do not name one: then it is the branch at the same commit as
// HEAD, or otherwise one with a usual name.
func headBranch(ctx context.Context, to route) (string, error) {
	heads, err := list(ctx, to, "HEAD")
	if err != nil {
		return "", err
	}
	if heads.head != "" {
		if !IsBranch(heads.head) {
			return "", fmt.Errorf("the repository's HEAD names the branch %q, which cannot be fetched; "+
				"name another in option branch", heads.head)
		}
		return heads.head, nil
	}
	all, err := list(ctx, to, "HEAD", "refs/heads/*")
	if err != nil {
		return "", err
	}
	names := all.names()
	if len(names) == 0 {
		return "", errors.New("the repository has no branch")
	}
	for _, name := range append(slices.Clone(usual), names...) {
		if hash, ok := all.branches[name]; ok && hash == all.at {
			return name, nil
		}
	}
	for _, name := range usual {
		if _, ok := all.branches[name]; ok {
			return name, nil
		}
	}
	if len(names) == 1 {
		return names[0], nil
	}
	return "", fmt.Errorf("the repository does not name its main branch; name one of %s in option branch",
		some(names))
}

// noBranch is the error for a branch that the remote does not have.
func noBranch(ctx context.Context, to route, name string) error {
	all, err := list(ctx, to, "refs/heads/*")
	names := all.names()
	if err != nil || len(names) == 0 {
		return fmt.Errorf("the repository has no branch %s", name)
	}
	return fmt.Errorf("the repository has no branch %s; name one of %s in option branch, or omit the option",
		name, some(names))
}

// references are the branches of a remote.
type references struct {
	head     string            // the branch of HEAD
	at       string            // the commit of HEAD
	branches map[string]string // name → commit
}

// names lists the branches that can be fetched.
func (r references) names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.branches)), func(name string) bool { return !IsBranch(name) })
}

func list(ctx context.Context, to route, patterns ...string) (references, error) {
	args := slices.Concat(to.settings, []string{"ls-remote", "--symref"}, to.options, []string{"--", to.address}, patterns)
	out, err := output(ctx, to, args...)
	if err != nil {
		return references{}, err
	}
	return parseReferences(out), nil
}

var listed = regexp.MustCompile(`^([0-9a-f]{40,64})\t(\S+)$`)

// parseReferences parses the output of git ls-remote --symref.
func parseReferences(out string) references {
	r := references{branches: map[string]string{}}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if target, ok := strings.CutSuffix(line, "\tHEAD"); ok {
			if name, ok := strings.CutPrefix(target, "ref: refs/heads/"); ok {
				r.head = name
				continue
			}
		}
		m := listed.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if name, ok := strings.CutPrefix(m[2], "refs/heads/"); ok {
			r.branches[name] = m[1]
		} else if m[2] == "HEAD" {
			r.at = m[1]
		}
	}
	return r
}

// some joins the first of many names.
func some(names []string) string {
	if len(names) > maxNamed {
		return strings.Join(names[:maxNamed], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
