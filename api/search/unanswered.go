package search

import (
	"slices"

	"almanac/api/kb"
	"almanac/catalog"
)

// unanswered are the open forum threads without a reply.
type unanswered struct {
	Posts  []catalog.Record         // the first of each
	Thread map[int64]catalog.Record // by the id of its first post

	views []int64 // of all threads, ascending
}

// unansweredThreads finds them among topics and posts.
func unansweredThreads(forum []catalog.Record) unanswered {
	u := unanswered{Thread: map[int64]catalog.Record{}}
	open := map[int64]catalog.Record{}
	for _, r := range forum {
		if r.Kind != catalog.KindTopic {
			continue
		}
		u.views = append(u.views, r.Views)
		if kb.Unanswered(r) {
			open[r.ID] = r
		}
	}
	slices.Sort(u.views)
	for _, r := range forum {
		if t, ok := open[r.Parent]; ok && r.Kind == catalog.KindPost {
			u.Posts, u.Thread[r.ID] = append(u.Posts, r), t
		}
	}
	return u
}

// Seen returns the share of all threads that have fewer views, 0 to 1.
func (u unanswered) Seen(views int64) float64 {
	fewer, _ := slices.BinarySearch(u.views, views)
	return float64(fewer) / float64(max(1, len(u.views)))
}
