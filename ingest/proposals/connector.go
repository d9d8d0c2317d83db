package proposals

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/text/glob"
)

// rules is the version of how this package reads a repository. A new version
// makes the next run read every source again.
const rules = "5"

// connector reads one repository. A run fetches it and, if anything in it or in
// the options changed since the cursor, reads all of it: that takes seconds,
// has one code path, and handles rewritten history. The catalog does not
// rewrite unchanged records.
type connector struct {
	opts    options
	env     ingest.Environment
	token   string
	include glob.Set
	exclude glob.Set
	bulk    map[int]bool
}

// New makes the connector of a source; it is a Constructor of kind
// "proposals".
func New(src network.Source, env ingest.Environment) (ingest.Connector, error) {
	opts, err := readOptions(src, env)
	if err != nil {
		return nil, err
	}
	if env.WorkDir == "" {
		return nil, errors.New("proposals: needs a working directory for the clone")
	}
	include, err1 := glob.Fold(opts.Paths)
	exclude, err2 := glob.Fold(opts.Exclude)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	c := &connector{opts: opts, env: env, include: include, exclude: exclude, bulk: map[int]bool{}}
	if opts.TokenEnv != "" {
		if c.token = env.Secret(opts.TokenEnv); c.token == "" {
			return nil, fmt.Errorf("option token_env: the environment variable %s is not set", opts.TokenEnv)
		}
	}
	for _, n := range opts.BulkPulls {
		c.bulk[n] = true
	}
	return c, nil
}

// Advice implements ingest.Advised.
func (c *connector) Advice(ctx context.Context) []string {
	advice := gitrepo.Advice(c.opts.Repository)
	if len(advice) == 0 && gitrepo.IsPath(c.opts.Repository) && c.opts.Kind == "cip" {
		advice = c.survey(ctx)
	}
	if c.opts.URL.File == "" || c.opts.URL.Pull == "" {
		advice = append(advice, "without the options url.file and url.pull its records link to this service, "+
			"not to the repository")
	}
	return advice
}

// Sync implements ingest.Connector. The cursor names the commit of the
// branch's head and a digest of everything else the records depend on.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	dir := filepath.Join(c.env.WorkDir, "repository.git")
	from := gitrepo.Source{Remote: c.opts.Repository, Branch: c.opts.Branch, Token: c.token, Pulls: true}
	branch, err := gitrepo.Fetch(ctx, c.env.HTTP, dir, from)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("proposals: fetch: %w", err)
	}
	repo, err := gitrepo.Open(dir, branch)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("proposals: %w", err)
	}
	defer func() { _ = repo.Close() }()
	of := *c
	of.opts.URL.branch = branch
	return of.read(ctx, repo, cursor, out)
}

// read yields what was fetched.
func (c *connector) read(
	ctx context.Context, repo *gitrepo.Repository, cursor string, out ingest.Sink,
) (ingest.Outcome, error) {
	now := c.cursor(repo)
	if now == cursor {
		// Nothing to write and nothing deleted: no listing is needed.
		return ingest.Outcome{Cursor: cursor}, nil
	}
	s := &syncRun{connector: c, repo: repo, out: out, reader: Reader{
		Network: c.env.Network, Register: &Register{}, Warn: out.Warn,
	}}
	if err := s.read(ctx); err != nil {
		return ingest.Outcome{}, fmt.Errorf("proposals: %w", err)
	}
	if s.made == 0 {
		// Whoever named the repository expects something of it, on every run.
		now = ""
		if len(s.skipped) == 0 {
			out.Skip(c.opts.Name, fmt.Errorf("%w: %w", ingest.ErrNoItem, errNothing))
		}
	}
	return ingest.Outcome{Cursor: now, Complete: true}, nil
}

func (c *connector) cursor(repo *gitrepo.Repository) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]any{rules, c.opts, c.opts.URL.branch, c.env.Network.Proposals, c.env.Network.Name,
		c.env.Network.Title})
	for _, name := range sortedKeys(repo.Refs) {
		// A host's merge commits change with every push to the branch; only
		// their existence matters.
		hash := repo.Refs[name].String()
		if strings.HasSuffix(name, "/merge") {
			hash = ""
		}
		_, _ = fmt.Fprintln(h, name, hash)
	}
	return repo.Head.Hash.String() + " " + hex.EncodeToString(h.Sum(nil)[:12])
}

// syncRun is one pass over the repository.
type syncRun struct {
	*connector
	repo    *gitrepo.Repository
	out     ingest.Sink
	reader  Reader
	line    []step
	origins map[string]origin
	rows    map[string]IndexRow // number → row
	files   map[string]plumbing.Hash
	skipped map[string]bool // locators
	// numberOf are the numbers of the proposals' files.
	numberOf map[string]string
	done     int
	made     int // entries that were made
}

func (s *syncRun) read(ctx context.Context) error {
	var err error
	if s.line, err = steps(ctx, s.repo); err != nil {
		return err
	}
	s.origins = origins(s.line)
	if s.files, err = s.repo.Files(s.repo.Head); err != nil {
		return err
	}
	pulls, err := s.pulls(ctx)
	if err != nil {
		return err
	}
	if s.opts.Kind == "grant" {
		return s.grants(ctx, pulls)
	}
	return s.proposals(ctx, pulls)
}

// text reads a version of a file that is to be parsed, and takes it in hand.
func (s *syncRun) text(hash plumbing.Hash) (string, error) {
	data, err := s.repo.Blob(hash, MaxText)
	if err == nil {
		err = s.env.Hand.Take(data)
	}
	return string(data), err
}

// version is text; a file that cannot be read is skipped.
func (s *syncRun) version(file string, hash plumbing.Hash) (string, bool) {
	text, err := s.text(hash)
	if err != nil {
		s.skip(file, err)
	}
	return text, err == nil
}

// skip skips an item, which is read several times, once.
func (s *syncRun) skip(locator string, err error) {
	if s.skipped[locator] {
		return
	}
	if s.skipped == nil {
		s.skipped = map[string]bool{}
	}
	s.skipped[locator] = true
	s.out.Skip(locator, err)
}

func (s *syncRun) progress(total int) {
	s.done++
	s.out.Progress(s.done, total)
}

// isText reports whether a file can be a proposal: a text that is neither
// excluded nor the index.
func (c *connector) isText(file string) bool {
	return IsText(file) && file != c.opts.Index && !c.exclude.Match(file)
}

// included reports whether a file is where proposals belong.
func (c *connector) included(file string) bool { return !c.named() || c.include.Match(file) }

// named reports whether the operator said which files are proposals.
func (c *connector) named() bool { return len(c.include) > 0 }

// numbered finds the numbered proposals of the branch.
func (s *syncRun) numbered() Numbering {
	var files []string
	for file := range s.files {
		if s.included(file) && file != s.opts.Index && !s.exclude.Match(file) && (s.named() || IsText(file)) {
			files = append(files, file)
		}
	}
	numbering := s.reader.Number(files, s.named(), func(file string) (string, error) {
		return s.text(s.files[file])
	})
	s.numberOf = map[string]string{}
	for number, file := range numbering.Files {
		s.numberOf[file] = number
	}
	return numbering
}

// unread reports the files of the branch that could be proposals and are not,
// except those that are attachments.
func (s *syncRun) unread(numbering Numbering) {
	for _, u := range numbering.Unread(s.named()) {
		switch {
		case !s.isAttachment(numbering, u.File):
			s.skip(u.File, u.Err())
		case u.Second:
			s.out.Warn(u.File, u.Reason.Error())
		}
	}
}

// proposals yields the numbered proposals with their attachments, the drafts,
// and the history of all.
func (s *syncRun) proposals(ctx context.Context, pulls map[int]*pull) error {
	numbering := s.numbered()
	changes := s.statusChanges()
	numbered := numbering.Files
	aliases := s.aliases(numbered, pulls)
	beside := s.beside(numbering)
	s.unread(numbering)
	total := len(numbered) + len(beside) + len(pulls)
	for _, number := range sortedKeys(numbered) {
		file := numbered[number]
		ref := catalog.Ref{Kind: catalog.KindCIP, Key: s.reader.Key(number)}
		if err := s.put(ctx, file, ref, func() (catalog.Entry, error) {
			return s.proposal(number, file, aliases[number], pulls)
		}); err != nil {
			return err
		}
		s.progress(total)
	}
	for _, a := range beside {
		if err := s.attached(ctx, a); err != nil {
			return err
		}
		s.progress(total)
	}
	for _, n := range slices.Sorted(maps.Keys(pulls)) {
		if err := s.draft(ctx, pulls[n]); err != nil {
			return err
		}
		s.progress(total)
	}
	byRef := map[catalog.Ref][]catalog.Event{}
	for _, e := range s.reader.Events(changes) {
		byRef[e.Ref] = append(byRef[e.Ref], e)
	}
	refs := slices.SortedFunc(maps.Keys(byRef), func(a, b catalog.Ref) int { return cmp.Compare(a.Key, b.Key) })
	for _, ref := range refs {
		if err := s.out.Events(ctx, byRef[ref]); err != nil {
			return err
		}
	}
	return nil
}

// put makes an entry and writes it. One that cannot be made is skipped, and its
// record, if there is one of a former version, kept.
func (s *syncRun) put(
	ctx context.Context, locator string, ref catalog.Ref, make func() (catalog.Entry, error),
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := make()
	if err != nil {
		s.skip(locator, err)
		s.out.Keep(ref)
		return nil
	}
	s.made++
	return s.out.Put(ctx, e)
}

func (s *syncRun) proposal(number, file string, pullNumbers []int, pulls map[int]*pull) (catalog.Entry, error) {
	text, err := s.text(s.files[file])
	if err != nil {
		return catalog.Entry{}, err
	}
	o := s.origins[file]
	in := File{
		Path: file, Text: text, URL: s.opts.URL.file(s.repo.Head.Hash.String(), file), Repository: s.opts.Name,
		Number: number, Index: s.rows[number],
	}
	if o.added.commit != nil {
		in.CreatedAt, in.UpdatedAt = o.added.commit.Committer.When, o.added.commit.Committer.When
	}
	if o.updated.commit != nil {
		in.UpdatedAt = o.updated.commit.Committer.When
	}
	if p := pulls[o.added.pull]; p != nil && p.State == "merged" {
		in.Pull = &p.PullRequest
	}
	e, err := s.reader.Proposal(in)
	for _, n := range pullNumbers {
		e.Aliases = append(e.Aliases, network.DraftKey(n))
	}
	return e, err
}

// aliases finds the proposal that each merged pull request became, and returns
// its pull requests by number: the one it added, or if it added none, the only
// one it changed.
func (s *syncRun) aliases(numbered map[string]string, pulls map[int]*pull) map[string][]int {
	added, touched := map[int][]string{}, map[int][]string{}
	for _, number := range sortedKeys(numbered) {
		o := s.origins[numbered[number]]
		if o.added.pull > 0 {
			added[o.added.pull] = append(added[o.added.pull], number)
		}
		for _, p := range slices.Compact(slices.Clone(o.pulls)) {
			touched[p] = append(touched[p], number)
		}
	}
	aliases := map[string][]int{}
	for n, p := range pulls {
		candidates := added[n]
		if len(candidates) == 0 {
			candidates = touched[n]
		}
		if p.State != "merged" || s.bulk[n] || len(candidates) != 1 {
			continue
		}
		aliases[candidates[0]] = append(aliases[candidates[0]], n)
	}
	for _, list := range aliases {
		slices.Sort(list)
	}
	return aliases
}

// draft yields an unmerged pull request that adds or changes a proposal.
func (s *syncRun) draft(ctx context.Context, p *pull) error {
	if p.State == "merged" || s.bulk[p.Number] {
		return nil
	}
	locator := fmt.Sprintf("pull request %d", p.Number)
	changes, err := p.changes(ctx, s.repo)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.out.Skip(locator, err)
		return nil
	}
	c, ok := s.proposalFile(changes)
	if !ok {
		return nil
	}
	ref := catalog.Ref{Kind: catalog.KindCIP, Key: network.DraftKey(p.Number)}
	return s.put(ctx, locator, ref, func() (catalog.Entry, error) {
		text, err := s.text(c.newHash)
		if err != nil {
			return catalog.Entry{}, err
		}
		return s.reader.Proposal(File{
			Path: c.new, Text: text, URL: s.opts.URL.pull(p.Number), Repository: s.opts.Name,
			Pull: &p.PullRequest, UpdatedAt: p.head.Committer.When, Amends: c.old != "",
		})
	})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
