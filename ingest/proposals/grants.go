package proposals

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	"almanac/catalog"
)

// grants yields the grant proposals: one for each pull request that adds or
// changes a proposal, with the text of the branch if it was merged.
func (s *syncRun) grants(ctx context.Context, pulls map[int]*pull) error {
	added := s.addedBy()
	total := len(pulls)
	for _, n := range slices.Sorted(maps.Keys(pulls)) {
		if !s.bulk[n] {
			if err := s.grant(ctx, pulls[n], added[n]); err != nil {
				return err
			}
		}
		s.progress(total)
	}
	return nil
}

// addedBy lists the files of the branch by the pull request that first added
// them. A file that a bulk edit or no pull request added belongs to none.
func (s *syncRun) addedBy() map[int][]string {
	added := map[int][]string{}
	for _, file := range sortedKeys(s.files) {
		if !s.included(file) || mediaType(file) == "" || s.exclude.Match(file) || file == s.opts.Index {
			continue
		}
		n := s.origins[file].added.pull
		switch {
		case n == 0 || s.bulk[n]:
			if s.isText(file) && len(s.include) > 0 {
				s.out.Warn(file, "no pull request added it, so it is not a proposal")
			}
		default:
			added[n] = append(added[n], file)
		}
	}
	return added
}

// events yields the state changes of a pull request.
func (s *syncRun) events(ctx context.Context, p *pull) error {
	events := GrantEvents(p.PullRequest, time.Time{}, time.Time{}, s.opts.URL.pull(p.Number))
	if len(events) == 0 {
		return nil
	}
	return s.out.Events(ctx, events)
}

// grant yields one pull request: its first text file as the proposal,
// additional ones as its children, other files as attachments.
func (s *syncRun) grant(ctx context.Context, p *pull, files []string) error {
	locator := fmt.Sprintf("pull request %d", p.Number)
	var texts, others []string
	for _, f := range files {
		if s.isText(f) {
			texts = append(texts, f)
		} else {
			others = append(others, f)
		}
	}
	if p.State != "merged" || len(texts) == 0 {
		return s.unmergedGrant(ctx, p, locator)
	}
	if err := s.events(ctx, p); err != nil {
		return err
	}
	for i, f := range texts {
		ref := catalog.Ref{Kind: catalog.KindGrant, Key: strconv.Itoa(p.Number)}
		if i > 0 {
			ref.Key += "/" + f
		}
		err := s.put(ctx, f, ref, func() (catalog.Entry, error) {
			text, err := s.text(s.files[f])
			if err != nil {
				return catalog.Entry{}, err
			}
			in := s.grantFile(p, f, text)
			in.Files = texts
			if o := s.origins[f]; o.updated.commit != nil {
				in.UpdatedAt = o.updated.commit.Committer.When
			}
			if i == 0 {
				return s.reader.Grant(in)
			}
			in.Files = nil
			return s.reader.GrantFile(in)
		})
		if err != nil {
			return err
		}
	}
	for _, f := range others {
		a := attached{file: f, parent: catalog.Ref{Kind: catalog.KindGrant, Key: strconv.Itoa(p.Number)}}
		if err := s.attached(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

func (s *syncRun) grantFile(p *pull, file, text string) File {
	return File{Path: file, Text: text, URL: s.opts.URL.pull(p.Number), Repository: s.opts.Name, Pull: &p.PullRequest}
}

// unmergedGrant yields a pull request with its own version of its file: an
// unmerged one, or a merged one that only changed files of others.
func (s *syncRun) unmergedGrant(ctx context.Context, p *pull, locator string) error {
	changes, err := p.changes(ctx, s.repo)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.out.Skip(locator, err)
		return nil
	}
	main, ok := s.proposalFile(changes)
	if !ok {
		return nil
	}
	if err := s.events(ctx, p); err != nil {
		return err
	}
	var files []string
	for _, c := range changes {
		if c.new != "" && s.isText(c.new) && path.Dir(c.new) == path.Dir(main.new) {
			files = append(files, c.new)
		}
	}
	ref := catalog.Ref{Kind: catalog.KindGrant, Key: strconv.Itoa(p.Number)}
	return s.put(ctx, locator, ref, func() (catalog.Entry, error) {
		text, err := s.text(main.newHash)
		if err != nil {
			return catalog.Entry{}, err
		}
		in := s.grantFile(p, main.new, text)
		in.Files, in.UpdatedAt = files, p.head.Committer.When
		return s.reader.Grant(in)
	})
}
