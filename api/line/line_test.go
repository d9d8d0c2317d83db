package line_test

import (
	"errors"
	"strings"
	"testing"

	"almanac/api/line"
	"almanac/api/op"
	"almanac/testing/optest"
)

func TestList(t *testing.T) {
	var out strings.Builder
	if err := line.List(&out, optest.Operations(), "almanac tools call"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"get_book      shelf  One book.", "batch_books   shelf", "almanac tools call list_books kind=Novel limit=5",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestCall(t *testing.T) {
	for _, tt := range []struct {
		words, want string
		kind        error
	}{
		{"get_book book_id=7", `"title": "Book 7"`, nil},
		{"batch_books ids=7,700", `null`, nil},
		{"about", `"a <shelf> & more"`, nil},
		{"get_book book_id=700", "no book 0700", op.ErrNotFound},
		{"get_bok book_id=7", `did you mean "get_book"`, op.ErrInvalid},
		{"zebra", "list names them", op.ErrInvalid},
		{"get_book id=7", `unknown argument "id": get_book takes book_id`, op.ErrInvalid},
		{"get_book", "book_id is required", op.ErrInvalid},
	} {
		var out strings.Builder
		words := strings.Fields(tt.words)
		err := line.Call(t.Context(), &out, optest.Operations(), words[0], words[1:])
		if err != nil {
			out.WriteString(err.Error())
		}
		if !errors.Is(err, tt.kind) || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %v %s", tt.words, err, &out)
		}
	}
}
