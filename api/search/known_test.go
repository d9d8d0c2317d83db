package search

import (
	"testing"

	"almanac/catalog"
)

func TestUnansweredThreads(t *testing.T) {
	topic := func(id, views, replies int64, state string) catalog.Record {
		return catalog.Record{ID: id, Kind: catalog.KindTopic, Views: views, Replies: replies, State: state}
	}
	post := func(id, topic int64) catalog.Record {
		return catalog.Record{ID: id, Kind: catalog.KindPost, Parent: topic}
	}
	u := unansweredThreads([]catalog.Record{
		post(11, 1), post(21, 2), post(31, 3), post(91, 9), topic(1, 10, 0, "open"), topic(2, 30, 1, "open"),
		topic(3, 50, 0, "closed"), topic(4, 70, 0, "open"),
	})
	if len(u.Posts) != 1 || u.Posts[0].ID != 11 || u.Thread[11].ID != 1 || len(u.Thread) != 1 {
		t.Errorf("%+v", u)
	}
	for views, want := range map[int64]float64{0: 0, 10: 0, 11: 0.25, 70: 0.75, 99: 1} {
		if got := u.Seen(views); got != want {
			t.Errorf("%d views are more than %v of the threads, want %v", views, got, want)
		}
	}
	if got := unansweredThreads(nil).Seen(5); got != 0 {
		t.Errorf("of no threads: %v", got)
	}
}
