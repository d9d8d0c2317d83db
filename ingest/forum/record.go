package forum

import (
	"fmt"
	"net/url"

	"almanac/catalog"
)

// topicEntry makes a topic's record, without its text.
func (r *reading) topicEntry() (catalog.Entry, error) {
	t := r.topic
	where := r.where[int64(t.Category)]
	return catalog.Record{
		Kind: catalog.KindTopic, Key: topicKey(r.id()), Title: *t.Title, URL: r.address(),
		Container: where.path, Category: where.name, State: r.state(), Author: t.Details.Author.Username,
		CreatedAt: t.Created.Time, LastActivityAt: t.LastPosted.Time,
		Views: int64(t.Views), Votes: int64(t.Likes),
		// The forum shows all posts but the first as replies; its field
		// reply_count has only replies to a particular post.
		Replies: max(0, int64(t.Posts)-1),
		Tags:    catalog.Tags(catalog.TagLabel, t.Tags...),
	}.With(catalog.Topic{
		Slug: t.Slug, Posts: int(t.Posts), Participants: int(t.Participants), Accepted: r.accepted(),
		LastPoster: t.Details.LastPoster.Username, Pinned: t.Pinned || t.Globally,
	})
}

func (r *reading) postEntry(p wirePost) (catalog.Entry, error) {
	text, code, err := render(*p.Cooked, r.opts.URL)
	if err != nil {
		return catalog.Entry{}, err
	}
	n := int(*p.Number)
	title := *r.topic.Title
	if n > 1 {
		title = "Re: " + title
	}
	var tags []string
	if code > 0 {
		tags = []string{catalog.TagCode}
	}
	where := r.where[int64(r.topic.Category)]
	e, err := catalog.Record{
		Kind: catalog.KindPost, Key: postKey(r.id(), int64(n)), Title: title, URL: fmt.Sprintf("%s/%d", r.address(), n),
		Container: where.path, Category: where.name, Author: p.Username, CreatedAt: p.Created.Time,
		UpdatedAt: p.Updated.Time, Votes: p.likes(), Replies: int64(p.Replies), Body: text, Tags: tags,
	}.With(catalog.Post{
		Number: n, ReplyTo: int(p.ReplyTo), Role: p.role(), CodeBlocks: code, Accepted: p.Accepted || n == r.accepted(),
	})
	e.Parent = catalog.Ref{Kind: catalog.KindTopic, Key: topicKey(r.id())}
	return e, err
}

// address returns the topic's page. A title without Latin letters may have no
// slug.
func (r *reading) address() string {
	if r.topic.Slug == "" {
		return fmt.Sprintf("%s/t/%d", r.opts.URL, r.id())
	}
	return fmt.Sprintf("%s/t/%s/%d", r.opts.URL, url.PathEscape(r.topic.Slug), r.id())
}

// state returns the topic's state; an archived topic is closed too.
func (r *reading) state() string {
	switch {
	case r.topic.Archived:
		return "archived"
	case r.topic.Closed:
		return "closed"
	}
	return "open"
}

func (r *reading) accepted() int {
	if r.topic.Accepted == nil {
		return 0
	}
	return int(r.topic.Accepted.Number)
}
