package web

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/testing/optest"
)

// TestMisspeltRecipes holds that what is misspelt in the table of recipes is an error at the
// start, as is a step that goes on from one that comes after it, and one that writes.
func TestMisspeltRecipes(t *testing.T) {
	h := &Handler{ops: map[string]op.Operation{}}
	for _, o := range optest.Operations() {
		h.ops[o.ID] = o
	}
	book := subject{"Book", []source{{"list_books", "limit=1", "items.0.id"}}}
	first := step{"list_books", "kind=Atlas", "List them."}
	for _, tt := range []struct {
		subject subject
		steps   []step
		want    string // "" = it is right
	}{
		{book, []step{{"get_book", "id={q}", ""}}, ""},
		{subject{}, []step{first, {"get_book", "id={1.items.0.id}", ""}}, ""},
		{subject{}, []step{{"get_book", "id={q}", ""}}, "get_book: id={q}: what can be named here is []"},
		{subject{}, []step{{"get_book", "id={1.items.0.id}", ""}}, "what can be named here is []"},
		{subject{}, []step{first, {"get_book", "id={2.items.0.id}", ""}}, "what can be named here is []"},
		{subject{}, []step{first, {"get_book", "id={1.}", ""}}, "what can be named here is []"},
		{subject{}, []step{{"batch_books", "ids=7", ""}}, "batch_books is no tool that only reads"},
		{subject{}, []step{{"break_book", "", ""}}, "break_book is no tool that only reads"},
		{subject{"Book", []source{{"list_bok", "", "id"}}}, nil, "there is no operation list_bok"},
	} {
		r, err := h.compileRecipe(recipe{slug: "read", subject: tt.subject, steps: tt.steps})
		if err == nil && (tt.want != "" || len(r.calls) != len(tt.steps)) ||
			err != nil && (tt.want == "" || !strings.Contains(err.Error(), "the recipe read: ") ||
				!strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.steps, err, tt.want)
		}
	}
}

// TestAStepHasItsOwnDeadline asks an operation that answers when nobody waits any more.
func TestAStepHasItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := op.New(op.Spec{ID: "wait", Tool: "wait"}, func(ctx context.Context, _ struct{}) (optest.Note, error) {
			<-ctx.Done()
			return optest.Note{}, ctx.Err()
		})
		h := &Handler{cfg: Config{Serving: op.Serving{Timeout: time.Minute}}}
		s, _ := h.take(t.Context(), call{question: question{op: slow}}, "", nil)
		if s.Failure != "It took too long; ask for less, or try again later." ||
			s.Call != `{"name": "wait", "arguments": {}}` {
			t.Errorf("%+v", s)
		}
	})
}

// TestAnAnswerIsShort holds what is left of an answer, and that it has bounds.
func TestAnAnswerIsShort(t *testing.T) {
	day := time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC)
	type person struct {
		Name     string    `json:"name"`
		Posts    int       `json:"posts"`
		Comments int       `json:"comments"`
		Evidence []kb.Item `json:"evidence"`
	}
	type counts struct {
		Open int `json:"open"`
		Done int `json:"done"`
	}
	type answer struct {
		Topic   string     `json:"topic"`
		Verdict string     `json:"verdict"`
		Since   *time.Time `json:"since"`
		Ended   *time.Time `json:"ended"`
		Below   *bool      `json:"below"`
		Status  string     `json:"status"`
		Summary string     `json:"summary"`
		Secret  string     `json:"-"`
		Counts  counts     `json:"counts"`
		Labels  []string   `json:"labels"`
		people  []person
		People  []person       `json:"people"`
		More    map[string]int `json:"more"`
		find.Found[kb.Item]
	}
	item := func(page string) kb.Item {
		return kb.Item{ID: "7", Key: "7", Kind: "topic", Title: "On " + page, Page: "https://kb.example/" + page,
			URL: "https://example.org/" + page, State: "open", Author: "ada", Date: &day}
	}
	a := answer{Topic: "tide", Verdict: "in_favour", Since: &day, Below: new(false), Summary: "It is **agreed**.",
		Secret: "no", Status: "open", Counts: counts{Done: 3}, Labels: []string{"a", "b"},
		people: []person{{Name: "nobody"}},
		People: []person{{"ada", 5, 0, []kb.Item{item("a"), item("b"), item("c"), item("d")}}},
		More:   map[string]int{"x": 1}, Found: find.Found[kb.Item]{Total: 40, Hint: "try less"}}
	for range 30 {
		a.Items = append(a.Items, item("a"))
	}
	got := outcomeOf(a, "tide", "https://kb.example")
	var facts []string
	for _, f := range got.Facts {
		for _, v := range f.Values {
			facts = append(facts, f.Name+" "+v.Text)
		}
	}
	want := []string{"Status open", "Verdict in_favour", "Since 2031-01-02T00:00:00Z", "Below no", "Done 3", "Labels a", "Labels b",
		"Total 40"}
	if diff := cmp.Diff(want, facts); diff != "" || got.Text != "It is agreed." || got.Hint != "Try less." {
		t.Errorf("%s; text %q, hint %q", diff, got.Text, got.Hint)
	}
	if len(got.Lists) != 2 || got.Lists[0].Name != "People" || len(got.Lists[0].Items[0].Within) != withinShown ||
		got.Lists[0].Items[0].Title != "ada" || got.Lists[0].Items[0].Facts[0].Name != "Posts" ||
		len(got.Lists[1].Items) != rowsOfList || got.Lists[1].More != 30-rowsOfList || got.Lists[1].Items[0].State != "open" {
		t.Errorf("%+v", got.Lists)
	}
	if len(got.Cited) != withinShown || got.Cited[0] != (cited{"On a", "https://kb.example/a", "https://example.org/a",
		"topic", day}) {
		t.Errorf("%+v", got.Cited)
	}
	for _, other := range []any{nil, "text", []int{1}, (*answer)(nil), answer{}, &a} {
		outcomeOf(other, "", "") // is no reason to fail
	}
}
