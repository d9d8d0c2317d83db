package line_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"almanac/api/line"
	"almanac/api/op"
	"almanac/testing/optest"
)

func TestRows(t *testing.T) {
	rows := line.Rows(optest.Operations(), "almanac tools call")
	for _, want := range []string{"get_book|shelf|One book.", "||almanac tools call list_books kind=Novel limit=5"} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return strings.Join(row, "|") == want }) {
			t.Errorf("no %q in\n%s", want, rows)
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
		{"get_book id=7", `"title": "Book 7"`, nil},
		{"search_books --topic tides", `"query": "tides"`, nil},
		{"get_book colour=7", `unknown argument "colour": get_book takes book_id`, op.ErrInvalid},
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

func TestDescribe(t *testing.T) {
	var out strings.Builder
	if err := line.Describe(&out, optest.Operations(), "list_books", "almanac tools call"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Usage: almanac tools call list_books name=value ...\n",
		"  kind\n      only books of this kind, such as Novel; one of Novel, Atlas\n",
		"  limit\n      how many to return; 1 to 50; default 10\n",
		"  offset\n      at least 0; default 0\n",
		"Example:\n  almanac tools call list_books kind=Novel limit=5\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	out.Reset()
	if err := line.Describe(&out, optest.Operations(), "about", "almanac tools call"); err != nil ||
		!strings.Contains(out.String(), "Arguments:\n  none\n") {
		t.Errorf("%v %s", err, &out)
	}
	if err := line.Describe(&out, optest.Operations(), "get_bok", "call"); !errors.Is(err, op.ErrInvalid) {
		t.Errorf("a tool that does not exist: %v", err)
	}
}

func TestFill(t *testing.T) {
	const address = "https://example.org/a/long/address"
	got := line.Fill("größer als "+address+" und  kurz", 12)
	if want := []string{"größer als", address, "und kurz"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := line.Fill(" ", 12); len(got) != 0 {
		t.Errorf("nothing has the lines %q", got)
	}
}
