package forum_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest/forum"
	"almanac/testing/connectortest"
)

func TestTopicsAndPosts(t *testing.T) {
	b := newBench(t)
	topic := b.topic(1234, 3)
	topic.title, topic.views, topic.posts[1].likes = "Mooring & CWP-7", 4321, 5
	topic.extra = object{"closed": true, "pinned": true,
		"accepted_answer": object{"post_number": 2, "username": "chen", "excerpt": "…"}}
	topic.posts[0].cooked = "<p>Ask <a class=\"mention\" href=\"/u/bodo\">@bodo</a>.</p>\n<pre><code " +
		"class=\"lang-sh\">moor --now\n</code></pre>"
	topic.posts[1].extra = object{"moderator": true, "staff": true, "reply_count": "2"}
	r := connectortest.NewSource(t, b.config).Sync()
	if diff := cmp.Diff([]string{"post 1234/1", "post 1234/2", "post 1234/3", "topic 1234"}, r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	rec := r.Get(t, catalog.KindTopic, "1234")
	want := catalog.Record{
		Title: "Mooring & CWP-7", URL: b.server.URL + "/t/how-to-moor-vessel-1234/1234", Container: "support/nodes",
		Category: "Nodes", State: "closed",
		Author: "bodo", Views: 4321, Replies: 2, Votes: 5, Tags: []string{"label:mooring"},
		Body: "Ask @bodo.\n\n```sh\nmoor --now\n```",
	}
	got := catalog.Record{
		Title: rec.Title, URL: rec.URL, Container: rec.Container, Category: rec.Category, State: rec.State,
		Author: rec.Author,
		Views:  rec.Views, Replies: rec.Replies, Votes: rec.Votes, Tags: rec.Tags, Body: rec.Body,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("topic (-want +got)\n%s", diff)
	}
	wantTopic := catalog.Topic{Slug: "how-to-moor-vessel-1234", Posts: 3, Participants: 3, Accepted: 2,
		LastPoster: "anna", Pinned: true}
	if diff := cmp.Diff(wantTopic, connectortest.Data[catalog.Topic](t, rec)); diff != "" {
		t.Errorf("topic data (-want +got)\n%s", diff)
	}
	if !rec.LastActivityAt.Equal(topic.posts[2].at) || !rec.CreatedAt.Equal(topic.posts[0].at) {
		t.Errorf("created %s, last activity %s", rec.CreatedAt, rec.LastActivityAt)
	}
	answer := r.Get(t, catalog.KindPost, "1234/2")
	if answer.Parent != rec.ID || answer.Votes != 5 || answer.Replies != 2 || answer.Title != "Re: Mooring & CWP-7" ||
		answer.URL != rec.URL+"/2" || answer.Author != "chen" {
		t.Errorf("answer: %+v", answer)
	}
	if diff := cmp.Diff(catalog.Post{Number: 2, ReplyTo: 1, Role: "moderator", Accepted: true},
		connectortest.Data[catalog.Post](t, answer)); diff != "" {
		t.Errorf("answer data (-want +got)\n%s", diff)
	}
	post := r.Get(t, catalog.KindPost, "1234/1")
	if first := connectortest.Data[catalog.Post](t, post); first.CodeBlocks != 1 || first.Accepted {
		t.Errorf("first post: %+v", first)
	}
	if !slices.Contains(post.Tags, catalog.TagCode) || slices.Contains(answer.Tags, catalog.TagCode) {
		t.Errorf("tags %q of the post with code, %q of the one without", post.Tags, answer.Tags)
	}
}

func TestWhatReadersDoNotSee(t *testing.T) {
	b := newBench(t)
	topic := b.topic(1, 9)
	topic.posts[1].deleted = true
	for i, extra := range []object{{"post_type": 4}, {"post_type": 3}, {"hidden": true}, {"user_deleted": true},
		{"deleted_at": "2031-02-02T00:00:00Z"}} {
		topic.posts[i+2].extra = extra
	}
	topic.posts[7].extra = object{"post_type": 2}
	topic.posts[8].cooked = " <div class=\"meta\">1 MB</div>\n"
	b.topic(2, 1).extra = object{"visible": false}
	b.topic(3, 1).extra = object{"archetype": "private_message"}
	b.topic(4, 1).category = 7
	b.config.Options["exclude"] = []string{"Lounge"}
	r := connectortest.NewSource(t, b.config).Sync()
	if diff := cmp.Diff([]string{"post 1/1", "post 1/8", "topic 1"}, r.Keys()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if r.Skipped != 0 {
		t.Errorf("skipped: %v", r.Problems)
	}
}

// TestCategoriesComeInPages: what is excluded stands on the third page, and below
// what is not sent with the one above it.
func TestCategoriesComeInPages(t *testing.T) {
	for _, lazy := range []int{0, 45} {
		b := newBench(t)
		b.lazy = lazy
		for id, category := range []int{5, 7, 8, 9, 144} {
			b.topic(id+1, 1).category = category
		}
		b.config.Options["exclude"] = []string{"lounge", "support/crew"}
		r := connectortest.NewSource(t, b.config).Sync()
		if diff := cmp.Diff([]string{"post 1/1", "post 5/1", "topic 1", "topic 5"}, r.Keys()); diff != "" {
			t.Errorf("%d before (-want +got)\n%s", lazy, diff)
		}
		if got := r.Get(t, catalog.KindTopic, "1").Container; got != "support/nodes" {
			t.Errorf("%d before: a topic is in %q", lazy, got)
		}
		if lazy > 0 && r.Get(t, catalog.KindTopic, "5").Category != "Berth 44" {
			t.Error("a category of the third page has no name")
		}
	}
}

func TestLongTopicsComeInBatches(t *testing.T) {
	b := newBench(t)
	b.topic(8, 65)
	b.topic(9, 45).mega = true
	r := connectortest.NewSource(t, b.config).Sync()
	if len(r.Records) != 65+45+2 || r.Skipped+r.Warned > 0 {
		t.Errorf("%d records, problems %v", len(r.Records), r.Problems)
	}
	var batches, pages int
	for _, request := range b.server.Requests() {
		if n := len(request.URL.Query()["post_ids[]"]); n > 20 {
			t.Errorf("%d posts were requested at once", n)
		} else if n > 0 {
			batches++
		}
		if request.URL.Path == "/t/9.json" {
			pages++
		}
	}
	if batches != 3 || pages != 3 {
		t.Errorf("%d batches, %d pages; want 3 of each", batches, pages)
	}
}

func TestOnlyWhatChangedIsRead(t *testing.T) {
	b := newBench(t)
	for id := range 40 {
		b.topic(id+1, 2)
	}
	s := connectortest.NewSource(t, b.config)
	first := s.Sync()
	b.server.Paths()
	connectortest.Unchanged(t, s, first)
	if diff := cmp.Diff([]string{"/categories.json", "/categories.json", "/latest.json"}, b.read()); diff != "" {
		t.Errorf("read without a change (-want +got)\n%s", diff)
	}
	var edited *fakePost
	b.change(func() { // an edit of the last post bumps; views grow with every reader
		edited = b.find(7).posts[1]
		edited.cooked = "<p>Another line.</p>"
		b.find(7).bumped = day.Add(100 * time.Hour)
		b.find(8).views++
	})
	second := s.Sync()
	if diff := cmp.Diff([]string{"/categories.json", "/categories.json", "/latest.json", "/t/7.json"},
		b.read()); diff != "" {
		t.Errorf("read after an edit (-want +got)\n%s", diff)
	}
	if second.Updated != 1 || second.Changes != 1 || second.Get(t, catalog.KindPost, "7/2").Body != "Another line." {
		t.Errorf("%d updated, %d changes", second.Updated, second.Changes)
	}
	b.change(func() { b.reply(b.find(9), "<p>Me too.</p>"); b.topic(41, 1) })
	third := s.Sync()
	if third.Created != 3 || third.Updated != 1 { // the topic counts one more reply
		t.Errorf("%d created, %d updated", third.Created, third.Updated)
	}
}

// read returns the requested paths.
func (b *bench) read() []string {
	var paths []string
	for _, r := range b.server.Requests() {
		paths = append(paths, r.URL.Path)
	}
	slices.Sort(paths)
	return paths
}

func TestDeletions(t *testing.T) {
	b := newBench(t)
	b.oldest = true // more than one page
	for id := range 70 {
		b.topic(id+1, 3)
	}
	s := connectortest.NewSource(t, b.config)
	s.Sync()
	gone := func(r connectortest.Result, key string) bool { return !slices.Contains(r.Keys(), key) }

	b.change(func() { b.find(70).posts[1].deleted = true }) // its line is in reach of every run
	if r := s.Sync(); r.Deleted != 1 || !gone(r, "post 70/2") {
		t.Errorf("a deleted post: %d deleted", r.Deleted)
	}
	b.change(func() { b.find(2).posts[2].deleted = true; b.find(3).gone = true })
	if r := s.Sync(); r.Deleted != 0 {
		t.Errorf("before the sweep: %d deleted", r.Deleted)
	}
	s.Clock = s.Clock.Add(25 * time.Hour)
	r := s.Sync()
	if r.Deleted != 5 || !gone(r, "post 2/3") || !gone(r, "topic 3") || !gone(r, "post 3/1") {
		t.Errorf("after the sweep: %d deleted", r.Deleted)
	}
	connectortest.Unchanged(t, s, r)
}

func TestARenamedCategoryReachesItsTopics(t *testing.T) {
	b := newBench(t)
	b.topic(1, 2)
	s := connectortest.NewSource(t, b.config)
	s.Sync()
	b.change(func() { b.slugs = map[int]string{5: "vessels"} })
	if r := s.Sync(); r.Get(t, catalog.KindPost, "1/2").Container != "support/vessels" {
		t.Errorf("container %q", r.Get(t, catalog.KindPost, "1/2").Container)
	}
}

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		options object
		want    string
	}{
		"none":      {nil, "the option url is missing"},
		"no scheme": {object{"url": "forum.example.org"}, "url: is not a web address"},
		"a file":    {object{"url": "file:///srv/forum"}, "url: is not a web address"},
		"a query":   {object{"url": "https://forum.example.org/?api_key=s3cret"}, "url: want an address without a query"},
		"sweep":     {object{"url": "https://forum.example.org", "sweep": "0"}, "sweep: 0s is shorter than 1s"},
		"an empty":  {object{"url": "https://forum.example.org", "exclude": []string{"/"}}, "exclude[1]: want the slug"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := connectortest.Open(forum.Kind, tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		b := newBench(t)
		topic := b.topic(1, 2)
		b.topic(2, 1)
		return connectortest.Upstream{Config: b.config, Server: b.server,
			Change: func() {
				b.change(func() { topic.posts[1].cooked, topic.bumped = "<p>Edited.</p>", topic.bumped.Add(time.Hour) })
			},
			Drop: func(s *connectortest.Source) {
				s.Options = object{"url": b.server.URL, "exclude": []string{"lounge"}}
				b.change(func() { topic.posts[1].deleted = true })
			}}
	})
}
