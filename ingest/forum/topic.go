package forum

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"almanac/ingest/outbound"
)

// batch is how many posts are requested at once: as many as the forum's own pages
// request.
const batch = 20

// topic reads a topic and puts it with its posts, batch by batch. It returns the
// numbers of the existing posts and whether all could be read. The error is
// errGone if the topic does not exist, and unreadable if the rest of it could not
// be read.
func (s *syncRun) topic(ctx context.Context, id int64) (posts []int64, whole bool, err error) {
	t, err := s.api.topic(ctx, id)
	switch {
	case isGone(err):
		return nil, false, errGone
	case err != nil:
		return nil, false, s.blame(err)
	case int64(*t.ID) != id || !t.Deleted.IsZero() || !s.wanted(t.about):
		return nil, false, errGone // merged into another, or withdrawn after it was listed
	}
	r := reading{syncRun: s, topic: t, whole: true, met: map[int64]bool{}}
	first := r.decode(*t.Stream.Posts)
	if err := r.putTopic(ctx, first); err != nil {
		return nil, false, err
	}
	if err = r.put(ctx, first); err == nil {
		err = r.rest(ctx)
	}
	return r.posts, r.whole, err
}

// blame makes a request's error one of the topic, unless the forum is
// overloaded.
func (s *syncRun) blame(err error) error {
	if outbound.BlameOf(err) == outbound.Busy {
		return err
	}
	return unreadable{err}
}

// reading is one topic being read.
type reading struct {
	*syncRun
	topic wireTopic
	met   map[int64]bool // ids of posts
	posts []int64        // put; ascending
	whole bool           // nothing was unreadable
}

func (r *reading) id() int64 { return int64(*r.topic.ID) }

// decode reads posts. Unreadable ones are reported and their records kept.
func (r *reading) decode(raw []json.RawMessage) []wirePost {
	posts := make([]wirePost, 0, len(raw))
	for i, data := range raw {
		var p wirePost
		err := json.Unmarshal(data, &p)
		if err == nil {
			err = p.check()
		}
		if err != nil {
			r.unread(fmt.Sprintf("%s#%d", topicKey(r.id()), len(r.met)+i+1), err)
			if p.ID != nil {
				r.met[int64(*p.ID)] = true
			}
			continue
		}
		if r.met[int64(*p.ID)] {
			continue // a post was added while the topic was read
		}
		r.met[int64(*p.ID)] = true
		posts = append(posts, p)
	}
	return posts
}

func (r *reading) unread(locator string, err error) {
	r.whole = false
	r.out.Skip(locator, err)
}

// put puts the posts that readers see.
func (r *reading) put(ctx context.Context, posts []wirePost) error {
	for _, p := range posts {
		n := int64(*p.Number)
		if !p.shown() {
			continue
		}
		at, twice := slices.BinarySearch(r.posts, n)
		if twice {
			r.out.Warn(postKey(r.id(), n),
				fmt.Sprintf("two posts have this number; the one with id %d is skipped", *p.ID))
			continue
		}
		e, err := r.postEntry(p)
		if err != nil {
			r.unread(postKey(r.id(), n), err)
			continue
		}
		if e.Record.Body == "" {
			continue
		}
		if err := r.out.Put(ctx, e); err != nil {
			return err
		}
		r.posts = slices.Insert(r.posts, at, n)
	}
	return nil
}

// rest reads the posts of which the topic's first response had only the ids, or
// not even those in a very large topic.
func (r *reading) rest(ctx context.Context) error {
	if len(r.topic.Stream.IDs) == 0 {
		return r.pages(ctx)
	}
	missing := slices.DeleteFunc(slices.Clone(r.topic.Stream.IDs), func(id integer) bool { return r.met[int64(id)] })
	for ids := range slices.Chunk(missing, batch) {
		raw, err := r.api.posts(ctx, r.id(), ids)
		if err != nil {
			return r.blame(err)
		}
		if err := r.put(ctx, r.decode(raw)); err != nil {
			return err
		}
	}
	return nil
}

// pages reads a topic page by page until one has nothing new.
func (r *reading) pages(ctx context.Context) error {
	for page := 2; len(r.met) < int(r.topic.Posts); page++ {
		raw, err := r.api.page(ctx, r.id(), page)
		if err != nil {
			return r.blame(err)
		}
		before := len(r.met)
		if err := r.put(ctx, r.decode(raw)); err != nil {
			return err
		}
		if len(r.met) == before {
			return nil
		}
	}
	return nil
}

// putTopic puts the topic itself. Its text is that of its first post.
func (r *reading) putTopic(ctx context.Context, posts []wirePost) error {
	e, err := r.topicEntry()
	if err != nil {
		return err
	}
	for _, p := range posts {
		if *p.Number == 1 && p.shown() {
			text, _, err := render(*p.Cooked, r.opts.URL)
			if err != nil {
				break // reported with the post
			}
			e.Record.Body = text
		}
	}
	return r.out.Put(ctx, e)
}
