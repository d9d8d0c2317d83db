package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest/proposals"
)

// grants yields the grant proposals: one for each pull request that adds or
// changes a proposal, with the text of the branch if it was merged there.
func (r *proposalRun) grants(ctx context.Context) error {
	added := r.addedBy()
	for _, n := range sortedKeys(r.pulls) {
		if err := r.grant(ctx, r.pulls[n], added[n]); err != nil {
			return err
		}
		r.progress(len(r.pulls))
	}
	return nil
}

// addedBy lists the texts of the branch by the pull request that added them. A
// file that no pull request, or a bulk edit, added belongs to none.
func (r *proposalRun) addedBy() map[int][]string {
	added := map[int][]string{}
	for _, file := range sortedKeys(r.files) {
		if !r.layout.included(file) || !r.layout.isText(file) {
			continue
		}
		if n := r.origin[file].added; n > 0 {
			added[n] = append(added[n], file)
		} else if len(r.layout.include) > 0 {
			r.out.Warn(file, "no pull request added it; it is not a proposal")
		}
	}
	return added
}

// grant yields one pull request: its first text as the proposal, further ones
// as its children. One that is not merged, or only changed existing files, has
// its own version of its main file.
func (r *proposalRun) grant(ctx context.Context, p *pull, texts []string) error {
	in := proposals.File{URL: p.HTMLURL, Repository: r.opts.Repository, Pull: r.request(p), CreatedAt: p.CreatedAt}
	ref := catalog.Ref{Kind: catalog.KindGrant, Key: strconv.Itoa(p.Number)}
	if !p.merged() || len(texts) == 0 {
		main, ok := r.layout.choose(p.files)
		if !ok {
			return nil
		}
		if err := r.events(ctx, p, ref); err != nil {
			return err
		}
		in.Path, in.UpdatedAt = main.Path, newer(p.UpdatedAt, p.MergedAt)
		for _, f := range p.files {
			if f.Status != "removed" && r.layout.isText(f.Path) && path.Dir(f.Path) == path.Dir(main.Path) {
				in.Files = append(in.Files, f.Path)
			}
		}
		return r.entry(ctx, fmt.Sprintf("pull request %d", p.Number), ref, main.SHA,
			func(text string) (catalog.Entry, error) {
				in.Text = text
				return r.labelled(p, in, r.reader.Grant)
			})
	}
	if err := r.events(ctx, p, ref); err != nil {
		return err
	}
	for i, file := range texts {
		in.Path, in.UpdatedAt, in.Files = file, r.origin[file].updated, nil
		read := r.reader.GrantFile
		if i == 0 {
			in.Files, read = texts, r.reader.Grant
		} else {
			ref.Key = fmt.Sprintf("%d/%s", p.Number, file)
		}
		err := r.entry(ctx, file, ref, r.files[file], func(text string) (catalog.Entry, error) {
			in.Text = text
			return r.labelled(p, in, read)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// events yields the changes of state of a grant's pull request, and keeps its
// reference for the comments.
func (r *proposalRun) events(ctx context.Context, p *pull, ref catalog.Ref) error {
	r.refs[p.Number] = ref
	events := proposals.GrantEvents(*r.request(p), p.CreatedAt, p.ClosedAt, p.HTMLURL)
	if len(events) == 0 {
		return nil
	}
	return r.out.Events(ctx, events)
}

// labelled reads a grant and adds the data that only the forge has: labels and
// the column of the board.
func (r *proposalRun) labelled(
	p *pull, in proposals.File, read func(proposals.File) (catalog.Entry, error),
) (catalog.Entry, error) {
	e, err := read(in)
	if err != nil {
		return e, err
	}
	data, err := catalog.Decode[catalog.Grant](e.Record)
	if err != nil {
		return e, err
	}
	for _, name := range names(p.Labels) {
		if name = strings.ToLower(name); !slices.Contains(data.Labels, name) {
			data.Labels = append(data.Labels, name)
			e.Record.Tags = append(e.Record.Tags, catalog.Tag(catalog.TagLabel, name))
		}
	}
	if e.Record.Category == "" && len(data.Labels) > 0 {
		e.Record.Category = data.Labels[0]
	}
	data.BoardStatus = r.column[p.Number]
	e.Record.LastActivityAt = later(e.Record.UpdatedAt, p.UpdatedAt)
	if e.Record.Data, err = catalog.Encode(data); err != nil {
		return e, err
	}
	known := map[string]any{"labels": data.Labels, "merged": data.Merged}
	if r.column != nil {
		known["board_status"] = orNull(data.BoardStatus)
	}
	e.Facts, err = facts(e.Record, data.Pull, known)
	e.Facts.Category = e.Record.Category
	return e, err
}

// comments yields the comments on the proposals, in the conversation and in
// reviews of their texts. The whole lists are read, which only the rate limit
// with a token allows.
func (r *proposalRun) comments(ctx context.Context) error {
	if r.token == "" {
		return nil
	}
	for _, list := range []string{"/issues/comments", "/pulls/comments"} {
		q := url.Values{"sort": {"created"}, "direction": {"asc"}}
		seen := map[int64]time.Time{}
		err := r.list(ctx, call{path: r.path(list), query: q}, func(raw json.RawMessage) error {
			var c comment
			if err := json.Unmarshal(raw, &c); err != nil || c.ID == 0 {
				r.complete = false
				r.out.Skip(r.opts.Repository+": a comment", errUnread)
				return nil
			}
			_, number := c.subject()
			parent, ok := r.refs[number]
			if _, twice := seen[c.ID]; twice || !ok {
				return nil
			}
			seen[c.ID] = c.UpdatedAt
			return r.comment(ctx, c, r.opts.Repository, parent)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var errUnread = fmt.Errorf("cannot be read: is this API of another version?")

func escapePath(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}
