package forge

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/proposal"
)

// judging is a sink that fails the test for an invalid record.
type judging struct {
	ingest.Sink
	t *testing.T
}

func (j judging) Put(_ context.Context, e catalog.Entry) error {
	rec := e.Record
	if rec.Key == "" || rec.Kind == "" || rec.Title == "" || !json.Valid(rec.Data) {
		j.t.Errorf("%s %q has the title %q, data %q", rec.Kind, rec.Key, rec.Title, rec.Data)
	}
	for _, text := range append([]string{rec.Key, rec.Title, rec.Body, rec.Author, rec.Summary}, rec.Tags...) {
		if !utf8.ValidString(text) {
			j.t.Errorf("%q is not UTF-8", text)
		}
	}
	return nil
}

func (judging) Begin([]byte) error  { return nil }
func (judging) Skip(string, error)  {}
func (judging) Warn(string, string) {}
func (judging) Keep(catalog.Ref)    {}
func (judging) Progress(int, int)   {}

func (judging) Events(context.Context, []catalog.Event) error { return nil }

// addItems adds the items of the lists among the fixtures.
func addItems(f *testing.F, names ...string) {
	f.Helper()
	for _, name := range names {
		var items []json.RawMessage
		data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err == nil {
			err = json.Unmarshal(data, &items)
		}
		if err != nil {
			f.Fatal(err)
		}
		for _, item := range items {
			f.Add([]byte(item))
		}
	}
}

// FuzzItems reads anything as an item of each of the lists.
func FuzzItems(f *testing.F) {
	addItems(f, "node-issues", "node-comments", "node-reviews", "node-releases", "node-discussions")
	for _, seed := range []string{
		`{"number":1,"updated_at":"2031-01-01T00:00:00Z","title":"\u0000 ","body":null,"user":null,"labels":[null,"",{"name":null},{}],"assignees":[null],"milestone":null,"type":null,"pull_request":{"merged_at":null}}`,
		`{"number":9223372036854775807,"updated_at":"9999-12-31T23:59:59.999999999+23:59","body":"a/b#0 #01 PR 000001 a/b/pull/7"}`,
		`{"id":-1,"pull_request_url":"/","html_url":"/pull/","body":"\ud800","created_at":"2031-01-01T00:00:00Z","minimized":{"reason":"OFF_TOPIC"}}`,
		`{"tag_name":" ","name":"v","target_commitish":"0000000000000000000000000000000000000000","published_at":null}`,
		`{"id":"D","updatedAt":"2031-01-01T00:00:00Z","comments":{"pageInfo":{"hasNextPage":true},"nodes":[null,{},{"id":"C","body":"x","replies":{"nodes":[{"id":"C","body":"x"}]}}]}}`,
		`[]`, `null`, `"x"`, `{"number":"1"}`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
		api := &client{token: "x", now: func() time.Time { return now },
			graph: allowance{known: true, reset: now.Add(time.Hour)}} // it must not request more
		r := &run{reading: reading{client: api, out: &sink{Sink: judging{t: t}}}, opts: settings{Grants: "a/b"}, name: "a/b"}
		ctx := t.Context()
		issues := scan[issue]{feed: feed[issue]{stamp: func(i issue) (int64, time.Time) {
			return int64(i.Number),
				i.UpdatedAt
		}, bad: func(raw json.RawMessage, err error) {
			r.bad(r.keyOf(raw),
				err)
		}}, seen: map[int64]time.Time{}, reported: map[string]bool{}}
		if at, items := issues.decode([]json.RawMessage{raw, raw}); len(items) > 1 ||
			len(items) == 1 && at.last.IsZero() {
			t.Errorf("%d items, the last of %s", len(items), at.last)
		} else if len(items) == 1 {
			err := r.issue(ctx, items[0])
			if err == nil && items[0].PullRequest != nil {
				err = r.pull(ctx, items[0], pullDetails{})
			}
			if err != nil {
				t.Error(err)
			}
		}
		_ = commentKeyOf(r.name, raw)
		var c comment
		if json.Unmarshal(raw, &c) == nil && c.ID != 0 {
			if err := r.comment(ctx, c, r.name, catalog.Ref{}); err != nil {
				t.Error(err)
			}
		}
		var rel release
		if json.Unmarshal(raw, &rel) == nil && rel.Tag != "" {
			if err := r.release(ctx, rel); err != nil {
				t.Error(err)
			}
		}
		var d discussion
		if json.Unmarshal(raw, &d) == nil && d.ID != "" {
			if err := r.discussion(ctx, d); err != nil && !strings.Contains(err.Error(), "rate limit") {
				t.Error(err)
			}
		}
	})
}

// FuzzPulls reads anything as pull requests and their files.
func FuzzPulls(f *testing.F) {
	for _, seed := range []string{
		`[{"number":1,"merged_at":"2031-01-01T00:00:00Z","files":[{"filename":"cwp-0001/cwp-0001.md","status":"added","sha":"a"}]},
		  {"number":2,"merged_at":"2031-01-02T00:00:00Z","files":[{"filename":"cwp-0002/cwp-0002.md","previous_filename":"cwp-0001/cwp-0001.md","status":"renamed","sha":"b"}]}]`,
		`[{"number":3,"merged_at":"2031-01-01T00:00:00Z","files":[{"filename":"x","previous_filename":"x","status":"renamed"},{"filename":"x","status":"removed"},{"filename":"../.md","sha":"c","status":"modified"}]}]`,
		`[{"number":-1,"user":null,"labels":null,"head":null,"base":null,"files":[{},{"filename":".md","sha":"0","changes":-1}]}]`, `[null]`, `[]`,
	} {
		f.Add([]byte(seed), "**/cwp-*")
	}
	f.Add([]byte(`[]`), `[\E*?(`)
	f.Fuzz(func(t *testing.T, raw []byte, glob string) {
		var list []struct {
			pull
			Files []changed `json:"files"`
		}
		if json.Unmarshal(raw, &list) != nil || !utf8.ValidString(glob) {
			return
		}
		repo := &proposal.Repository{Name: "a/b", Files: map[string]string{}, Pulls: map[int]*proposal.Pull{},
			URL: func(string, string) string { return "" }, Content: func(
				context.Context, string, int64,
			) ([]byte, error) {
				return []byte("# A gauge"), nil
			}}
		r := &proposalRun{reading: reading{client: &client{}}}
		for _, p := range list {
			p.files = p.Files
			repo.Pulls[p.Number] = r.request(&p.pull)
			repo.Steps = append(repo.Steps, proposal.Step{Pull: p.Number, At: p.MergedAt,
				Changes: repo.Pulls[p.Number].Changes})
			for _, f := range p.Files {
				repo.Files[f.Path] = f.SHA
			}
		}
		for _, kind := range []string{"cip", "grant"} {
			l, err := proposal.Options{
				Kind: kind, Paths: []string{glob}, Exclude: []string{glob + "/x"}, Index: "README.md"}.Layout()
			if err != nil {
				t.Fatal(err)
			}
			n := network.Network{Proposals: network.Proposals{Prefix: "CWP", Statuses: []string{"Draft"}, Default: "Draft"}}
			if _, err := proposal.Read(t.Context(), repo, l, n, judging{t: t}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzTexts reads texts by people and servers.
func FuzzTexts(f *testing.F) {
	for _, seed := range []string{
		"v1.2.3", "sdk-v2.10.0-rc1", "@scope/name@0.1.0", "release/3.4.5+build.7", "1.2.3.4.5", "-1.0-", "nightly",
		"#1 (#2) [#3] PR 4, PR-05 a/b#6 A/B/pull/7\nhttps://forge.example.org/a/b/issues/8", "a/b#0", "#",
		"PR #\n#1234567", "grant 12, grant\n#0034",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if v := version(text); !strings.HasSuffix(text, v) {
			t.Errorf("version %q of %q", v, text)
		}
		r := &run{opts: settings{Grants: "a/b"}, name: "a/b"}
		links := r.grantLinks(text)
		if len(links) > maxGrantLinks {
			t.Errorf("%d links", len(links))
		}
		for _, l := range links {
			if !strings.Contains(l.Snippet, l.To.Key) || strings.HasPrefix(l.To.Key, "0") {
				t.Errorf("%s in %q", l.To, l.Snippet)
			}
		}
	})
}
