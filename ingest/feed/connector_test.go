package feed_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/feed"
	"almanac/ingest/outbound"
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

func TestNothingChanged(t *testing.T) {
	for _, etags := range []bool{true, false} {
		b := newBlog(t, 12)
		b.etags = etags
		s := connectortest.NewSource(t, b.config)
		r := s.Sync()
		b.server.Paths()
		connectortest.Unchanged(t, s, r)
		if diff := cmp.Diff([]string{"GET /feed/"}, b.server.Paths()); diff != "" {
			t.Errorf("etags %t: requested (-want +got)\n%s", etags, diff)
		}
	}
	connectortest.Interrupted(t, newBlog(t, 5).config)
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

func TestAnEmptiedFeed(t *testing.T) {
	b := newBlog(t, 12)
	s := connectortest.NewSource(t, b.config)
	s.Sync()
	var posts []*fakePost
	b.change(func() { posts, b.posts = b.posts, nil })
	if r := s.Try(t.Context()); !errors.Is(r.Err, ingest.ErrShrunk) || r.Changes != 0 {
		t.Errorf("with every page gone: %v, %d changes", r.Err, r.Changes)
	}
	b.change(func() { b.posts, b.size = posts, 0 })
	if r := s.Sync(); r.Changes != 0 || len(r.Records) != 10 {
		t.Errorf("with every page there: %d changes, %d records", r.Changes, len(r.Records))
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

func TestFaultsOfTheFeed(t *testing.T) {
	tests := map[string]struct {
		fault connectortest.Fault
		want  error // nil: some error
	}{
		"500": {fault: connectortest.Status(500)}, "404": {fault: connectortest.Status(404)},
		"429":       {fault: connectortest.TooMany(2)},
		"slow":      {connectortest.Slow, outbound.ErrTimeout},
		"truncated": {connectortest.Truncated, outbound.ErrTruncated},
		"halved":    {fault: connectortest.Halved}, "sign in": {fault: connectortest.SignIn},
		"garbage": {fault: connectortest.Garbage},
		"empty":   {fault: connectortest.Empty}, "reset": {fault: connectortest.Reset},
		"inside": {connectortest.Redirect(connectortest.Inside[1]), outbound.ErrRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBlog(t, 3)
			s := connectortest.NewSource(t, b.config)
			before := s.Sync()
			b.change(func() { b.add(4) })
			b.server.Fault("/feed/", -1, tt.fault)
			r := s.Try(t.Context())
			if r.Err == nil || tt.want != nil && !errors.Is(r.Err, tt.want) {
				t.Errorf("error %v, want %v", r.Err, tt.want)
			}
			if r.Changes != 0 || r.Cursor != before.Cursor {
				t.Errorf("%d changes, cursor %q", r.Changes, r.Cursor)
			}
			b.server.Heal()
			if r = s.Sync(); len(r.Records) != 4 {
				t.Errorf("healed: %v", r.Keys())
			}
		})
	}
}

// TestOddFeeds: no post is lost because of renamed or duplicate fields, and mixed
// encodings are read.
func TestOddFeeds(t *testing.T) {
	replace := func(pairs ...string) func([]byte) []byte {
		return func(body []byte) []byte { return []byte(strings.NewReplacer(pairs...).Replace(string(body))) }
	}
	double := func(body []byte) []byte {
		items := regexp.MustCompile(`(?s)<item>.*</item>`)
		return items.ReplaceAllFunc(body, func(list []byte) []byte { return append(slices.Clone(list), list...) })
	}
	for name, tt := range map[string]struct {
		edit  func([]byte) []byte
		title string // of post 1
	}{
		"renamed items":  {replace("<item>", "<story>", "</item>", "</story>"), "Post 1"},
		"renamed links":  {replace("<link>", "<href>", "</link>", "</href>"), "Post 1"},
		"renamed fields": {replace("title>", "headline>", "pubDate>", "date>", "dc:creator>", "by>"), "Post 1"},
		"doubled":        {double, "Post 1"},
		"Windows-1252":   {replace("Post 1<", "Post \x93eins\x94 f\xfcr K\xf6ln<"), "Post “eins” für Köln"},
		"mixed":          {replace("Post 1<", "Köln K\xf6ln<"), "Köln Köln"},
		"declared":       {replace(`encoding="UTF-8"`, `encoding="iso-8859-1"`, "Post 1<", "K\xf6ln<"), "Köln"},
		"illegal":        {replace("Post 1<", "Post&#x1b; &#8;1&#xFFFE;<"), "Post 1"},
		"control":        {replace("Post 1<", "Post\x08 1\x00<"), "Post 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBlog(t, 4)
			s := connectortest.NewSource(t, b.config)
			s.Sync()
			b.server.Fault("/feed/", -1, connectortest.Edited(tt.edit))
			s.Clock = s.Clock.Add(8 * 24 * time.Hour)
			r := s.Sync()
			if got := r.Get(t, catalog.KindBlog, b.key("post-1")).Title; got != tt.title || r.Deleted != 0 ||
				r.Skipped != 0 {
				t.Errorf("title %q, want %q; %d deleted, %v", got, tt.title, r.Deleted, r.Problems)
			}
		})
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
			if got := r.Get(t, catalog.KindBlog, b.key("post-1")).Title; got != "Post 1" && r.Skipped > 0 {
				t.Errorf("title %q", got)
			}
		})
	}
}

func TestFaultsOfPages(t *testing.T) {
	faults := map[string]connectortest.Fault{
		"500": connectortest.Status(500), "403": connectortest.Status(403), "slow": connectortest.Slow,
		"truncated": connectortest.Truncated,
		"inside":    connectortest.Redirect(connectortest.Inside[0]),
		"a PDF": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", "application/pdf")
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBlog(t, 3)
			b.posts[0].content = "<p>The feed has it all: " + words + "</p>"
			s := connectortest.NewSource(t, b.config)
			b.server.Fault("/post-3/", -1, fault)
			b.server.Fault("/post-2/", -1, fault)
			r := s.Sync()
			if len(r.Records) != 3 || !strings.HasPrefix(r.Get(t, catalog.KindBlog, b.key("post-3")).Body,
				"The feed has it all") || r.Warned != 2 {
				t.Errorf("%v, problems %v", r.Keys(), r.Problems)
			}
			if again := s.Sync(); again.Changes != 0 || again.Cursor != r.Cursor {
				t.Errorf("%d changes; cursor %q, before %q", again.Changes, again.Cursor, r.Cursor)
			}
			b.server.Heal()
			whole := s.Sync()
			if !strings.HasPrefix(whole.Get(t, catalog.KindBlog, b.key("post-3")).Body, "# Post 3") {
				t.Error("the page was not read when it could be")
			}
			// A post that was read stays when its page breaks.
			b.server.Fault("/post-3/", -1, fault)
			b.change(func() { b.find("post-3").title = "New title" })
			if r = s.Sync(); r.Skipped != 1 || r.Changes != 0 {
				t.Errorf("%d skipped, %d changes", r.Skipped, r.Changes)
			}
			b.server.Heal()
			if r = s.Sync(); r.Updated != 1 || r.Get(t, catalog.KindBlog, b.key("post-3")).Title != "New title" {
				t.Errorf("%d updated", r.Updated)
			}
		})
	}
}

func TestServersThatAreDownAreLeftAlone(t *testing.T) {
	b := newBlog(t, 30)
	b.size = 30
	s := connectortest.NewSource(t, b.config)
	b.server.Fault("/post-", -1, connectortest.Status(503))
	if r := s.Try(t.Context()); r.Err == nil || r.Cursor != "" {
		t.Errorf("error %v, cursor %q", r.Err, r.Cursor)
	}
	if n := len(b.server.Paths()); n > 1+5*4 {
		t.Errorf("%d requests to a server that is down", n)
	}
	b.server.Heal()
	asked := 0
	b.server.Fault("/post-", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if asked++; asked > 12 {
			connectortest.Status(503)(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	r := s.Sync() // twelve are read, for five the feed's text is used
	if r.Skipped != 1 || r.Warned != 5 || len(r.Records) != 17 {
		t.Errorf("%d skipped, %d warned, %d posts", r.Skipped, r.Warned, len(r.Records))
	}
	b.server.Heal()
	if r = s.Sync(); len(r.Records) != 30 || r.Skipped+r.Warned != 0 {
		t.Errorf("healed: %d posts, %v", len(r.Records), r.Problems)
	}
	connectortest.Unchanged(t, s, r)
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

// TestAnUpgradeKeepsWhatTheFeedNoLongerLists: the state of another program is not
// read, or its file is lost.
func TestAnUpgradeKeepsWhatTheFeedNoLongerLists(t *testing.T) {
	b := newBlog(t, 12)
	s := connectortest.NewSource(t, b.config)
	first := s.Sync()
	s.Forget()
	b.change(func() { b.add(13); b.add(14) }) // posts 3 and 4 fall off the end
	r := s.Sync()
	if r.Created != 2 || r.Changes != 2 || len(r.Records) != len(first.Records)+2 {
		t.Errorf("%d created, %d changes, %d records", r.Created, r.Changes, len(r.Records))
	}
	connectortest.Unchanged(t, s, r)
}

// TestOtherOptionsWhileAPageIsDown: the text of a page is not lost for that of the
// feed.
func TestOtherOptionsWhileAPageIsDown(t *testing.T) {
	b := newBlog(t, 3)
	b.posts[0].content = "<p>Only the feed's own.</p>"
	s := connectortest.NewSource(t, b.config)
	s.Sync()
	s.Options["site"] = "The Journal"
	b.server.Fault("/post-3/", -1, connectortest.Status(500))
	r := s.Sync()
	if rec := r.Get(t, catalog.KindBlog, b.key("post-3")); !strings.HasPrefix(rec.Body, "# Post 3") || r.Skipped != 1 {
		t.Errorf("%.40q, %v", rec.Body, r.Problems)
	}
	b.server.Heal()
	if rec := s.Sync().Get(t, catalog.KindBlog, b.key("post-3")); rec.Container != "The Journal" {
		t.Errorf("of %s", rec.Container)
	}
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

func TestCancelled(t *testing.T) {
	b := newBlog(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	b.server.Fault("/post-2/", 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) { cancel() })
	s := connectortest.NewSource(t, b.config)
	if r := s.Try(ctx); !errors.Is(r.Err, context.Canceled) || r.Cursor != "" {
		t.Errorf("%v, cursor %q", r.Err, r.Cursor)
	}
	if r := s.Sync(); len(r.Records) != 3 {
		t.Errorf("%v", r.Keys())
	}
}
