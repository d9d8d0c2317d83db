package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"almanac/api/mcp"
	"almanac/catalog"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

func names(t *testing.T, w *httptest.ResponseRecorder) []string {
	t.Helper()
	var answer struct {
		Result struct {
			Tools []struct {
				Name         string          `json:"name"`
				OutputSchema json.RawMessage `json:"outputSchema"`
			} `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	var out []string
	for _, tool := range answer.Result.Tools {
		if tool.OutputSchema != nil {
			tool.Name += "!"
		}
		out = append(out, tool.Name)
	}
	return out
}

func TestToolsListStartsWithItsVersion(t *testing.T) {
	s := newServer(t, nil)
	first := post(s, "/mcp", listTools, plain...)
	if !bytes.HasPrefix(first.Body.Bytes(), []byte(`{"jsonrpc":"2.0","id":1,"result":{`)) {
		t.Errorf("got %.60s", first.Body)
	}
	if again := post(s, "/mcp", listTools, plain...); !bytes.Equal(first.Body.Bytes(), again.Body.Bytes()) {
		t.Error("the list changed")
	}
}

// TestHintsSayWhatACallMayDo holds that read-only is the default and not a
// constant.
func TestHintsSayWhatACallMayDo(t *testing.T) {
	for _, raw := range rawTools(t, post(newServer(t, nil), "/mcp", listTools, plain...)) {
		var tool struct {
			Name        string
			Annotations struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint bool }
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		writes := tool.Name == "break_book"
		if a := tool.Annotations; a.ReadOnlyHint == writes || a.DestructiveHint != writes ||
			a.IdempotentHint == writes || a.OpenWorldHint != writes {
			t.Errorf("%s: %+v", tool.Name, a)
		}
	}
}

func rawTools(t *testing.T, w *httptest.ResponseRecorder) []json.RawMessage {
	t.Helper()
	var answer struct {
		Result struct {
			Tools []json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Result.Tools
}

func TestToolsets(t *testing.T) {
	s := newServer(t, nil)
	shelf, desk := []string{"list_books", "get_book"}, []string{"search_books", "break_book", "lose_book", "wait_book",
		"closed_book", "about"}
	for query, want := range map[string][]string{
		"":                                   append(slices.Clone(shelf), desk...),
		"?toolsets=":                         append(slices.Clone(shelf), desk...),
		"?toolsets=shelf":                    shelf,
		"?toolsets=Desk":                     desk,
		"?toolsets=desk,shelf":               append(slices.Clone(shelf), desk...),
		"?toolsets=shelf&toolsets=shelf":     shelf,
		"?toolsets=extras":                   {"burn_book"},
		"?toolsets=extras,shelf":             append(slices.Clone(shelf), "burn_book"),
		"?toolsets=default":                  append(slices.Clone(shelf), desk...),
		"?toolsets=default,shelf":            append(slices.Clone(shelf), desk...),
		"?toolsets=all":                      slices.Concat(shelf, desk[:1], []string{"burn_book"}, desk[1:]),
		"?tools=about":                       {"about"},
		"?tools=About,burn_book":             {"burn_book", "about"},
		"?tools=get_book&tools=about,":       {"get_book", "about"},
		"?toolsets=shelf&tools=about":        append(slices.Clone(shelf), "about"),
		"?toolsets=&tools=":                  append(slices.Clone(shelf), desk...),
		"?tools=about&schemas=1":             {"about!"},
		"?toolsets=shelf&schemas=1":          {"list_books!", "get_book!"},
		"?toolsets=shelf&schemas=0&other=ok": shelf,
	} {
		if got := names(t, post(s, "/mcp"+query, listTools, plain...)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"?toolsets=cellar": "toolsets must be some of shelf, desk, default, extras, all",
		"?toolsets=attic":  "toolsets must be some of shelf", // it has only extra tools
		"?tools=get_boo":   `there is no tool \"get_boo\": did you mean \"get_book\"?`,
		"?tools=zzzzzzzzz": `there is no tool \"zzzzzzzzz\"; tools/list names the tools`,
		"?schemas=maybe":   "schemas must be one of 0, 1, true, false",
		"?toolsets=%zz":    "the query string is malformed",
	} {
		if w := post(s, "/mcp"+query, listTools, plain...); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	if w := post(s, "/mcp?toolsets=shelf", call("about", `{}`), plain...); !strings.Contains(w.Body.String(),
		`"code":-32602`) {
		t.Errorf("a tool outside the view: %s", w.Body)
	}
	for query, want := range map[string]string{
		"?tools=about":     `unknown tool \"get_book\"; tools/list names the tools`,
		"?tools=get_book":  `"isError":true`, // it is called, without its argument
		"?toolsets=extras": `unknown tool \"get_book\"; tools/list`,
	} {
		if w := post(s, "/mcp"+query, call("get_book", `{}`), plain...); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: get_book: %s", query, w.Body)
		}
	}
}

// TestToolsWithoutRecordsAreListedOnRequest takes the books away and brings them back:
// the list follows, and what it leaves out is called all the same.
func TestToolsWithoutRecordsAreListedOnRequest(t *testing.T) {
	var has []catalog.Kind
	s := newServer(t, func(cfg *mcp.Config) {
		cfg.Kinds = func(context.Context) []catalog.Kind { return has }
		for i, o := range cfg.Operations {
			switch o.Tool {
			case "list_books", "get_book":
				cfg.Operations[i].Kinds = []catalog.Kind{catalog.KindDoc, catalog.KindBlog}
			case "burn_book":
				cfg.Operations[i].Kinds = []catalog.Kind{catalog.KindBlog}
			}
		}
	})
	desk := []string{"search_books", "break_book", "lose_book", "wait_book", "closed_book", "about"}
	all := append([]string{"list_books", "get_book"}, desk...)
	whole := slices.Concat(all[:3], []string{"burn_book"}, desk[1:])
	for _, step := range []struct {
		has   []catalog.Kind
		query string
		want  []string
	}{
		{nil, "", all}, // it is not known yet
		{[]catalog.Kind{catalog.KindCIP}, "", desk},
		{[]catalog.Kind{catalog.KindCIP}, "?toolsets=default", desk},
		{[]catalog.Kind{catalog.KindCIP}, "?toolsets=shelf", nil},
		{[]catalog.Kind{catalog.KindCIP}, "?toolsets=all", whole},
		{[]catalog.Kind{catalog.KindCIP}, "?toolsets=extras", []string{"burn_book"}},
		{[]catalog.Kind{catalog.KindCIP}, "?toolsets=shelf&tools=get_book", []string{"get_book"}},
		{[]catalog.Kind{catalog.KindCIP, catalog.KindBlog}, "", all}, // one of them is enough
		{[]catalog.Kind{catalog.KindCIP}, "", desk},
	} {
		has = step.has
		w := post(s, "/mcp"+step.query, listTools, plain...)
		if got := names(t, w); !slices.Equal(got, step.want) {
			t.Errorf("%v %s: got %v, want %v", step.has, step.query, got, step.want)
		}
	}
	if w := post(s, "/mcp", call("get_book", `{"book_id":7}`), plain...); !strings.Contains(w.Body.String(), "Book 7") {
		t.Errorf("a tool that is not listed: %s", w.Body)
	}
	if w := post(s, "/mcp", listTools, append(plain, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")...,
	); strings.Contains(w.Body.String(), `"ttlMs":3600000`) {
		t.Errorf("clients keep a list that may change for an hour: %.300s", w.Body)
	}
}
