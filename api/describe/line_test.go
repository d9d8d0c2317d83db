package describe_test

import (
	"slices"
	"strings"
	"testing"

	"almanac/api/describe"
	"almanac/api/op"
	"almanac/testing/optest"
)

func TestRows(t *testing.T) {
	rows := describe.Rows(optest.Operations(), "almanac tools call")
	for _, want := range []string{"get_book|shelf|One book.", "||almanac tools call list_books kind=Novel limit=5"} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return strings.Join(row, "|") == want }) {
			t.Errorf("no %q in\n%s", want, rows)
		}
	}
}

func TestHelp(t *testing.T) {
	help := func(called string) string {
		o, err := op.Called(optest.Operations(), called)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		describe.Help(&out, o, "almanac tools call")
		return out.String()
	}
	books := help("list_books")
	for _, want := range []string{
		"Usage: almanac tools call list_books name=value ...\n",
		"  kind\n      only books of this kind, such as Novel; string; one of Novel, Atlas\n",
		"  limit\n      how many to return; integer, 1 to 50, default 10\n",
		"  offset\n      integer, 0 at least, default 0\n",
		"Example:\n  almanac tools call list_books kind=Novel limit=5\n",
	} {
		if !strings.Contains(books, want) {
			t.Errorf("no %q in\n%s", want, books)
		}
	}
	if about := help("about"); !strings.Contains(about, "Arguments:\n  none\n") {
		t.Error(about)
	}
}
