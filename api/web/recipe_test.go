package web

import (
	"strings"
	"testing"

	"almanac/api/op"
	"almanac/testing/optest"
)

// TestMisspeltRecipes holds that what is misspelt in a book of recipes is an error at the start, as is a step that goes on
// from one that comes after it or from what that does not answer with, and one that writes.
func TestMisspeltRecipes(t *testing.T) {
	h := &Handler{ops: map[string]op.Operation{}}
	for _, o := range optest.Operations() {
		h.ops[o.ID] = o
	}
	for _, tt := range []struct{ about, calls, want string }{ // "" = it is right
		{"book", "get_book id={q}", ""},
		{"", "list_books kind=Atlas; get_book id={1.items.0.id}", ""},
		{"", "get_book id={q}", "get_book: id={q}: what can be named here is []"},
		{"", "get_book id={1.items.0.id}", "no earlier step answers with {1.items.0.id}"},
		{"", "list_books; get_book id={2.items.0.id}", "no earlier step answers with {2.items.0.id}"},
		{"", "list_books; get_book id={1.items.0.ident}", "no earlier step answers with {1.items.0.ident}"},
		{"", "list_books kind=Atlass", "list_books: kind must be one of Novel, Atlas"},
		{"", "batch_books ids=7", "batch_books is no tool that only reads"},
		{"", "break_book", "break_book is no tool that only reads"},
		{"shelf", "list_books", "there is no subject shelf"},
		{"", "list_bok", "there is no operation list_bok"},
	} {
		file := "subjects: {book: {label: Book}}\nrecipes:\n- name: read\n  about: " + tt.about + "\n  steps:\n"
		for call := range strings.SplitSeq(tt.calls, "; ") {
			file += "  - call: " + call + "\n"
		}
		_, err := h.readRecipes([]byte(file))
		if err == nil && tt.want != "" || err != nil && (tt.want == "" ||
			!strings.Contains(err.Error(), "the recipe read: ") || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.calls, err, tt.want)
		}
	}
}
