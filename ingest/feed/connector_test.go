package feed_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest/feed"
	"almanac/testing/connectortest"
)

// key is the natural key of a page of the server.
func (b *blog) key(slug string) string {
	return strings.TrimPrefix(b.server.URL, "http://") + "/" + slug
}

func TestPosts(t *testing.T) {
	b := newBlog(t, 2)
	b.posts[0].title, b.posts[0].text = "Gates & tides", words+"See CWP-12."
	b.posts[0].content = "<p>Only the beginning […]</p>"
	r := connectortest.NewSource(t, b.config).Sync()
	if diff := cmp.Diff([]string{"blog " + b.key("post-1"), "blog " + b.key("post-2")}, r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	rec := r.Get(t, catalog.KindBlog, b.key("post-2"))
	want := catalog.Record{
		Title: "Gates & tides", URL: b.server.URL + "/post-2/", Container: "Causeway Journal", Author: "Ada Quay",
		CreatedAt: b.posts[0].published(), UpdatedAt: b.posts[0].published().Add(time.Hour),
		Tags:    []string{"label:bridges & tides"},
		Summary: "What entry 2 tells of the second gate, in one line.",
		Body:    "# Gates & tides\n\n" + words + "See CWP-12.",
	}
	got := catalog.Record{
		Title: rec.Title, URL: rec.URL, Container: rec.Container, Author: rec.Author, CreatedAt: rec.CreatedAt,
		UpdatedAt: rec.UpdatedAt,
		Tags:      rec.Tags, Summary: rec.Summary, Body: rec.Body,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	data := catalog.Blog{GUID: b.server.URL + "/?p=2", Feed: b.server.URL + "/feed/", Authors: []string{"Ada Quay"},
		Language: "en-GB"}
	if diff := cmp.Diff(data, connectortest.Data[catalog.Blog](t, rec)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
}

// TestPostsOfOneAddress: changes that a page lists are posts of their own, by their ids; the page is read for none.
func TestPostsOfOneAddress(t *testing.T) {
	b := newBlog(t, 1)
	b.size = 0 // nothing but the items below
	item := func(guid, text string) string {
		return fmt.Sprintf(`<item><title>%[1]s</title><link>%[2]s/post-1/#%[1]s</link><guid isPermaLink="false">%[3]s</guid>`+
			`<description>About %[1]s.</description></item>`, text, b.server.URL, guid)
	}
	b.extra = item("1", "lamps")
	s := connectortest.NewSource(t, b.config)
	want := []string{"blog " + b.key("post-1")}
	if diff := cmp.Diff(want, s.Sync().Keys()); diff != "" {
		t.Fatalf("one alone (-want +got)\n%s", diff)
	}
	b.change(func() { b.extra = item("2", "bells") + item("2", "bells") + item("1", "lamps") })
	b.server.Paths()
	r := s.Sync()
	want = []string{"blog " + b.key("post-1#1"), "blog " + b.key("post-1#2")}
	if diff := cmp.Diff(want, r.Keys()); diff != "" {
		t.Fatalf("two (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GET /feed/"}, b.server.Paths()); diff != "" {
		t.Errorf("requested (-want +got)\n%s", diff)
	}
	if rec := r.Get(t, catalog.KindBlog, b.key("post-1#2")); rec.Body != "About bells." ||
		rec.URL != b.server.URL+"/post-1/" {
		t.Errorf("%+v", rec)
	}
	connectortest.Unchanged(t, s, r)
	b.change(func() { b.extra = item("3", "gates") })
	want = append(want, "blog "+b.key("post-1#3"))
	if diff := cmp.Diff(want, s.Sync().Keys()); diff != "" {
		t.Errorf("one again (-want +got)\n%s", diff)
	}
}

func TestOnlyWhatChangedIsRead(t *testing.T) {
	b := newBlog(t, 9)
	s := connectortest.NewSource(t, b.config)
	s.Sync()
	b.server.Paths()
	b.change(func() { b.add(10); b.find("post-4").title = "Post 4, again" })
	r := s.Sync()
	if diff := cmp.Diff([]string{"GET /feed/", "GET /post-10/", "GET /post-4/"}, trim(b.server.Paths())); diff != "" {
		t.Errorf("requested (-want +got)\n%s", diff)
	}
	if r.Created != 1 || r.Updated != 1 || r.Changes != 2 || len(r.Records) != 10 {
		t.Errorf("%d created, %d updated, %d changes, %d records", r.Created, r.Updated, r.Changes, len(r.Records))
	}
	// The feed does not show that a page was edited: a sweep finds it.
	b.change(func() { b.find("post-5").text = "Corrected: " + words })
	if r = s.Sync(); r.Changes != 0 {
		t.Errorf("%d changes before the sweep", r.Changes)
	}
	s.Clock = s.Clock.Add(8 * 24 * time.Hour)
	if r = s.Sync(); r.Updated != 1 || !strings.Contains(r.Get(t, catalog.KindBlog, b.key("post-5")).Body,
		"Corrected") {
		t.Errorf("%d updated by the sweep", r.Updated)
	}
	connectortest.Unchanged(t, s, r)
}

func trim(paths []string) []string {
	for i := range paths {
		paths[i], _, _ = strings.Cut(paths[i], "?utm")
	}
	return paths
}

func TestPostsThatTheFeedNoLongerLists(t *testing.T) {
	b := newBlog(t, 10)
	s := connectortest.NewSource(t, b.config)
	s.Sync()
	b.change(func() {
		b.add(11)                                       // post 1 falls off the end
		b.find("post-6").gone = true                    // deleted, but the feed still has it
		b.posts = append(b.posts[:3:3], b.posts[4:]...) // post 8 is deleted
		b.posts = append(b.posts, &fakePost{slug: "post-8", gone: true})
	})
	b.server.Paths()
	r := s.Sync()
	want := []string{}
	for _, n := range []string{"1", "10", "11", "2", "3", "4", "5", "6", "7", "9"} {
		want = append(want, "blog "+b.key("post-"+n))
	}
	if diff := cmp.Diff(want, r.Keys()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GET /feed/", "GET /post-11/", "GET /post-8/"}, trim(b.server.Paths())); diff != "" {
		t.Errorf("requested (-want +got)\n%s", diff)
	}
	connectortest.Unchanged(t, s, r)
	s.Clock = s.Clock.Add(8 * 24 * time.Hour) // now the page of post 6 is requested
	if r = s.Sync(); r.Deleted != 1 || len(r.Records) != 9 {
		t.Errorf("%d deleted, %d left by the sweep", r.Deleted, len(r.Records))
	}
	b.change(func() { // renamed: the old address redirects to the new one
		b.posts = append([]*fakePost{{slug: "renamed", title: "Post 11", text: words, day: 11}}, b.posts[1:]...)
		b.posts = append(b.posts, &fakePost{slug: "post-11", movedTo: "/renamed/"})
	})
	if r = s.Sync(); r.Created != 1 || r.Deleted != 1 {
		t.Errorf("renamed: %d created, %d deleted, %v", r.Created, r.Deleted, r.Problems)
	}
}

func TestPagesOfAFeed(t *testing.T) {
	b := newBlog(t, 35)
	b.paged = true
	s := connectortest.NewSource(t, b.config)
	r := s.Sync()
	if len(r.Records) != 35 {
		t.Fatalf("%d posts, want 35", len(r.Records))
	}
	b.server.Paths()
	b.change(func() { b.add(36) })
	if r = s.Sync(); len(r.Records) != 36 {
		t.Errorf("%d posts, want 36", len(r.Records))
	}
	for _, p := range b.server.Paths() {
		if strings.Contains(p, "paged=3") {
			t.Error("a third page was read though the second had nothing new")
		}
	}
	// A list without an end: every page is the first.
	endless := newBlog(t, 35)
	endless.paged = true
	endless.server.Fault("/feed/", -1, connectortest.Repeating())
	r = connectortest.NewSource(t, endless.config).Sync()
	if len(r.Records) != 10 || r.Warned != 1 {
		t.Errorf("endless: %d posts, %d warnings", len(r.Records), r.Warned)
	}
	// A page that cannot be read is read by the next run.
	broken := newBlog(t, 35)
	broken.paged = true
	faulty := connectortest.NewSource(t, broken.config)
	calls := 0
	broken.server.Fault("/feed/", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if calls++; calls > 2 {
			connectortest.Status(500)(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	if r = faulty.Sync(); len(r.Records) != 20 || r.Warned != 1 {
		t.Errorf("broken: %d posts, %d warnings", len(r.Records), r.Warned)
	}
	broken.server.Heal()
	if r = faulty.Sync(); len(r.Records) != 35 {
		t.Errorf("healed: %d posts", len(r.Records))
	}
}

// TestOneBadItemEndsNoFeed: of four posts one is not well-formed; the others are
// read, and the one that was read before stays.
func TestOneBadItemEndsNoFeed(t *testing.T) {
	for name, bad := range map[string]string{"a bare bracket": "a < b", "crossed tags": "<b><i></b></i><b>",
		"nested": strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100), "an open comment": "<!-- ", "a tag": "<p"} {
		t.Run(name, func(t *testing.T) {
			b := newBlog(t, 4)
			s := connectortest.NewSource(t, b.config)
			s.Sync()
			b.change(func() { b.find("post-3").title = "New title" })
			b.server.Fault("/feed/", -1, connectortest.Edited(func(body []byte) []byte {
				return []byte(strings.Replace(string(body), "Post 1<", "Post 1 "+bad+"<", 1))
			}))
			r := s.Try(t.Context())
			if r.Err != nil || len(r.Records) != 4 || r.Get(t, catalog.KindBlog, b.key("post-3")).Title != "New title" {
				t.Fatalf("%v, %v", r.Err, r.Keys())
			}
			if got := r.Get(t, catalog.KindBlog, b.key("post-1")).Title; (got == "Post 1") != (r.Skipped == 1) {
				t.Errorf("title %q, skipped %v", got, r.Problems)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	const u = "https://example.org/feed"
	for problem, o := range map[string]map[string]any{
		"url: is not a web address": {"url": "ftp://example.org/"}, "the option url is missing": {},
		"did you mean": {"url": u, "sits": "x"}, "sweep: a duration is not negative": {"url": u, "sweep": "-1h"},
		"sweep: 0s is shorter than 1s": {"url": u, "sweep": "0s"},
	} {
		if err := connectortest.Open(feed.Kind, o); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v: %v, want %q", o, err, problem)
		}
	}
	b := newBlog(t, 5)
	b.config.Options["pages"], b.config.Options["exclude"] = false, []string{"/post-2/", "/post-3/"}
	s := connectortest.NewSource(t, b.config)
	r := s.Sync()
	if diff := cmp.Diff([]string{"GET /feed/"}, b.server.Paths()); diff != "" || len(r.Records) != 3 {
		t.Errorf("%v; requested (-want +got)\n%s", r.Keys(), diff)
	}
	if rec := r.Get(t, catalog.KindBlog, b.key("post-1")); rec.Body != b.find("post-1").excerpt ||
		rec.Tags[1] != catalog.TagStub {
		t.Errorf("body %q, tags %v", rec.Body, rec.Tags)
	}
	connectortest.Unchanged(t, s, r)
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		b := newBlog(t, 3)
		b.etags = false
		return connectortest.Upstream{Config: b.config, Server: b.server,
			Change: func() { b.change(func() { b.find("post-2").title = "Post 2, again" }) },
			Drop: func(s *connectortest.Source) {
				s.Options["site"] = "The Journal"
				b.change(func() { b.find("post-1").gone = true })
			},
		}
	})
}

// TestOtherOptions: posts that the feed no longer lists survive a change of the
// options, unless the new options exclude them.
func TestOtherOptions(t *testing.T) {
	b := newBlog(t, 10)
	s := connectortest.NewSource(t, b.config)
	s.Sync()
	b.change(func() { b.add(11); b.add(12) })
	s.Sync()
	s.Options["site"] = "The Journal"
	r := s.Sync()
	if len(r.Records) != 12 || r.Get(t, catalog.KindBlog, b.key("post-9")).Container != "The Journal" ||
		r.Deleted != 0 {
		t.Errorf("%d posts, %d deleted", len(r.Records), r.Deleted)
	}
	s.Options["exclude"] = []string{"/post-1/", "/post-12/"}
	if r = s.Sync(); len(r.Records) != 10 || r.Deleted != 2 {
		t.Errorf("%d posts, %d deleted", len(r.Records), r.Deleted)
	}
}
