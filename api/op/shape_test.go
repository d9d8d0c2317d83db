package op_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"almanac/api/op"
)

// TestShape holds that fields and limit leave the rows of a list and their fields, in the
// order of the schema, and that what does not exist is refused.
func TestShape(t *testing.T) {
	for _, tt := range []struct{ id, args, want string }{
		{"list_books", `{"limit":2,"fields":["title","id"]}`, `"items":[{"id":"`},
		{"list_books", `{"limit":2,"fields":"kind"}`, `"items":[{"kind":"`},
		{"list_books", `{"limit":2,"fields":[]}`, `"tags":`},
		{"list_books", `{"fields":["titel"]}`, `did you mean "title"?`},
		{"list_books", `{"fields":["zebra"]}`, `there are id, title, kind`},
	} {
		o := find(t, tt.id)
		in, err := o.DecodeTool(json.RawMessage(tt.args))
		got := ""
		if err == nil {
			answer, err := o.Run(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			raw, _, err := o.Fit(in, answer)
			if err != nil || !json.Valid(raw) {
				t.Fatalf("%s: %v %s", tt.args, err, raw)
			}
			got = string(raw)
		} else if got = err.Error(); !errors.Is(err, op.ErrInvalid) {
			t.Errorf("%s: %v is not ErrInvalid", tt.args, err)
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: no %s in\n%s", tt.args, tt.want, got)
		}
		if strings.Contains(tt.args, `["title","id"]`) && strings.Contains(got, `"kind"`) {
			t.Errorf("%s: other fields are there:\n%s", tt.args, got)
		}
	}
}

func TestShell(t *testing.T) {
	if got := op.Shell("q=a b", "limit=5", "it's"); got != `'q=a b' limit=5 'it'\''s'` {
		t.Error(got)
	}
}

func TestWithExample(t *testing.T) {
	o, err := find(t, "get_book").WithExample([]string{"book_id=9"})
	if in, ok := o.ExampleInput(); err != nil || !ok || strings.Join(o.Line(in), " ") != "book_id=9" {
		t.Errorf("%v %v", in, err)
	}
	if _, err := o.WithExample([]string{"zebra=9"}); !errors.Is(err, op.ErrInvalid) {
		t.Errorf("an argument that does not exist: %v", err)
	}
}
