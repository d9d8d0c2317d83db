package web

import (
	"context"
	"strings"
	"testing"

	"almanac/api/op"
	"almanac/testing/optest"
)

// TestMisspeltAsks holds that what is misspelt in the table of pages is an error at
// the start, which says what there is.
func TestMisspeltAsks(t *testing.T) {
	h := &Handler{ops: map[string]op.Operation{}}
	for _, o := range optest.Operations() {
		h.ops[o.ID] = o
	}
	for _, tt := range []struct {
		ask  ask
		want string // "" = it is right
	}{
		{ask{op: "get_book", args: "id={id}"}, ""},
		{ask{op: "list_books", args: "kind=Atlas limit=5 limit? offset=from?"}, ""},
		{ask{op: "get_bok", args: "id={id}"}, "there is no operation get_bok"},
		{ask{op: "list_books", args: "knd=Atlas"}, `list_books: unknown argument "knd": did you mean "kind"?`},
		{ask{op: "list_books", args: "knd?"}, `list_books: unknown argument "knd": did you mean "kind"?`},
		{ask{op: "list_books", args: "kind=Atlass"}, "list_books: kind must be one of Novel, Atlas"},
		{ask{op: "list_books", args: "limit=101"}, "list_books: limit must be between 1 and 100"},
		{ask{op: "get_book", args: "id={idd}"}, "get_book: id={idd}: what can be named here is [id key]"},
		{ask{op: "get_book"}, "get_book: id is required"},
	} {
		_, err := h.question(tt.ask, "id", "key")
		if err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.ask, err, tt.want)
		}
	}
	var q reads[optest.Shelf]
	if err := fillIn(h, &q, ask{op: "get_book", args: "id={id}"}, "id"); err == nil ||
		!strings.Contains(err.Error(), "get_book does not answer with a optest.Shelf") {
		t.Errorf("an answer of another type: %v", err)
	}
}

// TestPagesLackAnOperation starts with one of the operations that pages ask.
func TestPagesLackAnOperation(t *testing.T) {
	alone := op.New(op.Spec{ID: "list_sources"}, func(context.Context, struct{}) (optest.Note, error) {
		return optest.Note{}, nil
	})
	_, err := New(Config{Serving: op.Serving{Operations: []op.Operation{alone}}})
	if err == nil || !strings.Contains(err.Error(), "web: the page /: there is no operation get_recent_changes") {
		t.Error(err)
	}
	if h, err := New(Config{Serving: op.Serving{Operations: optest.Operations()}}); err != nil || len(h.rows) > 0 {
		t.Errorf("a server of other operations: %d pages, %v", len(h.rows), err)
	}
}
