package forge_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest/forge"
	"almanac/ingest/outbound"
	"almanac/testing/connectortest"
)

// same is connectortest.Same for results whose records arrived in another order,
// so that parents have other ids, which are part of the hash.
func same(t *testing.T, want, got connectortest.Result) {
	t.Helper()
	want.Cursor, got.Cursor = "", ""
	for _, records := range [][]catalog.Record{want.Records, got.Records} {
		for i := range records {
			records[i].Hash = ""
		}
	}
	connectortest.Same(t, want, got)
}

func TestARateLimitEndsTheRunAndTheNextContinues(t *testing.T) {
	t.Parallel()
	whole := connectortest.NewSource(t, config(t, serve(t, newHub(t)).URL, nil)).Sync()
	h := newHub(t)
	s := connectortest.NewSource(t, config(t, serve(t, h).URL, nil))
	runs := 0
	for {
		if runs++; runs > 20 {
			t.Fatal("no end")
		}
		h.change(func() { h.left, h.reset = 8, s.Clock.Add(time.Hour) })
		got := s.Sync()
		if !strings.Contains(problems(got), "rate limit is used up until") {
			same(t, whole, got)
			break
		}
		if got.Complete || got.Deleted != 0 {
			t.Fatalf("run %d was cut short and says complete %t, %d deleted", runs, got.Complete, got.Deleted)
		}
		before := h.left
		s.Sync()
		if h.left != before {
			t.Fatalf("a run within the same hour made %d more requests", before-h.left)
		}
		s.Clock = s.Clock.Add(time.Hour)
	}
	if runs < 3 {
		t.Errorf("%d runs; the limit was not met", runs)
	}
}

func TestSecondaryLimits(t *testing.T) {
	answer := func(status int, after, message string) connectortest.Fault {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("X-RateLimit-Remaining", "4711")
			w.Header().Set("X-RateLimit-Reset", "1938168000")
			if after != "" {
				w.Header().Set("Retry-After", after)
			}
			fail(w, status, message)
		}
	}
	tests := map[string]struct {
		fault connectortest.Fault
		want  string
	}{
		"403 that says when": {answer(403, "90", "You have exceeded a secondary rate limit."),
			"secondary rate limit is used up until 2031-06-01T12:01:30Z"},
		"403 in words only": {answer(403, "", "You have exceeded a secondary rate limit. Please wait a few minutes."),
			"secondary rate limit is used up until 2031-06-01T12:01:00Z"},
		"429": {answer(429, "600", "Too many requests"),
			"secondary rate limit is used up until 2031-06-01T12:10:00Z"},
		"403 for another": {answer(403, "", "Resource not accessible by personal access token"), "403 Forbidden"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, newHub(t))
			server.Fault("/repos/causeway/node/issues/comments", -1, tt.fault)
			s := connectortest.NewSource(t,
				config(t, server.URL, map[string]any{"repositories": []string{"causeway/node", "causeway/proposals"}}))
			got := s.Sync()
			if !strings.Contains(problems(got), tt.want) {
				t.Errorf("problems:\n%s", problems(got))
			}
			other := slices.Contains(got.Keys(), "repo causeway/proposals")
			if limited := strings.Contains(tt.want, "limit"); other == limited {
				t.Errorf("read the next repository: %t", other)
			}
			server.Heal()
			s.Clock = s.Clock.Add(time.Hour)
			if got := s.Sync(); got.Skipped != 0 ||
				!slices.Contains(got.Keys(), "comment causeway/node#issuecomment-901") ||
				!slices.Contains(got.Keys(), "repo causeway/proposals") {
				t.Errorf("after the limit: %v\n%s", got.Keys(), problems(got))
			}
		})
	}
}

func TestBadItemsAreSkippedAndKept(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	s := connectortest.NewSource(t, config(t, serve(t, h).URL, nil))
	first := s.Sync()
	h.change(func() {
		node := h.projects["causeway/node"]
		node.Issues[0]["title"] = 12
		node.Issues[5]["updated_at"] = "yesterday"
		node.Comments[0]["issue_url"] = nil
		node.Releases[1]["published_at"] = []int{2031}
		node.Discussions[0]["comments"].(object)["nodes"].([]any)[0].(object)["body"] = object{}
	})
	s.Clock = s.Clock.Add(8 * 24 * time.Hour) // a run from the beginning
	got := s.Sync()
	for _, want := range []string{"causeway/node#1: ", "causeway/node#6: ", "causeway/node#issuecomment-901: ",
		"causeway/node: an item: ", "DC_1: "} {
		if !strings.Contains(problems(got), want) {
			t.Errorf("no problem is reported for %q:\n%s", want, problems(got))
		}
	}
	if diff := cmp.Diff(first.Keys(), got.Keys()); diff != "" || got.Skipped != 5 {
		t.Errorf("%s(-first +again)\n%s", problems(got), diff)
	}
}

func TestTokens(t *testing.T) {
	t.Run("rejected", func(t *testing.T) {
		t.Setenv("CAUSEWAY_FORGE_TOKEN", "ghp_secretButWrong")
		got := connectortest.NewSource(t, config(t, serve(t, newHub(t)).URL, nil)).Try(t.Context())
		if got.Err == nil || !strings.Contains(got.Err.Error(), "token") ||
			strings.Contains(got.Err.Error()+problems(got), "secretButWrong") {
			t.Errorf("error %v", got.Err)
		}
	})
	t.Run("none", func(t *testing.T) {
		server := serve(t, newHub(t))
		s := connectortest.NewSource(t, connectortest.Config{Kind: forge.Kind,
			Options: map[string]any{"api": server.URL, "repositories": []string{"causeway/node"}}})
		got := s.Sync()
		if !strings.Contains(problems(got), "option token_env: no token") || !got.Complete || len(got.Records) != 15+1 {
			t.Errorf("complete %t, %v\n%s", got.Complete, got.Keys(), problems(got))
		}
		for _, r := range server.Requests() {
			if r.Method == http.MethodPost || r.Header.Get("Authorization") != "" {
				t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
			}
		}
		connectortest.Unchanged(t, s, got)
	})
	t.Run("no longer set", func(t *testing.T) {
		s := connectortest.NewSource(t, config(t, serve(t, newHub(t)).URL, nil))
		first := s.Sync()
		t.Setenv("CAUSEWAY_FORGE_TOKEN", "")
		got := s.Sync()
		if diff := cmp.Diff(first.Keys(), got.Keys()); diff != "" ||
			!strings.Contains(problems(got), "CAUSEWAY_FORGE_TOKEN is not set") {
			t.Errorf("%s(-first +again)\n%s", problems(got), diff)
		}
	})
}

func TestRepositoriesThatMovedOrVanished(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.projects["causeway/node"].Repo["full_name"] = "causeway/relay"
	s := connectortest.NewSource(t, config(t, serve(t, h).URL,
		map[string]any{"repositories": []string{"causeway/node", "causeway/lost"}}))
	got := s.Sync()
	if p := problems(got); !strings.Contains(p, "was renamed to causeway/relay") ||
		!strings.Contains(p, "causeway/lost: ") || got.Complete {
		t.Errorf("complete %t, problems:\n%s", got.Complete, p)
	}
	h.change(func() { delete(h.projects, "causeway/node") })
	s.Clock = s.Clock.Add(8 * 24 * time.Hour)
	again := s.Try(t.Context())
	if status, ok := errors.AsType[*outbound.StatusError](again.Err); !ok || status.Status != 404 ||
		len(again.Records) != len(got.Records) {
		t.Errorf("without any repository: %v, %d records", again.Err, len(again.Records))
	}
}

func TestBadOptions(t *testing.T) {
	tests := []struct {
		options map[string]any
		want    string
	}{
		{map[string]any{}, "the option repositories is missing"},
		{map[string]any{"repositories": []string{"node"}}, `repositories[1]: "node" is not a repository: want owner/name`},
		{map[string]any{"repositories": []string{"causeway/.."}}, "want owner/name"},
		{map[string]any{"repositories": []string{"a/b", "a/b"}}, "repositories[2]: appears twice"},
		{map[string]any{"repositories": []string{"a/b"}, "grants": "x"}, `grants: "x" is not`},
		{map[string]any{"repositories": []string{"a/b"}, "api": "ftp://forge.example.org"}, "api: is not a web address"},
		{map[string]any{"repositories": []string{"a/b"}, "api": "https://user:secret@forge.example.org"},
			"api: is not a web address: want one that begins with https:// and has no user"},
		{map[string]any{"repositories": []string{"a/b"}, "tokenenv": "X"}, `did you mean "token_env"`},
	}
	for _, tt := range tests {
		err := connectortest.Open(forge.Kind, tt.options)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v, want %q", tt.options, err, tt.want)
		}
	}
}
