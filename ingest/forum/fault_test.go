package forum_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/forum"
	"almanac/ingest/outbound"
	"almanac/testing/connectortest"
)

// renamed responds with a field of the JSON renamed.
func renamed(field, to string) connectortest.Fault {
	return rewritten(func(body string) string { return strings.ReplaceAll(body, `"`+field+`":`, `"`+to+`":`) })
}

// rewritten responds with a modified body.
func rewritten(alter func(string) string) connectortest.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&alteringWriter{w, alter}, r)
	}
}

type alteringWriter struct {
	http.ResponseWriter
	alter func(string) string
}

func (a *alteringWriter) Write(p []byte) (int, error) {
	_, err := a.ResponseWriter.Write([]byte(a.alter(string(p))))
	return len(p), err
}

var faults = map[string]connectortest.Fault{
	"500":            connectortest.Status(500),
	"slow":           connectortest.Slow,
	"truncated":      connectortest.Truncated,
	"halved":         connectortest.Halved,
	"sign in":        connectortest.SignIn,
	"garbage":        connectortest.Garbage,
	"empty":          connectortest.Empty,
	"reset":          connectortest.Reset,
	"led inside":     connectortest.Redirect(connectortest.Inside[1]),
	"another answer": rewritten(func(string) string { return `{"success":"OK"}` }),
	"a list":         rewritten(func(string) string { return `[]` }),
	"null":           rewritten(func(string) string { return `null` }),
}

// threeTopics is a forum with a topic of two batches among three.
func threeTopics(t *testing.T) *bench {
	b := newBench(t)
	b.topic(1, 2)
	b.topic(2, 30)
	b.topic(3, 1)
	return b
}

func TestAListThatFailsFailsTheRun(t *testing.T) {
	broken := map[string]connectortest.Fault{
		"429": connectortest.TooMany(3600), "403": connectortest.Status(403), "404": connectortest.Status(404),
		"renamed": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			renamed("topic_list", "list")(w, r,
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					renamed("category_list", "list")(w, r,
						next)
				}))
		},
	}
	for name, f := range faults {
		broken[name] = f
	}
	for name, fault := range broken {
		for _, path := range []string{"/categories.json", "/latest.json"} {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				b := threeTopics(t)
				s := connectortest.NewSource(t, b.config)
				first := s.Sync()
				b.change(func() { b.reply(b.find(1), "<p>New.</p>") })
				b.server.Fault(path, -1, fault)
				r := s.Try(t.Context())
				if r.Err == nil || len(r.Records) != len(first.Records) || r.Cursor != first.Cursor {
					t.Errorf("error %v, %d records of %d", r.Err, len(r.Records), len(first.Records))
				}
				b.server.Heal()
				if r := s.Sync(); len(r.Records) != len(first.Records)+1 {
					t.Errorf("healed: %d records", len(r.Records))
				}
			})
		}
	}
}

// TestOtherSoftware: what is not a Discourse forum, or one only for members, is
// called so.
func TestOtherSoftware(t *testing.T) {
	for name, fault := range map[string]connectortest.Fault{"no such page": connectortest.Status(404),
		"members only": connectortest.Status(403), "a page": connectortest.SignIn} {
		b := threeTopics(t)
		b.server.Fault("/categories.json", -1, fault)
		r := connectortest.NewSource(t, b.config).Try(t.Context())
		if r.Err == nil || !strings.Contains(r.Err.Error(), "is "+b.server.URL+" a Discourse forum that can be read") {
			t.Errorf("%s: %v", name, r.Err)
		}
	}
}

func TestATopicThatFailsStays(t *testing.T) {
	for name, fault := range faults {
		for _, path := range []string{"/t/2.json", "/t/2/posts.json"} {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				b := threeTopics(t)
				s := connectortest.NewSource(t, b.config)
				first := s.Sync()
				b.change(func() {
					for id := range 3 {
						b.reply(b.find(id+1), "<p>New.</p>")
					}
				})
				b.server.Fault(path, -1, fault)
				r := s.Sync()
				if r.Skipped != 1 || r.Deleted != 0 || len(r.Records) != len(first.Records)+2 {
					t.Errorf("%d skipped (%v), %d deleted, %d records of %d", r.Skipped, r.Problems, r.Deleted,
						len(r.Records), len(first.Records))
				}
				b.server.Heal()
				healed := s.Sync()
				same(t, connectortest.NewSource(t, b.config).Sync(), healed)
				connectortest.Unchanged(t, s, healed)
			})
		}
	}
}

func TestAPostThatCannotBeReadStays(t *testing.T) {
	for name, extra := range map[string]object{
		"renamed":     {"cooked": nil, "cooked_html": "<p>x</p>"},
		"no number":   {"post_number": nil},
		"a bad one":   {"post_number": "seven"},
		"too deep":    {"cooked": strings.Repeat("<div>", 1000)},
		"too long":    {"cooked": strings.Repeat("x", 3<<20)},
		"other shape": {"cooked": []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := threeTopics(t)
			s := connectortest.NewSource(t, b.config)
			first := s.Sync()
			b.change(func() { b.find(2).posts[24].extra = extra; b.reply(b.find(2), "<p>New.</p>") })
			r := s.Sync()
			if r.Skipped != 1 || r.Deleted != 0 || len(r.Records) != len(first.Records)+1 {
				t.Errorf("%d skipped (%v), %d deleted, %d records of %d", r.Skipped, r.Problems, r.Deleted,
					len(r.Records), len(first.Records))
			}
			b.change(func() { b.find(2).posts[24].extra = nil })
			same(t, connectortest.NewSource(t, b.config).Sync(), s.Sync())
		})
	}
}

func TestALineThatCannotBeReadIsSkipped(t *testing.T) {
	for name, extra := range map[string]object{
		"no activity": {"bumped_at": nil}, "no title": {"title": nil}, "no id": {"id": nil}, "tags": {"tags": "x"},
		"id of words": {"id": "two"},
	} {
		t.Run(name, func(t *testing.T) {
			b := threeTopics(t)
			s := connectortest.NewSource(t, b.config)
			first := s.Sync()
			b.server.Fault("/latest.json", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				b.change(func() { b.topics[1].extra = extra })
				next.ServeHTTP(w, r)
				b.change(func() { b.topics[1].extra = nil })
			})
			s.Clock = s.Clock.Add(25 * time.Hour)
			if r := s.Sync(); r.Skipped != 1 || len(r.Records) != len(first.Records) {
				t.Errorf("%d skipped (%v), %d records of %d", r.Skipped, r.Problems, len(r.Records), len(first.Records))
			}
			b.server.Heal()
			same(t, whole(t, b, s), s.Sync())
		})
	}
}

func TestAnOverloadedForumEndsTheRun(t *testing.T) {
	b := threeTopics(t)
	b.server.Fault("/t/2.json", -1, connectortest.TooMany(3600))
	s := connectortest.NewSource(t, b.config)
	r := s.Try(t.Context())
	status, ok := errors.AsType[*outbound.StatusError](r.Err)
	if !ok || status.Status != http.StatusTooManyRequests || r.Cursor != "" {
		t.Errorf("error %v, cursor %q", r.Err, r.Cursor)
	}
	b.server.Heal()
	same(t, connectortest.NewSource(t, b.config).Sync(), s.Sync())
}

func TestMomentaryFaultsAreRetried(t *testing.T) {
	b := threeTopics(t)
	for _, path := range []string{"/categories.json", "/latest.json", "/t/1.json", "/t/2.json", "/t/2/posts.json"} {
		b.server.Fault(path, 2, connectortest.TooMany(1))
		b.server.Fault(path, 1, connectortest.Status(502))
	}
	r := connectortest.NewSource(t, b.config).Sync()
	if r.Skipped != 0 || len(r.Records) != 36 {
		t.Errorf("%d skipped, %d records", r.Skipped, len(r.Records))
	}
}

func TestAListWithoutEndFailsTheRun(t *testing.T) {
	b := newBench(t)
	for id := range 110 {
		b.topic(id+1, 1)
	}
	s := connectortest.NewSource(t, b.config)
	first := s.Sync()
	b.server.Fault("/latest.json", -1, connectortest.Repeating())
	s.Clock = s.Clock.Add(25 * time.Hour)
	if r := s.Try(t.Context()); r.Err == nil || len(r.Records) != len(first.Records) {
		t.Errorf("error %v, %d records of %d", r.Err, len(r.Records), len(first.Records))
	}
}

func TestADeadForumEndsTheRunAndManyBadTopicsDoNot(t *testing.T) {
	b := newBench(t)
	for id := range 20 {
		b.topic(id+1, 1)
	}
	b.server.Fault("/t/", -1, connectortest.Status(500))
	s := connectortest.NewSource(t, b.config)
	if r := s.Sync(); r.Skipped != 20 {
		t.Errorf("bad topics: %d skipped", r.Skipped)
	}
	b.server.Heal()
	var requests atomic.Int32
	b.server.Fault("/", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if requests.Add(1) > 3 { // categories, no more of them, and list, then nothing
			connectortest.Reset(w, r, next)
		}
		next.ServeHTTP(w, r)
	})
	if r := s.Try(t.Context()); r.Err == nil || r.Skipped != 5 {
		t.Errorf("dead: error %v, %d skipped", r.Err, r.Skipped)
	}
	b.server.Heal()
	if r := s.Sync(); len(r.Records) != 40 {
		t.Errorf("healed: %d records", len(r.Records))
	}
}

// TestKilledAnywhere ends syncs at random points: during a request, or between
// two records. After that nothing more is written. The next sync must leave the
// catalog as one uninterrupted sync would.
func TestKilledAnywhere(t *testing.T) {
	b := newBench(t)
	for id := range 5 {
		b.topic(id+1, 1+id*6) // the last in two batches
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	s := &killable{}
	s.Source = connectortest.NewSource(t, connectortest.Config{Options: b.config.Options, Connector: s.connector()})
	for point := range 30 {
		b.change(func() { // found by the killed sync and the next one
			topic := b.topics[random.IntN(len(b.topics))]
			b.reply(topic, "<p>One more.</p>")
			topic.posts[random.IntN(len(topic.posts))].cooked = "<p>Edited.</p>"
			b.topics[point%5].posts[0].likes++
			b.topic(100+point, 1)
		})
		s.Clock = s.Clock.Add(time.Duration(random.IntN(30)) * time.Hour)
		ctx, kill := context.WithCancel(t.Context())
		if random.IntN(2) == 0 {
			left := random.IntN(12)
			b.server.Fault("/", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if left--; left < 0 {
					kill()
				}
				next.ServeHTTP(w, r)
			})
		} else {
			s.kill, s.after = kill, random.IntN(60)
		}
		s.Try(ctx)
		kill()
		b.server.Heal()
		s.kill = nil
		s.Sync()
		if point%10 == 9 {
			s.Clock = s.Clock.Add(25 * time.Hour)
			r := s.Sync() // finds changes without activity
			same(t, whole(t, b, s.Source), r)
			connectortest.Unchanged(t, s.Source, r)
		}
	}
}

// killable is a source whose syncs can be killed between two records.
type killable struct {
	*connectortest.Source
	kill  func()
	after int
}

func (k *killable) connector() ingest.Constructor {
	return func(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
		src.Kind = forum.Kind.Name
		c, err := ingest.Kinds(forum.Kind).Connector(src, env)
		return killing{c, k}, err
	}
}

type killing struct {
	ingest.Cursored
	by *killable
}

func (k killing) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	return k.Cursored.Sync(ctx, cursor, &killingSink{out, k.by})
}

type killingSink struct {
	ingest.Sink
	by *killable
}

func (k *killingSink) Put(ctx context.Context, e catalog.Entry) error {
	if k.by.after--; k.by.kill != nil && k.by.after < 0 {
		k.by.kill()
	}
	return k.Sink.Put(ctx, e)
}

// whole is a first sync at the time of another source, which has just swept.
func whole(t *testing.T, b *bench, at *connectortest.Source) connectortest.Result {
	s := connectortest.NewSource(t, b.config)
	s.Clock = at.Clock
	return s.Sync()
}

// same requires two results to have the same records and cursor, whatever the
// order of writing, on which ids and so hashes depend.
func same(t *testing.T, want, got connectortest.Result) {
	t.Helper()
	if diff := cmp.Diff(want.Keys(), got.Keys()); diff != "" {
		t.Fatalf("the catalog differs (-want +got)\n%s", diff)
	}
	for i := range want.Records {
		w, g := want.Records[i], got.Records[i]
		if w.Parent != 0 {
			if w, g := byID(want, w.Parent), byID(got, g.Parent); w != g {
				t.Errorf("parent of %s: %s, want %s", want.Records[i].Ref(), g, w)
			}
		}
		g.ID, g.Parent, g.Hash, g.FirstSeenAt = w.ID, w.Parent, w.Hash, w.FirstSeenAt
		if diff := cmp.Diff(w, g); diff != "" {
			t.Errorf("%s differs (-want +got)\n%s", w.Ref(), diff)
		}
	}
	if want.Cursor != got.Cursor {
		t.Errorf("the cursor is %s, want %s", got.Cursor, want.Cursor)
	}
}

func byID(r connectortest.Result, id int64) string {
	i := slices.IndexFunc(r.Records, func(rec catalog.Record) bool { return rec.ID == id })
	if i < 0 {
		return "none"
	}
	return r.Records[i].Ref().String()
}
