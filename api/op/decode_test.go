package op_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/testing/optest"
)

func find(t testing.TB, id string) op.Operation {
	t.Helper()
	for _, o := range optest.Operations() {
		if o.ID == id {
			return o
		}
	}
	t.Fatalf("no operation %s", id)
	return op.Operation{}
}

// answer runs decoded arguments and returns the answer or the error as text.
func answer(t testing.TB, o op.Operation, in op.Input, err error) string {
	t.Helper()
	if err == nil {
		var v any
		if v, err = o.Run(context.Background(), in); err == nil {
			b, err := op.Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := optest.CheckOutput(o, b); err != nil {
				t.Error(err)
			}
			return string(b)
		}
	}
	if !errors.Is(err, op.ErrInvalid) {
		t.Errorf("%v is not ErrInvalid", err)
	}
	return err.Error()
}

func TestDecode(t *testing.T) {
	huge := strings.Repeat("9", 40)
	tests := []struct {
		name, id, path, query, body, want string
	}{
		{"defaults are applied", "list_books", "", "offset=99", "", `"limit":20,"offset":99`},
		{"unknown parameters are ignored", "list_books", "", "limit=1&color=red&color=blue", "", `"limit":1,`},
		{"a repeated scalar is refused by name", "list_books", "", "limit=1&limit=2", "", "limit must be given once"},
		{"an integer is checked against its bounds", "list_books", "", "limit=101", "",
			"limit must be between 1 and 100"},
		{"zero is below one", "list_books", "", "limit=0", "", "limit must be between 1 and 100"},
		{"a negative offset is refused", "list_books", "", "offset=-1", "", "offset must be at least 0"},
		{"a word is not an integer", "list_books", "", "offset=x", "", "offset must be an integer of at least 0"},
		{"a fraction is not an integer", "list_books", "", "limit=1.5", "",
			"limit must be an integer between 1 and 100"},
		{"an exponent is not an integer", "list_books", "", "limit=1e1", "",
			"limit must be an integer between 1 and 100"},
		{"a sign is not a digit", "list_books", "", "limit=%2B5", "", "limit must be an integer between 1 and 100"},
		{"an overflow is refused", "list_books", "", "limit=" + huge, "", "limit must be an integer between 1 and 100"},
		{"an empty integer is refused", "list_books", "", "limit=", "", "limit must be an integer between 1 and 100"},
		{"an empty optional string is not given", "list_books", "", "kind=&limit=1", "", `"limit":1,`},
		{"enumerations ignore case", "list_books", "", "kind=ATLAS", "", `"items":[]`},
		{"an unknown value names the known", "list_books", "", "kind=Comic", "", "kind must be one of Novel, Atlas"},
		{"a path parameter is checked", "get_book", "id=abc", "", "", "id must look like 56 or BOOK-0056"},
		{"a path parameter is read", "get_book", "id=BOOK-0007", "", "", `"id":"0007"`},
		{"a required parameter is required", "search_books", "", "", "", "q is required"},
		{"an empty required parameter is refused", "search_books", "", "q=", "", "q must not be empty"},
		{"blanks are empty", "search_books", "", "q=+%09", "", "q must not be empty"},
		{"NUL is refused", "search_books", "", "q=a%00b", "", "q must be valid UTF-8 text without NUL"},
		{"broken UTF-8 is refused", "search_books", "", "q=%ff", "", "q must be valid UTF-8 text without NUL"},
		{"a long string is refused", "search_books", "", "q=" + strings.Repeat("x", 101), "",
			"q must be at most 100 characters long"},
		{"length counts characters", "search_books", "", "q=" + strings.Repeat("%C3%A9", 100), "", `"query":"éé`},
		{"arrays are separated by commas", "search_books", "", "q=x&kinds=novel,%20atlas&pages=1,2", "",
			`"kinds":["Novel","Atlas"],"since":null,"exact":null,"pages":[1,2]`},
		{"an array's items are checked", "search_books", "", "q=x&kinds=novel,comic", "",
			"each of kinds must be one of Novel, Atlas"},
		{"an array's integers have bounds", "search_books", "", "q=x&pages=0", "", "each of pages must be at least 1"},
		{"an empty item is refused", "search_books", "", "q=x&kinds=novel,", "", "each of kinds must not be empty"},
		{"booleans have four spellings", "search_books", "", "q=x&exact=TRUE", "", `"exact":true`},
		{"any other boolean is refused", "search_books", "", "q=x&exact=yes", "",
			"exact must be one of 0, 1, true, false"},
		{"a day is a time in UTC", "search_books", "", "q=x&since=2026-01-31", "", `"since":"2026-01-31T00:00:00Z"`},
		{"a time is answered in UTC", "search_books", "", "q=x&since=2026-01-31T01:00:00%2B02:00", "",
			`"since":"2026-01-30T23:00:00Z"`},
		{"no other date is read", "search_books", "", "q=x&since=31.1.2026", "", "since must be an ISO 8601 date"},
		{"a body is read", "batch_books", "", "", `{"ids":["1","700"]}`, `},null]}`},
		{"ids may be integers", "batch_books", "", "", `{"ids":[1]}`, `"id":"0001"`},
		{"unknown members are ignored", "batch_books", "", "", `{"ids":["1"],"x":1}`, `"id":"0001"`},
		{"a body must have what is required", "batch_books", "", "", `{}`, "ids is required"},
		{"null is absent", "batch_books", "", "", `{"ids":null}`, "ids is required"},
		{"an empty list is refused", "batch_books", "", "", `{"ids":[]}`, "ids must not be empty"},
		{"a long list is refused", "batch_books", "", "", `{"ids":["1","2","3","4"]}`, "ids must hold at most 3 items"},
		{"a list must be one", "batch_books", "", "", `{"ids":"1"}`, "ids must be an array of strings"},
		{"a malformed item says what is wanted", "batch_books", "", "", `{"ids":["x"]}`,
			`ids: "x" is malformed; it takes ids such as 0056`},
		{"a malformed item is named", "batch_books", "", "", `{"ids":["1","y","z"]}`, `ids: "y" is malformed`},
		{"an item of another type is refused", "batch_books", "", "", `{"ids":[{}]}`, "each of ids must be a string"},
		{"a body must be JSON", "batch_books", "", "", `{"ids":`, "it is not valid JSON"},
		{"a body must be an object", "batch_books", "", "", `[1]`, "it is not an object"},
		{"a body must not be empty", "batch_books", "", "", ``, "it is not valid JSON"},
		{"nothing may follow the body", "batch_books", "", "", `{"ids":["1"]} x`, "something follows it"},
		{"members must not repeat", "batch_books", "", "", `{"ids":["1"],"ids":["2"]}`, "ids is repeated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := find(t, tt.id)
			path := map[string]string{}
			if k, v, ok := strings.Cut(tt.path, "="); ok {
				path[k] = v
			}
			query, err := url.ParseQuery(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			in, err := o.Decode(path, query, []byte(tt.body))
			if got := answer(t, o, in, err); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestUnlistedArgumentsAreTaken by a tool whose schema has no room for them.
func TestUnlistedArgumentsAreTaken(t *testing.T) {
	type in struct {
		Topic string `json:"topic" required:"true"`
		Limit int    `json:"limit" unlisted:"true" default:"3" minimum:"1" maximum:"9" doc:"how many to return"`
	}
	o := op.New(op.Spec{ID: "find_gulls", Tool: "find_gulls", Title: "Find", Summary: "Finds."},
		func(_ context.Context, in in) (optest.Shelf, error) { return optest.Shelf{Limit: in.Limit}, nil })
	if _, listed := o.ToolIn.Properties["limit"]; listed {
		t.Error("limit is listed")
	}
	for args, want := range map[string]string{
		`{"topic":"x"}`: `"limit":3,`, `{"topic":"x","limit":"7"}`: `"limit":7,`, `{"topic":"x","top_k":8}`: `"limit":8,`,
		`{"topic":"x","limit":10}`: "limit must be between 1 and 9",
		`{"topic":"x","offset":1}`: `unknown argument "offset": find_gulls takes topic, limit, fields`,
	} {
		in, err := o.DecodeTool(json.RawMessage(args))
		if got := answer(t, o, in, err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	line, err := o.DecodeLine([]string{"topic=x", "limit=5"})
	if got := answer(t, o, line, err); !strings.Contains(got, `"limit":5,`) {
		t.Errorf("on the command line: %s", got)
	}
}

func TestDecodeTool(t *testing.T) {
	tests := []struct{ name, id, args, want string }{
		{"no arguments are none", "list_books", ``, `"limit":10,"offset":0`},
		{"null is none", "list_books", `null`, `"limit":10,"offset":0`},
		{"a null argument is absent", "list_books", `{"limit":null}`, `"limit":10,`},
		{"a tool has its own bounds", "list_books", `{"limit":51}`, "limit must be between 1 and 50"},
		{"a whole number is an integer", "list_books", `{"limit":5.0}`, `"limit":5,`},
		{"a fraction is not", "list_books", `{"limit":1.5}`, "limit must be an integer between 1 and 50"},
		{"digits in quotes are", "list_books", `{"limit":" 5 "}`, `"limit":5,`},
		{"words in quotes are not", "list_books", `{"limit":"five"}`, "limit must be an integer between 1 and 50"},
		{"bounds hold in quotes too", "list_books", `{"limit":"51"}`, "limit must be between 1 and 50"},
		{"an empty number is absent", "list_books", `{"limit":"","offset":" "}`, `"limit":10,"offset":0`},
		{"an empty choice is absent", "list_books", `{"kind":"","limit":1}`, `"limit":1,`},
		{"a huge number is not", "list_books", `{"limit":1e400}`, "limit must be an integer between 1 and 50"},
		{"an integer is accepted as an id", "get_book", `{"book_id":56}`, `"id":"0056"`},
		{"a number with a fraction is none", "get_book", `{"book_id":5.6}`, "book_id must look like"},
		{"a number is a text", "search_books", `{"query":3.20}`, `"query":"3.20"`},
		{"a power is none", "search_books", `{"query":3e2}`, "query must be a string"},
		{"a required argument is required", "get_book", `{}`, "book_id is required"},
		{"a null required argument is missing", "get_book", `{"book_id":null}`, "book_id is required"},
		{"a misspelt argument is named with the nearest", "list_books", `{"limt":5}`,
			`unknown argument "limt": did you mean "limit"?`},
		{"the name on REST is the tool's as well", "get_book", `{"id":"1"}`, `"id":"0001"`},
		{"a word of other tools is meant", "search_books", `{"topic":"x"}`, `"query":"x"`},
		{"once", "search_books", `{"topic":"x","query":"y"}`,
			"topic is another name of query, which is given: leave one out"},
		{"or twice", "search_books", `{"topic":"x","idea":"y"}`,
			"topic is another name of query, which is given: leave one out"},
		{"beside null", "search_books", `{"topic":"x","query":null}`, `"query":"x"`},
		{"a word for something else is not", "list_books", `{"topic":"x"}`, `unknown argument "topic"`},
		{"a strange argument names the known", "list_books", `{"zzzzzz":5}`,
			`unknown argument "zzzzzz": list_books takes kind, limit, offset`},
		{"a tool without arguments says so", "about", `{"x":1}`, `unknown argument "x": about takes none`},
		{"fields of a list are told apart", "list_books", `{"fields":["titel"]}`, `no field "titel": did you mean "title"?`},
		{"and are named", "list_books", `{"fields":"zzzzzz"}`, `no field "zzzzzz": there are id, title, kind,`},
		{"what is no list has none", "get_book", `{"book_id":1,"fields":["title"]}`, `unknown argument "fields"`},
		{"a list without a limit takes one", "break_book", `{"limit":0}`, "limit must be between 1 and 100"},
		{"by its other names too", "break_book", `{"max_results":0}`, "limit must be between 1 and 100"},
		{"arguments must be an object", "list_books", `[1]`, "arguments must be one JSON object"},
		{"arguments must be JSON", "list_books", `{"a"`, "arguments must be one JSON object: it is not valid JSON"},
		{"arguments must not repeat", "list_books", `{"limit":1,"limit":2}`, "limit is repeated"},
		{"arguments must be UTF-8", "search_books", "{\"query\":\"\xff\"}", "it is not valid UTF-8"},
		{"NUL is refused", "search_books", `{"query":"a\u0000"}`, "query must be valid UTF-8 text without NUL"},
		{"an empty string is refused if it is required", "search_books", `{"query":""}`, "query must not be empty"},
		{"a string must be one", "search_books", `{"query":["x"]}`, "query must be a string"},
		{"a boolean may be in quotes", "search_books", `{"query":"x","exact":"True"}`, `"exact":true`},
		{"or a digit", "search_books", `{"query":"x","exact":0}`, `"exact":false`},
		{"it must be one", "search_books", `{"query":"x","exact":"maybe"}`, "exact must be true or false"},
		{"one value is a list", "search_books", `{"query":"x","kinds":"novel","pages":1}`, `"kinds":["Novel"],`},
		{"values with commas are", "search_books", `{"query":"x","kinds":"novel, atlas"}`, `"kinds":["Novel","Atlas"],`},
		{"a list in quotes is", "search_books", `{"query":"x","kinds":"[\"atlas\"]","pages":["3"]}`,
			`"kinds":["Atlas"],"since":null,"exact":null,"pages":[3]`},
		{"nothing in a list is left out", "search_books", `{"query":"x","kinds":[null,"","novel"]}`, `"kinds":["Novel"],`},
		{"a list of integers says so", "search_books", `{"query":"x","pages":["x"]}`, "each of pages must be an integer"},
		{"a list is read", "search_books", `{"query":"x","kinds":["NOVEL"],"pages":[2]}`,
			`"kinds":["Novel"],"since":null,"exact":null,"pages":[2]`},
		{"an object is read", "search_books", `{"query":"x","more":{"a":[1]}}`, `"more":{"a":[1]}`},
		{"an object may be in quotes", "search_books", `{"query":"x","more":"{\"a\":[1]}"}`, `"more":{"a":[1]}`},
		{"an object must be one", "search_books", `{"query":"x","more":"[]"}`, "more must be an object"},
		{"false is not absent", "search_books", `{"query":"x","exact":false}`, `"exact":false`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := find(t, tt.id)
			in, err := o.DecodeTool(json.RawMessage(tt.args))
			if got := answer(t, o, in, err); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNewRefusesWhatItCannotDescribe(t *testing.T) {
	run := map[string]func(){
		"a path parameter without a field": func() {
			op.New(op.Spec{ID: "x", Path: "/x/{id}"},
				func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
		},
		"a default out of range": func() {
			type in struct {
				N int `json:"n" default:"5" maximum:"3"`
			}
			op.New(op.Spec{ID: "x"}, func(context.Context, in) (struct{}, error) { return struct{}{}, nil })
		},
		"a broken pattern": func() {
			type in struct {
				N string `json:"n" pattern:"("`
			}
			op.New(op.Spec{ID: "x"}, func(context.Context, in) (struct{}, error) { return struct{}{}, nil })
		},
		"a strange kind of argument": func() {
			type in struct {
				N chan int `json:"n"`
			}
			op.New(op.Spec{ID: "x"}, func(context.Context, in) (struct{}, error) { return struct{}{}, nil })
		},
		"an answer that has no schema": func() {
			op.New(op.Spec{ID: "x"}, func(context.Context, struct{}) (chan int, error) { return nil, nil })
		},
	}
	for name, f := range run {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestAPatternOnlyGoKnowsIsCheckedButNotPublished(t *testing.T) {
	type in struct {
		ID string `json:"id" pattern:"^(?i:pr-\\d+)$" required:"true"`
	}
	o := op.New(op.Spec{ID: "x", Tool: "x"}, func(context.Context, in) (struct{}, error) { return struct{}{}, nil })
	if p := o.ToolIn.Properties["id"].Pattern; p != "" {
		t.Errorf("pattern %s is published", p)
	}
	if _, err := o.DecodeTool(json.RawMessage(`{"id":"x"}`)); !errors.Is(err, op.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if _, err := o.DecodeTool(json.RawMessage(`{"id":"pr-3"}`)); err != nil {
		t.Error(err)
	}
}

func TestADefaultListIsNotShared(t *testing.T) {
	type in struct {
		Kinds []string `json:"kinds" default:"[\"a\",\"b\"]"`
	}
	o := op.New(op.Spec{ID: "x", Tool: "x"}, func(_ context.Context, in in) (string, error) {
		defer func() { in.Kinds[0] = "changed" }()
		return in.Kinds[0], nil
	})
	for range 2 {
		in, err := o.DecodeTool(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := o.Run(t.Context(), in); got != "a" || err != nil {
			t.Errorf("got %v %v", got, err)
		}
	}
}

func TestAnOpenEnumLeavesOthersToTheOperation(t *testing.T) {
	type in struct {
		Kind string `json:"kind" enum:"Novel,Atlas" open:"true"`
	}
	o := op.New(op.Spec{ID: "x", Tool: "x"}, func(_ context.Context, in in) (string, error) { return in.Kind, nil })
	for asked, want := range map[string]string{"atlas": "Atlas", "chapbook": "chapbook"} {
		in, err := o.DecodeLine([]string{"kind=" + asked})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := o.Run(t.Context(), in); got != want || err != nil {
			t.Errorf("%s: got %v %v", asked, got, err)
		}
	}
}

func TestExplainShowsNothingOfInternals(t *testing.T) {
	tests := []struct {
		err  error
		want op.Failure
	}{
		{op.Invalid("x must be %d", 1), op.Failure{Kind: op.ErrInvalid, Message: "x must be 1"}},
		{errors.Join(errors.New("sqlite: disk"), op.NotFound("no book 7")),
			op.Failure{Kind: op.ErrNotFound, Message: "no book 7"}},
		{op.Unavailable(time.Second, "wait"),
			op.Failure{Kind: op.ErrUnavailable, Message: "wait", RetryAfter: time.Second}},
		{errors.Join(errors.New("/var/secret"), op.ErrNotFound),
			op.Failure{Kind: op.ErrNotFound, Message: "not found"}},
		{errors.New("/var/secret"), op.Failure{Message: "internal error"}},
		{fmt.Errorf("catalog of db.example: %w", catalog.ErrUnreachable), op.Failure{Kind: op.ErrUnavailable,
			Message: "the catalog does not answer; try again in a moment", RetryAfter: 5 * time.Second}},
		{op.Loading(0.426), op.Failure{Kind: op.ErrUnavailable, Message: "loading, 42 %", RetryAfter: 5 * time.Second}},
	}
	for _, tt := range tests {
		if got := op.Explain(tt.err); got != tt.want {
			t.Errorf("Explain(%v) = %+v, want %+v", tt.err, got, tt.want)
		}
	}
}

func FuzzDecodeTool(f *testing.F) {
	for _, s := range []string{``, `{}`, `null`, `{"query":"x","limit":1}`,
		`{"query":56,"kinds":["novel"],"pages":[1,2.0],"exact":true,"since":"2026-01-31","more":{"a":{}}}`,
		`{"query":"\ud800"}`, `[`, `{"a":`, `{"query":-0}`} {
		f.Add([]byte(s))
	}
	o := find(f, "search_books")
	f.Fuzz(func(t *testing.T, args []byte) {
		in, err := o.DecodeTool(args)
		answer(t, o, in, err)
	})
}

func FuzzDecode(f *testing.F) {
	f.Add("q=x&kinds=novel,atlas&since=2026-01-31", []byte(`{"ids":["1"]}`))
	f.Add("q=%ff&limit=1&limit=2&pages=1,,2", []byte(`{"ids":null} x`))
	f.Add("limit=9999999999999999999999&offset=-0", []byte(`{`))
	f.Fuzz(func(t *testing.T, query string, body []byte) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		for _, id := range []string{"search_books", "list_books", "batch_books"} {
			o := find(t, id)
			in, err := o.Decode(nil, q, body)
			answer(t, o, in, err)
		}
	})
}

// TestAMisspeltParameterIsNamed: what is near a known parameter is a mistake,
// anything else is the client's own.
func TestAMisspeltParameterIsNamed(t *testing.T) {
	o := find(t, "list_books")
	for query, want := range map[string]string{
		"limt=5": `unknown parameter "limt": did you mean "limit"?`, "ofset=1": `did you mean "offset"?`,
		"utm_source=x": "", "x=1": "", "_=5": "", "limt=5&limit=5": "",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = o.Decode(nil, q, nil)
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}

func TestCall(t *testing.T) {
	for _, tt := range []struct {
		words, want string
		kind        error
	}{
		{"get_book book_id=7", `"title":"Book 7"`, nil},
		{"batch_books ids=7,700", `null`, nil},
		{"about", `"a <shelf> & more"`, nil},
		{"get_book book_id=700", "no book 0700", op.ErrNotFound},
		{"get_bok book_id=7", `did you mean "get_book"`, op.ErrInvalid},
		{"zebra", "list names them", op.ErrInvalid},
		{"get_book id=7", `"title":"Book 7"`, nil},
		{"search_books --topic tides", `"query":"tides"`, nil},
		{"get_book colour=7", `unknown argument "colour": get_book takes book_id`, op.ErrInvalid},
		{"get_book", "book_id is required", op.ErrInvalid},
	} {
		words := strings.Fields(tt.words)
		answer, err := op.Call(t.Context(), optest.Operations(), words[0], words[1:])
		raw, _ := op.Encode(answer)
		if said := fmt.Sprint(string(raw), err); !errors.Is(err, tt.kind) || !strings.Contains(said, tt.want) {
			t.Errorf("%s: %s", tt.words, said)
		}
	}
}
