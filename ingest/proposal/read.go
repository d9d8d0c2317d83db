package proposal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
)

// Result is what a repository became.
type Result struct {
	Records int                 // how many were put
	Pulls   map[int]catalog.Ref // the record of each pull request that has one
}

// reading is one reading of a repository.
type reading struct {
	repo     *Repository
	layout   Layout
	reader   Reader
	out      ingest.Sink
	origins  map[string]origin
	numberOf map[string]string  // of the proposals' files
	skipped  map[string]bool    // locators
	kept     map[string]version // until their records are put, by keyOf
	fatal    error              // the first that ends the reading
	result   Result
	done     int
	total    int
}

// Read puts the records and events of a repository: its numbered proposals with
// attachments, the drafts in its unmerged pull requests and the history of all,
// or its grant proposals.
func Read(
	ctx context.Context, repo *Repository, l Layout, n network.Network, out ingest.Sink,
) (Result, error) {
	r := &reading{
		repo: repo, layout: l, out: out, origins: origins(repo.Steps), numberOf: map[string]string{},
		reader:  Reader{Network: n, Register: &Register{}, Known: repo.Numbers, Warn: out.Warn},
		skipped: map[string]bool{}, kept: map[string]version{}, result: Result{Pulls: map[int]catalog.Ref{}},
	}
	read := r.proposals
	if l.Grants {
		read = r.grants
	}
	err := cmp.Or(read(ctx), r.fatal)
	if err == nil && r.result.Records == 0 && len(r.skipped) == 0 {
		r.skip(repo.Name, fmt.Errorf("%w: %w", ingest.ErrNoItem, ErrNothing))
	}
	return r.result, err
}

func keyOf(file, blob string) string { return path.Ext(file) + " " + blob }

// version returns a version of a file that is parsed, and keeps it.
func (r *reading) version(ctx context.Context, file, blob string) (version, error) {
	key := keyOf(file, blob)
	v, kept := r.kept[key]
	if kept {
		return v, nil
	}
	text, err := r.text(ctx, blob)
	if err != nil {
		return version{}, err
	}
	if v, err = r.reader.parse(file, text); err == nil {
		r.kept[key] = v
	}
	return v, err
}

// text reads a version of a file that is parsed next.
func (r *reading) text(ctx context.Context, blob string) (string, error) {
	if r.fatal != nil {
		return "", r.fatal
	}
	data, err := r.repo.Content(ctx, blob, ingest.MaxText)
	if err == nil {
		err = r.out.Begin(data)
	}
	if isFatal(err) {
		r.fatal = err
	}
	return string(data), err
}

// skip skips an item, which may be read several times, once.
func (r *reading) skip(locator string, err error) {
	if !r.skipped[locator] && r.fatal == nil {
		r.skipped[locator] = true
		r.out.Skip(locator, err)
	}
}

func (r *reading) progress() {
	r.done++
	r.out.Progress(r.done, r.total)
}

// put makes an entry and puts it. If that fails it is skipped, and the record of
// a former version, if there is one, kept. The blob is what the entry is made of.
func (r *reading) put(
	ctx context.Context, locator string, ref catalog.Ref, blob string, make func() (catalog.Entry, error),
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := make()
	switch {
	case r.fatal != nil:
		return r.fatal
	case err != nil:
		r.skip(r.repo.record(locator, blob), err)
		r.out.Keep(ref)
		return nil
	}
	r.result.Records++
	e.Record.Path = r.repo.record(e.Record.Path, blob)
	return r.out.Put(ctx, e)
}

// putText puts the entry that is read from a text.
func (r *reading) putText(
	ctx context.Context, locator string, ref catalog.Ref, blob string, in File, read func(File) (catalog.Entry, error),
) error {
	return r.put(ctx, locator, ref, blob, func() (e catalog.Entry, err error) {
		v, err := r.version(ctx, in.Path, blob)
		if err != nil {
			return e, err
		}
		delete(r.kept, keyOf(in.Path, blob))
		in.Text, in.header = v.text, v.header
		return read(in)
	})
}

// changes returns those of a pull request, and its proposal among them. A pull
// request whose changes cannot be read is skipped.
func (r *reading) changes(ctx context.Context, p *Pull) (all []gitrepo.Change, main gitrepo.Change, ok bool, err error) {
	all = p.Changes
	if p.Diff != nil {
		all, err = p.Diff()
	}
	if err != nil {
		r.skip(locator(p), err)
		return nil, main, false, ctx.Err()
	}
	main, ok = r.layout.choose(r.reader, all)
	return all, main, ok, nil
}

func locator(p *Pull) string { return fmt.Sprintf("pull request %d", p.Number) }

// number finds the numbered proposals of the branch, and the files that could be
// some and are neither that nor attachments.
func (r *reading) number(ctx context.Context) (n Numbering, unread []Unread) {
	var files []string
	for file := range r.repo.Files {
		if r.layout.included(file) && r.layout.allowed(file) && (r.layout.named() || IsText(file)) {
			files = append(files, file)
		}
	}
	n = r.reader.number(files, r.layout.named(), func(file string) (version, error) {
		return r.version(ctx, file, r.repo.Files[file])
	})
	for number, file := range n.Files {
		r.numberOf[file] = number
	}
	for _, u := range n.Unread(r.layout.named()) {
		if !r.isAttachment(n, u.File) {
			unread = append(unread, u)
		} else if u.Second {
			r.reader.warn(r.at(u.File), "%v", u.Reason)
		}
	}
	return n, unread
}

// at is the locator of a file of the branch.
func (r *reading) at(file string) string { return r.repo.record(file, r.repo.Files[file]) }

// proposals puts the numbered proposals with their attachments, the drafts, and
// the history of all.
func (r *reading) proposals(ctx context.Context) error {
	numbering, unread := r.number(ctx)
	if r.fatal != nil {
		return r.fatal
	}
	changes, rows := r.repo.Changes, map[string]IndexRow{}
	if r.repo.Whole {
		changes, rows = r.statusChanges(ctx)
	} else if b, ok := r.repo.Files[r.layout.Index]; ok {
		for _, row := range r.table(ctx, r.layout.Index, b) {
			rows[row.Number] = row
		}
	}
	aliases := r.aliases(numbering.Files)
	beside := r.beside(ctx, numbering)
	for _, u := range unread {
		r.skip(r.at(u.File), u.Err())
	}
	for _, file := range slices.Sorted(maps.Keys(r.repo.Others)) {
		if r.layout.included(file) && r.layout.isText(file) {
			r.skip(file, fmt.Errorf("%w: %w", ingest.ErrNoItem, r.repo.Others[file]))
		}
	}
	r.total = len(numbering.Files) + len(beside) + len(r.repo.Pulls)
	for _, number := range slices.Sorted(maps.Keys(numbering.Files)) {
		if err := r.proposal(ctx, number, numbering.Files[number], rows[number], aliases[number]); err != nil {
			return err
		}
		r.progress()
	}
	for _, a := range beside {
		if err := r.attachment(ctx, a); err != nil {
			return err
		}
		r.progress()
	}
	drafts, err := r.drafts(ctx)
	if err != nil {
		return err
	}
	claims := claimed(drafts, numbering)
	for _, n := range slices.Sorted(maps.Keys(r.repo.Pulls)) {
		if d, ok := drafts[n]; ok {
			if err := r.draft(ctx, d, claims[d.number] == n); err != nil {
				return err
			}
		}
		r.progress()
	}
	if err := r.branches(ctx, numbering, claims); err != nil {
		return err
	}
	for _, events := range r.reader.Events(changes) {
		if err := r.out.Events(ctx, events); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) proposal(ctx context.Context, number, file string, row IndexRow, pulls []int) error {
	o := r.origins[file]
	ref := catalog.Ref{Kind: catalog.KindCIP, Key: r.reader.Key(number)}
	in := File{
		Path: file, URL: r.repo.URL(file, ""), Repository: r.repo.Name, Number: number, Index: row,
		CreatedAt: o.created, UpdatedAt: o.updated,
	}
	if p := r.repo.Pulls[o.added]; p != nil && p.State == "merged" {
		in.Pull = &p.PullRequest
	}
	return r.putText(ctx, file, ref, r.repo.Files[file], in, func(in File) (catalog.Entry, error) {
		e, err := r.reader.proposal(in)
		for _, n := range pulls {
			e.Aliases = append(e.Aliases, network.DraftKey(n))
		}
		return e, err
	})
}

// aliases finds the proposal that each merged pull request became, and returns
// its pull requests by number: the one it added, or if it added none, the only
// one it changed.
func (r *reading) aliases(numbered map[string]string) map[string][]int {
	added, touched := map[int][]string{}, map[int][]string{}
	for _, number := range slices.Sorted(maps.Keys(numbered)) {
		o := r.origins[numbered[number]]
		if o.added > 0 {
			added[o.added] = append(added[o.added], number)
		}
		for _, n := range slices.Compact(slices.Clone(o.pulls)) {
			touched[n] = append(touched[n], number)
		}
	}
	aliases := map[string][]int{}
	for _, n := range slices.Sorted(maps.Keys(r.repo.Pulls)) {
		became := added[n]
		if len(became) == 0 {
			became = touched[n]
		}
		if r.repo.Pulls[n].State == "merged" && !r.layout.isBulk(n) && len(became) == 1 {
			aliases[became[0]] = append(aliases[became[0]], n)
			r.result.Pulls[n] = catalog.Ref{Kind: catalog.KindCIP, Key: r.reader.Key(became[0])}
		}
	}
	return aliases
}

// draft is an unmerged pull request that adds or changes a proposal.
type draft struct {
	*Pull
	main   gitrepo.Change
	number string // that its header says; "" for none
}

// drafts finds the drafts.
func (r *reading) drafts(ctx context.Context) (map[int]draft, error) {
	drafts := map[int]draft{}
	for _, n := range slices.Sorted(maps.Keys(r.repo.Pulls)) {
		p := r.repo.Pulls[n]
		if p.State == "merged" || r.layout.isBulk(n) {
			continue
		}
		_, main, ok, err := r.changes(ctx, p)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		v, _ := r.version(ctx, main.New, main.Blob) // else it is skipped when it is put
		drafts[n] = draft{Pull: p, main: main, number: v.header.Number}
	}
	return drafts, r.fatal
}

// claimed returns the drafts by the numbers that they alone say: of a number that
// no proposal of the branch has, the only draft, else the only open one.
func claimed(drafts map[int]draft, numbering Numbering) map[string]int {
	all, open := map[string][]int{}, map[string][]int{}
	for n, d := range drafts {
		if d.number == "" || numbering.Files[d.number] != "" {
			continue
		}
		if all[d.number] = append(all[d.number], n); d.State == "open" {
			open[d.number] = append(open[d.number], n)
		}
	}
	claims := map[string]int{}
	for number, of := range all {
		if len(open[number]) == 1 {
			of = open[number]
		}
		if len(of) == 1 {
			claims[number] = of[0]
		}
	}
	return claims
}

// draft puts a draft. One that claims a number is found by it too.
func (r *reading) draft(ctx context.Context, d draft, claims bool) error {
	ref := catalog.Ref{Kind: catalog.KindCIP, Key: network.DraftKey(d.Number)}
	r.result.Pulls[d.Number] = ref
	in := r.file(d.Pull, d.main.New)
	in.Amends = d.main.Old != ""
	return r.putText(ctx, locator(d.Pull), ref, d.main.Blob, in, func(in File) (catalog.Entry, error) {
		e, err := r.reader.proposal(in)
		if claims {
			e.Aliases = append(e.Aliases, r.reader.Key(d.number))
		}
		return e, err
	})
}

// branches puts the proposals that branches add: those whose numbers neither the main
// branch nor a draft nor an earlier branch has.
func (r *reading) branches(ctx context.Context, numbering Numbering, claims map[string]int) error {
	of := map[string]string{}
	for number := range numbering.Files {
		of[number] = "the main branch"
	}
	for number, pull := range claims {
		of[number] = fmt.Sprintf("pull request %d", pull)
	}
	for _, b := range r.repo.Branches {
		at := "branch " + b.Name
		changes, err := b.Diff()
		if err != nil {
			r.skip(at, err)
		}
		for _, c := range changes {
			if c.New == "" || c.Same || c.Blob == "" || !r.layout.included(c.New) || !r.layout.isText(c.New) ||
				aboutRepository(c.New) {
				continue
			}
			at := at + ": " + c.New
			v, err := r.version(ctx, c.New, c.Blob)
			number := cmp.Or(v.header.Number, r.reader.pathNumber(c.New))
			switch {
			case r.fatal != nil:
				return r.fatal
			case err != nil && !errors.Is(err, ErrTooLarge):
				r.skip(at, err)
				continue
			case number == "":
				r.skip(at, fmt.Errorf("%w: %w", ingest.ErrNoItem, ErrNotProposal))
				continue
			case of[number] != "":
				r.skip(at, fmt.Errorf("%w: %s has %s", ingest.ErrNoItem, of[number], r.reader.Key(number)))
				continue
			}
			of[number] = at
			in := File{Path: c.New, URL: r.repo.URL(c.New, b.Commit), Repository: r.repo.Name, Number: number,
				UpdatedAt: b.Updated}
			ref := catalog.Ref{Kind: catalog.KindCIP, Key: r.reader.Key(number)}
			if err := r.putText(ctx, at, ref, c.Blob, in, r.reader.proposal); err != nil {
				return err
			}
		}
	}
	return nil
}

// file is a file of a pull request.
func (r *reading) file(p *Pull, file string) File {
	return File{
		Path: file, URL: p.URL, Repository: r.repo.Name, Pull: &p.PullRequest, Forge: p.Forge, CreatedAt: p.Opened,
		UpdatedAt: p.Updated,
	}
}

// grants puts the grant proposals: one for each pull request that adds or
// changes a proposal, with the text of the branch if it was merged.
func (r *reading) grants(ctx context.Context) error {
	added := r.addedBy()
	r.total = len(r.repo.Pulls)
	for _, n := range slices.Sorted(maps.Keys(r.repo.Pulls)) {
		if !r.layout.isBulk(n) {
			if err := r.grant(ctx, r.repo.Pulls[n], added[n]); err != nil {
				return err
			}
		}
		r.progress()
	}
	return nil
}

// addedBy lists the files of the branch by the pull request that added them. A
// file that a bulk edit or no pull request added belongs to none.
func (r *reading) addedBy() map[int][]string {
	added := map[int][]string{}
	for _, file := range slices.Sorted(maps.Keys(r.repo.Files)) {
		if !r.layout.included(file) || !r.layout.allowed(file) || mediaType(file) == "" {
			continue
		}
		if n := r.origins[file].added; n > 0 && !r.layout.isBulk(n) {
			added[n] = append(added[n], file)
		} else if IsText(file) && r.layout.named() {
			r.out.Warn(r.repo.record(file, r.repo.Files[file]), "no pull request added it, so it is not a proposal")
		}
	}
	return added
}

// grant puts one pull request: its first text as the proposal, further ones as
// its children, other files as attachments. One that is not merged, or that only
// changed files of others, has its own version of its proposal.
func (r *reading) grant(ctx context.Context, p *Pull, files []string) error {
	ref := catalog.Ref{Kind: catalog.KindGrant, Key: strconv.Itoa(p.Number)}
	var texts []string
	for _, f := range files {
		if IsText(f) {
			texts = append(texts, f)
		}
	}
	if p.State != "merged" || len(texts) == 0 {
		return r.ownGrant(ctx, p, ref)
	}
	if err := r.grantEvents(ctx, p, ref); err != nil {
		return err
	}
	for i, f := range texts {
		in, own, read := r.file(p, f), ref, r.reader.grant
		in.UpdatedAt = r.origins[f].updated
		if i == 0 {
			in.Files = texts
		} else {
			in.URL, own.Key, read = cmp.Or(r.repo.URL(f, ""), in.URL), ref.Key+"/"+f, r.reader.grantFile
		}
		if err := r.putText(ctx, f, own, r.repo.Files[f], in, read); err != nil {
			return err
		}
	}
	for _, f := range files {
		if !IsText(f) && r.repo.Whole {
			if err := r.attachment(ctx, attached{file: f, parent: ref}); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownGrant puts a pull request with its own version of its proposal.
func (r *reading) ownGrant(ctx context.Context, p *Pull, ref catalog.Ref) error {
	changes, main, ok, err := r.changes(ctx, p)
	if !ok {
		return err
	}
	if err := r.grantEvents(ctx, p, ref); err != nil {
		return err
	}
	in := r.file(p, main.New)
	for _, c := range changes {
		if c.New != "" && r.layout.isText(c.New) && path.Dir(c.New) == path.Dir(main.New) {
			in.Files = append(in.Files, c.New)
		}
	}
	return r.putText(ctx, locator(p), ref, main.Blob, in, r.reader.grant)
}

// grantEvents puts the changes of state of a grant's pull request.
func (r *reading) grantEvents(ctx context.Context, p *Pull, ref catalog.Ref) error {
	r.result.Pulls[p.Number] = ref
	events := GrantEvents(p.PullRequest, p.Opened, p.Closed, p.URL)
	if len(events) == 0 {
		return nil
	}
	return r.out.Events(ctx, events)
}
