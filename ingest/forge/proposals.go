package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/ingest/proposals"
)

type proposalConnector struct {
	opts   proposalOptions
	env    ingest.Environment
	layout layout
}

// NewProposals makes the connector of a source; it is the Constructor of kind
// "forge-proposals".
func NewProposals(src network.Source, env ingest.Environment) (ingest.Connector, error) {
	opts, err := readProposalOptions(src)
	if err != nil {
		return nil, err
	}
	if env.WorkDir == "" {
		return nil, errNoWorkDir
	}
	files, err := newLayout(opts, env.Network)
	if err != nil {
		return nil, err
	}
	return &proposalConnector{opts, env, files}, nil
}

// Sync implements ingest.Connector. There is no cursor: every run lists the
// whole repository, most of it from the cache, because the meaning of a merged
// or renamed pull request depends on all the others.
func (c *proposalConnector) Sync(ctx context.Context, _ string, out ingest.Sink) (ingest.Outcome, error) {
	api := newClient(c.opts.access(), c.env, out.Warn)
	r := &proposalRun{
		reading: reading{client: api, out: out}, proposalConnector: c,
		reader: proposals.Reader{Network: c.env.Network, Register: &proposals.Register{}, Warn: out.Warn},
		branch: c.opts.Branch, pulls: map[int]*pull{}, files: map[string]string{}, refs: map[int]catalog.Ref{},
		complete: !api.missing,
	}
	err := r.read(ctx)
	if err != nil {
		if fatal := r.fatal(ctx, err); fatal != nil {
			return ingest.Outcome{}, fatal
		}
		limit, ok := errors.AsType[*limitError](err)
		if !ok {
			return ingest.Outcome{}, fmt.Errorf("forge: %s: %w", c.opts.Repository, err)
		}
		out.Warn(c.opts.Repository, limit.Error()+"; the next run continues from here"+advice(r.token))
		r.complete = false
	}
	r.cache.prune()
	return ingest.Outcome{Complete: r.complete}, nil
}

// proposalRun is one reading of a repository of proposals.
type proposalRun struct {
	reading
	*proposalConnector
	reader   proposals.Reader
	complete bool // everything that exists was seen

	branch string
	page   string // the repository's address
	pulls  map[int]*pull
	files  map[string]string // of the branch: path → content hash
	origin map[string]origin
	column map[int]string // of the board; nil if that was not read
	refs   map[int]catalog.Ref
	done   int
}

func (r *proposalRun) path(rest string) string { return "/repos/" + r.opts.Repository + rest }

func (r *proposalRun) read(ctx context.Context) error {
	var info repository
	if err := r.object(ctx, call{path: r.path("")}, &info); err != nil {
		return err
	}
	r.page, r.branch = info.HTMLURL, cmp.Or(r.branch, info.DefaultBranch, "main")
	if err := r.readTree(ctx); err != nil {
		return err
	}
	if err := r.readPulls(ctx); err != nil {
		return err
	}
	if err := r.readBoard(ctx); err != nil {
		return err
	}
	r.origin = origins(r.pulls)
	var err error
	if r.opts.Kind == "grant" {
		err = r.grants(ctx)
	} else {
		err = r.proposals(ctx)
	}
	if err != nil {
		return err
	}
	return r.comments(ctx)
}

func (r *proposalRun) progress(total int) {
	r.done++
	r.out.Progress(r.done, total)
}

// entry reads a file and puts the entry that is made from its text. A file that
// cannot be read is skipped and its record kept, unless the rate limit is used
// up.
func (r *proposalRun) entry(
	ctx context.Context, locator string, ref catalog.Ref, sha string, read func(text string) (catalog.Entry, error),
) error {
	text, err := r.content(ctx, sha)
	if err == nil {
		err = r.env.Hand.Take([]byte(text))
	}
	if err != nil {
		if r.ends(ctx, err) {
			return err
		}
		r.out.Skip(locator, err)
		r.out.Keep(ref)
		return nil
	}
	e, err := read(text)
	if err != nil {
		r.out.Skip(locator, err)
		r.out.Keep(ref)
		return nil
	}
	return r.put(ctx, e, nil)
}

// proposals yields the numbered proposals of the branch, with the names of their
// former pull requests as aliases, and the drafts. If an earlier source reads
// the same repository with git, it owns them, and only aliases, links and the
// facts of drafts are added.
func (r *proposalRun) proposals(ctx context.Context) error {
	numbered, err := r.numbered(ctx)
	if err != nil {
		return err
	}
	aliases := r.aliases(numbered)
	rows, err := r.index(ctx)
	if err != nil {
		return err
	}
	total := len(numbered) + len(r.pulls)
	for _, number := range sortedKeys(numbered) {
		if err := r.proposal(ctx, number, numbered[number], rows[number], aliases[number]); err != nil {
			return err
		}
		r.progress(total)
	}
	for _, n := range sortedKeys(r.pulls) {
		if err := r.draft(ctx, r.pulls[n]); err != nil {
			return err
		}
		r.progress(total)
	}
	return nil
}

// numbered returns the proposal file of each number, and reports what is not
// read.
func (r *proposalRun) numbered(ctx context.Context) (map[string]string, error) {
	named := len(r.layout.include) > 0
	var files []string
	for file := range r.files {
		if r.layout.included(file) && r.layout.allowed(file) && (named || proposals.IsText(file)) {
			files = append(files, file)
		}
	}
	var failed error
	numbering := r.reader.Number(files, named, func(file string) (string, error) {
		if failed != nil {
			return "", failed
		}
		text, err := r.content(ctx, r.files[file])
		if r.ends(ctx, err) {
			failed = err
		}
		return text, err
	})
	if failed != nil {
		return nil, failed
	}
	for _, u := range numbering.Unread(named) {
		switch {
		case numbering.Of(u.File) == "":
			r.out.Skip(u.File, u.Err())
		case u.Second:
			r.out.Warn(u.File, u.Reason.Error())
		}
	}
	return numbering.Files, nil
}

// ends reports whether an error of reading a file ends the run.
func (r *proposalRun) ends(ctx context.Context, err error) bool {
	_, limited := errors.AsType[*limitError](err)
	return limited || ctx.Err() != nil || errors.Is(err, errToken)
}

// aliases finds the proposal that each merged pull request became: the one it
// added, or the only one it changed if it added none.
func (r *proposalRun) aliases(numbered map[string]string) map[string][]int {
	added, touched := map[int][]string{}, map[int][]string{}
	for _, number := range sortedKeys(numbered) {
		o := r.origin[numbered[number]]
		if o.added > 0 {
			added[o.added] = append(added[o.added], number)
		}
		for _, n := range slices.Compact(slices.Clone(o.touched)) {
			touched[n] = append(touched[n], number)
		}
	}
	aliases := map[string][]int{}
	for _, n := range sortedKeys(r.pulls) {
		became := added[n]
		if len(became) == 0 {
			became = touched[n]
		}
		if !r.pulls[n].merged() || len(became) != 1 {
			continue
		}
		aliases[became[0]] = append(aliases[became[0]], n)
		r.refs[n] = catalog.Ref{Kind: catalog.KindCIP, Key: r.reader.Key(became[0])}
	}
	return aliases
}

// index reads the rows of the repository's index table.
func (r *proposalRun) index(ctx context.Context) (map[string]proposals.IndexRow, error) {
	rows := map[string]proposals.IndexRow{}
	sha, ok := r.files[r.opts.Index]
	if !ok {
		return rows, nil
	}
	text, err := r.content(ctx, sha)
	if errors.Is(err, outbound.ErrTooLarge) {
		r.out.Skip(r.opts.Index, err)
		return rows, nil
	}
	if err != nil {
		return nil, err
	}
	for _, row := range proposals.IndexTable(text) {
		rows[row.Number] = row
	}
	return rows, nil
}

func (r *proposalRun) proposal(ctx context.Context, number, file string, row proposals.IndexRow, pulls []int) error {
	o := r.origin[file]
	ref := catalog.Ref{Kind: catalog.KindCIP, Key: r.reader.Key(number)}
	return r.entry(ctx, file, ref, r.files[file], func(text string) (catalog.Entry, error) {
		in := proposals.File{
			Path: file, Text: text, URL: r.fileURL(file), Repository: r.opts.Repository, Number: number, Index: row,
			CreatedAt: o.created, UpdatedAt: o.updated,
		}
		if p := r.pulls[o.added]; p != nil {
			in.Pull = r.request(p)
		}
		e, err := r.reader.Proposal(in)
		for _, n := range pulls {
			e.Aliases = append(e.Aliases, network.DraftKey(n))
		}
		return e, err
	})
}

// draft yields an unmerged pull request that adds or changes a proposal.
func (r *proposalRun) draft(ctx context.Context, p *pull) error {
	if p.merged() {
		return nil
	}
	f, ok := r.layout.choose(p.files)
	if !ok {
		return nil
	}
	ref := catalog.Ref{Kind: catalog.KindCIP, Key: network.DraftKey(p.Number)}
	r.refs[p.Number] = ref
	return r.entry(ctx, fmt.Sprintf("pull request %d", p.Number), ref, f.SHA, func(text string) (catalog.Entry, error) {
		e, err := r.reader.Proposal(proposals.File{
			Path: f.Path, Text: text, URL: p.HTMLURL, Repository: r.opts.Repository, Pull: r.request(p),
			CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, Amends: f.Status != "added",
		})
		if err != nil {
			return e, err
		}
		e.Record.Tags = append(e.Record.Tags, catalog.Tags(catalog.TagLabel, names(p.Labels)...)...)
		data, err := catalog.Decode[catalog.CIP](e.Record)
		if err != nil {
			return e, err
		}
		// Whether a draft is superseded depends on its state.
		known := map[string]any{"raw_status": data.RawStatus, "superseded_by": data.SupersededBy}
		e.Facts, err = facts(e.Record, data.Pull, known)
		return e, err
	})
}

// fileURL returns the address of a file of the branch.
func (r *proposalRun) fileURL(file string) string {
	if r.page == "" {
		return ""
	}
	return r.page + "/blob/" + escapePath(path.Join(r.branch, file))
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
