package op_test

import (
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"almanac/api/op"
	"almanac/testing/optest"
)

type day time.Time

type everything struct {
	Path  string         `json:"path" required:"true"`
	Text  string         `json:"text"`
	Named string         `json:"named" tool:"other" default:"x"`
	Count int            `json:"count" default:"20"`
	Share float64        `json:"share"`
	Flag  bool           `json:"flag" default:"true"`
	When  day            `json:"when"`
	Maybe *int           `json:"maybe"`
	List  []string       `json:"list"`
	Pages []int          `json:"pages"`
	More  map[string]any `json:"more" rest:"-"`
}

// echo is an operation that returns its arguments.
func echo(method string) op.Operation {
	s := op.Spec{ID: "echo", Tool: "echo", Method: method, Path: "/echo/{path...}"}
	return op.New(s, func(_ context.Context, in everything) (string, error) {
		in.When = day(time.Time(in.When).UTC())
		raw, err := json.Marshal(struct {
			everything
			When time.Time `json:"when"`
		}{in, time.Time(in.When)})
		return string(raw), err
	})
}

func run(t interface{ Fatal(...any) }, o op.Operation, in op.Input, err error) string {
	if err != nil {
		t.Fatal(err)
	}
	answer, err := o.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return answer.(string)
}

// TestInverse holds that what Target, Call and Line write is read again as the
// same arguments.
func TestInverse(t *testing.T) {
	get, post := echo("GET"), echo("POST")
	// A path ends where a slash would double; commas separate a list.
	segment := rapid.StringMatching(`[a-zA-Z0-9 %?#&+;éß._-]{0,6}[a-z]`)
	text := rapid.StringMatching(`[a-z0-9 %?#&+;="'\\éß<>-]{0,12}`)
	// -0 is left out as zero
	share := rapid.Map(rapid.Float64Range(-1e6, 1e6), func(x float64) float64 { return x + 0 })
	rapid.Check(t, func(t *rapid.T) {
		args := map[string]any{"path": strings.Join(rapid.SliceOfN(segment, 1, 3).Draw(t, "path"), "/")}
		for name, g := range map[string]*rapid.Generator[any]{
			"text": text.AsAny(), "other": text.AsAny(), "count": rapid.Int32().AsAny(), "share": share.AsAny(),
			"flag": rapid.Bool().AsAny(), "maybe": rapid.IntRange(-5, 5).AsAny(),
			"when":  rapid.SampledFrom([]any{"2026-01-31", "2026-01-31T12:00:00.5Z"}),
			"list":  rapid.SliceOfN(rapid.StringMatching(`[a-zß &]{0,4}[a-z]`), 1, 3).AsAny(),
			"pages": rapid.SliceOfN(rapid.IntRange(-3, 99), 1, 3).AsAny(),
		} {
			if rapid.Bool().Draw(t, name+" given") {
				args[name] = g.Draw(t, name)
			}
		}
		// On REST an empty string is not given, and a list's items are trimmed.
		for _, name := range []string{"text", "other"} {
			if args[name] == "" {
				delete(args, name)
			}
		}
		if list, ok := args["list"].([]string); ok {
			for i, s := range list {
				list[i] = strings.TrimSpace(s)
			}
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		in, err := get.DecodeTool(raw)
		want := run(t, get, in, err)
		for name, o := range map[string]op.Operation{"GET": get, "POST": post} {
			target, body := o.Target(in)
			u, err := url.Parse(target)
			if err != nil {
				t.Fatal(err)
			}
			path := map[string]string{"path": strings.TrimPrefix(u.Path, "/echo/")}
			again, err := o.Decode(path, u.Query(), body)
			if got := run(t, o, again, err); got != want {
				t.Fatalf("%s %s: %s, want %s", name, target, got, want)
			}
		}
		again, err := get.DecodeTool(get.Call(in))
		if got := run(t, get, again, err); got != want {
			t.Fatalf("%s: %s, want %s", get.Call(in), got, want)
		}
		again, err = get.DecodeLine(get.Line(in))
		if got := run(t, get, again, err); got != want {
			t.Fatalf("%q: %s, want %s", get.Line(in), got, want)
		}
	})
}

func TestLinesThatCannotBeRead(t *testing.T) {
	for line, want := range map[string]string{
		"kind":            "an argument is written name=value or --name value",
		"--kind":          "--kind has no value: write --kind=VALUE",
		"--kind Comic":    "kind must be one of Novel, Atlas",
		"kind=comic":      "kind must be one of Novel, Atlas",
		"knd=Atlas":       `unknown argument "knd": did you mean "kind"?`,
		"limit=1 limit=2": "limit must be given once",
	} {
		if _, err := find(t, "list_books").DecodeLine(strings.Fields(line)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// TestLinesAreReadAsMeant has arguments written as flags, and under other names.
func TestLinesAreReadAsMeant(t *testing.T) {
	for line, want := range map[string]string{
		"search_books query=x":                       `"query":"x"`,
		"search_books --query x --kinds novel,atlas": `"query":"x","kinds":["Novel","Atlas"]`,
		"search_books --query=--x":                   `"query":"--x"`,
		"search_books --query -x":                    `"query":"-x"`,
		"search_books --exact --query x":             `"query":"x","kinds":[],"since":null,"exact":true`,
		"search_books --exact=false q=x":             `"query":"x","kinds":[],"since":null,"exact":false`,
		"search_books topic=x":                       `"query":"x"`,
		"search_books --draft-text x":                `"query":"x"`,
		"list_books top_k=3":                         `"limit":3,`,
		"list_books --max-results 3":                 `"limit":3,`,
		"get_book id=7":                              `"id":"0007"`,
		"search_books topic=x q=y":                   "topic is another name of query, which is given: leave one out",
		"search_books --topic x --topic y":           "topic must be given once",
		"list_books topic=x":                         `unknown argument "topic": list_books takes kind, limit, offset`,
	} {
		words := strings.Fields(line)
		o := find(t, words[0])
		in, err := o.DecodeLine(words[1:])
		if got := answer(t, o, in, err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestWordsAndExamples(t *testing.T) {
	o := find(t, "list_books")
	if o.Summary != "Books by id, Novel,Atlas." {
		t.Errorf("summary %q", o.Summary)
	}
	in, ok := o.ExampleInput()
	if target, _ := o.Target(in); !ok || target != "/api/v1/books?kind=Novel&limit=5&offset=0" &&
		target != "/api/v1/books?kind=Novel&limit=5" {
		t.Errorf("example %s", target)
	}
	if got := string(o.ExampleValues()["kind"]); got != `"Novel"` {
		t.Errorf("values %v", o.ExampleValues())
	}
	if enum := o.ToolIn.Properties["kind"].Enum; !reflect.DeepEqual(enum, []any{"Novel", "Atlas"}) {
		t.Errorf("published: %v", enum)
	}
}

func TestLean(t *testing.T) {
	o := find(t, "get_book")
	in, err := o.DecodeTool(json.RawMessage(`{"book_id":"7"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := o.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the answer itself is not changed
		whole, err := op.Encode(answer)
		if err != nil || optest.CheckOutput(o, whole) != nil || !strings.Contains(string(whole), `"shelved":"hall"`) {
			t.Errorf("whole: %s %v %v", whole, err, optest.CheckOutput(o, whole))
		}
		lean, err := op.EncodeTool(answer)
		if err != nil || optest.CheckToolOutput(o, lean) != nil || strings.Contains(string(lean), "shelved") {
			t.Errorf("lean: %s %v %v", lean, err, optest.CheckToolOutput(o, lean))
		}
		if optest.CheckOutput(o, lean) == nil {
			t.Error("REST may leave out what tools do")
		}
	}
}

func TestFieldsHaveTheNameOfTheInterface(t *testing.T) {
	o := find(t, "search_books")
	err := op.InvalidField("q", "has nothing to search for")
	if rest, tool := op.Explain(err).Message, o.ExplainTool(err).Message; rest != "q has nothing to search for" ||
		tool != "query has nothing to search for" {
		t.Errorf("REST %q, tool %q", rest, tool)
	}
}
