package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
)

// comments reads the comments on issues and pull requests.
func (r *run) comments(ctx context.Context) error {
	return r.commentFeed(ctx, "/issues/comments", r.marks.Comments, func(t time.Time) { r.marks.Comments = t })
}

// reviews reads the comments in code reviews, each about a file.
func (r *run) reviews(ctx context.Context) error {
	if !r.opts.pulls(r.name) {
		return nil
	}
	return r.commentFeed(ctx, "/pulls/comments", r.marks.Reviews, func(t time.Time) { r.marks.Reviews = t })
}

func (r *run) commentFeed(ctx context.Context, list string, since time.Time, reached func(time.Time)) error {
	f := feed[comment]{
		path: "/repos/" + r.name + list, since: since, reached: reached,
		stamp: func(c comment) (int64, time.Time) { return c.ID, newer(c.CreatedAt, c.UpdatedAt) },
		bad:   func(raw json.RawMessage, err error) { r.bad(commentKeyOf(r.name, raw), err) },
		items: func(items []comment) error {
			for _, c := range items {
				kind, number := c.subject()
				if number == 0 {
					r.bad(c.key(r.name), errNoSubject)
					continue
				}
				if kind == catalog.KindPull && !r.opts.pulls(r.name) {
					continue
				}
				parent := catalog.Ref{Kind: kind, Key: numbered(r.name, number)}
				if err := r.comment(ctx, c, r.name, parent); err != nil {
					return err
				}
			}
			return nil
		},
	}
	return f.read(ctx, r.client)
}

var errNoSubject = fmt.Errorf("does not say which issue or pull request it is about")

// subject is the issue or pull request of a comment.
func (c comment) subject() (kind catalog.Kind, number int) {
	kind = catalog.KindIssue
	if c.review() || strings.Contains(c.HTMLURL, "/pull/") {
		kind = catalog.KindPull
	}
	address := c.IssueURL
	if c.review() {
		address = c.PullURL
	}
	number, _ = strconv.Atoi(path.Base(address))
	return kind, max(number, 0)
}

// review reports whether the comment is from a code review.
func (c comment) review() bool { return c.PullURL != "" }

// key returns a comment's key, which is the anchor on the forge's page.
func (c comment) key(repository string) string {
	return commentKey(repository, c.ID, c.review())
}

func commentKey(repository string, id int64, review bool) string {
	if review {
		return fmt.Sprintf("%s#discussion_r%d", repository, id)
	}
	return fmt.Sprintf("%s#issuecomment-%d", repository, id)
}

func commentKeyOf(repository string, raw json.RawMessage) string {
	var item struct {
		ID      int64  `json:"id"`
		PullURL string `json:"pull_request_url"`
	}
	if json.Unmarshal(raw, &item) != nil || item.ID <= 0 {
		return ""
	}
	return commentKey(repository, item.ID, item.PullURL != "")
}

// comment puts a comment on a record. Comments by bots, and those that
// maintainers hid as not part of the conversation, are ignored.
func (r reading) comment(ctx context.Context, c comment, repository string, parent catalog.Ref) error {
	body := text(c.Body)
	if r.access.bot(c.User) || hidden(c.Minimized.Reason) || body == "" {
		return nil
	}
	data := catalog.Comment{Association: association(c.Association), Review: c.review(), File: c.Path}
	if c.InReplyTo > 0 {
		data.ReplyTo = commentKey(repository, c.InReplyTo, c.review())
	}
	_, number := c.subject()
	updated := newer(c.CreatedAt, c.UpdatedAt)
	return r.put(ctx, catalog.Entry{
		Parent: parent,
		Record: catalog.Record{
			Kind: catalog.KindComment, Key: c.key(repository), Title: "Re: " + numbered(repository, number),
			URL: c.HTMLURL, Container: repository, Author: r.access.author(c.User),
			CreatedAt: c.CreatedAt, UpdatedAt: updated, LastActivityAt: updated,
			Votes: c.Reactions.Total, Body: body,
		},
	}, data)
}
