package forum_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/testing/connectortest"
)

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

// whole is a first sync at the time of another source, which has just swept.
func whole(t *testing.T, b *bench, at *connectortest.Source) connectortest.Result {
	s := connectortest.NewSource(t, b.config)
	s.Clock = at.Clock
	return s.Sync()
}

// same requires two results to be the same but for the hashes, which depend on the ids
// of parents and so on the order of writing.
func same(t *testing.T, want, got connectortest.Result) {
	t.Helper()
	for _, r := range []*connectortest.Result{&want, &got} {
		r.Records = slices.Clone(r.Records)
		for i := range r.Records {
			r.Records[i].Hash = ""
		}
	}
	connectortest.Same(t, want, got)
}
