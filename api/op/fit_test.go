package op_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"almanac/api/op"
	"almanac/testing/optest"
)

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "four": 1, "fours": 2, "港口": 2, "港口 one": 3, "みなと": 3, "ミナト": 3, "항구": 2, "ключ": 1,
		"🚀🚀🚀🚀": 1,
	} {
		if got := op.Tokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestPartsOfATextFit compares what Within and Without leave of a text with what
// it takes in JSON.
func TestPartsOfATextFit(t *testing.T) {
	quoted := func(s string) int {
		raw, err := op.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		return op.Tokens(string(raw[1 : len(raw)-1]))
	}
	rapid.Check(t, func(t *rapid.T) {
		runes := rapid.SampledFrom([]rune("ab \n\t\"\\\x01\u2028é港みハ한🚀<&"))
		text := string(rapid.SliceOfN(runes, 0, 200).Draw(t, "text"))
		n := rapid.IntRange(0, 250).Draw(t, "tokens")
		within := text[:op.Within(text, n)]
		if got := quoted(within); got > n || !utf8.ValidString(within) {
			t.Fatalf("%q takes %d, more than %d", within, got, n)
		}
		if _, size := utf8.DecodeRuneInString(text[len(within):]); size > 0 && quoted(text[:len(within)+size]) <= n {
			t.Fatalf("%q has room for one more in %d", within, n)
		}
		without := text[:op.Without(text, n)]
		if got := quoted(text[len(without):]); got < n && without != "" || !utf8.ValidString(without) {
			t.Fatalf("%q is %d tokens shorter, not %d", without, got, n)
		}
	})
}

// long are answers that are longer than a client takes.
type long struct {
	Items []note         `json:"items"`
	Text  string         `json:"text"`
	Meta  map[string]any `json:"meta"`
	Inner *inner         `json:"inner"`
}

type inner struct {
	Names []string `json:"names"`
}

type note struct {
	ID    int      `json:"id"`
	Title string   `json:"title"`
	Tags  []string `json:"tags"`
}

type hinted struct {
	long
	Hint string `json:"hint,omitempty"`
}

// numbered can be read on.
type numbered struct {
	Lines []string `json:"lines"`
	Next  string   `json:"next,omitempty"`
}

func (n *numbered) Shorten(tokens int) {
	for ; len(n.Lines) > 1 && tokens > 0; n.Lines = n.Lines[:len(n.Lines)-1] {
		tokens -= op.Tokens(n.Lines[len(n.Lines)-1])
	}
	n.Next = strconv.Itoa(len(n.Lines))
}

type pageIn struct {
	Limit  int `json:"limit" default:"20"`
	Offset int `json:"offset"`
}

func fit(t *testing.T, o op.Operation, args string) (raw, note string) {
	t.Helper()
	in, err := o.DecodeTool(json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := o.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	before, err := op.EncodeTool(answer)
	if err != nil {
		t.Fatal(err)
	}
	encoded, note, err := o.Fit(in, answer)
	if err != nil {
		t.Fatal(err)
	}
	if n := op.Tokens(string(encoded) + note); n > op.MaxTokens {
		t.Errorf("the answer has %d tokens", n)
	}
	if op.Tokens(string(before)) > op.MaxTokens+op.MaxTokens/2 && op.Tokens(string(encoded)) < op.MaxTokens/2 {
		t.Errorf("of %d tokens only %d are left", op.Tokens(string(before)), op.Tokens(string(encoded)))
	}
	if err := optest.CheckToolOutput(o, encoded); err != nil {
		t.Error(err)
	}
	if after, err := op.EncodeTool(answer); err != nil || string(after) != string(before) {
		t.Error("the answer itself was changed")
	}
	return string(encoded), note
}

func answering[T any](answer T) op.Operation {
	return op.New(op.Spec{ID: "x", Tool: "x", Path: "/x"}, func(context.Context, pageIn) (T, error) { return answer, nil })
}

func notes(n int, title string) (all []note) {
	for i := range n {
		all = append(all, note{i, title, []string{"a", "b"}})
	}
	return all
}

func TestALongAnswerEndsEarlier(t *testing.T) {
	title := strings.Repeat("港", 300)
	many := long{Items: notes(200, title), Text: "short", Inner: &inner{}}
	t.Run("a list goes on with an offset", func(t *testing.T) {
		raw, note := fit(t, answering(many), `{"offset":40}`)
		var got long
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatal(err)
		}
		n := len(got.Items)
		if n < 70 || n >= 90 || got.Items[n-1].ID != n-1 || len(got.Items[n-1].Tags) != 2 || got.Text != "short" {
			t.Errorf("%d items", n)
		}
		for _, want := range []string{fmt.Sprintf("%d of items", 200-n), fmt.Sprintf("offset %d", 40+n), "/x?offset=40"} {
			if !strings.Contains(note, want) {
				t.Errorf("no %s in %s", want, note)
			}
		}
	})
	t.Run("the hint says it", func(t *testing.T) {
		raw, note := fit(t, answering(hinted{long: many}), `{}`)
		if note != "" || !strings.Contains(raw, `"hint":"An answer has at most 25000 tokens; left out: `) {
			t.Errorf("note %q, %s", note, raw[len(raw)-200:])
		}
	})
	t.Run("the longest of several lists", func(t *testing.T) {
		raw, note := fit(t, answering(long{Items: notes(3, "x"), Inner: &inner{make([]string, 60_000)}}), `{}`)
		if !strings.Contains(note, " of inner.names") || strings.Contains(note, "items") || strings.Count(raw, "title") != 3 {
			t.Error(note)
		}
	})
	t.Run("a text that no list is the longest of", func(t *testing.T) {
		raw, note := fit(t, answering(long{Items: notes(1, "x"), Text: strings.Repeat("港口\n", 20_000)}), `{}`)
		if !strings.Contains(note, "the end of text") || !strings.Contains(raw, `…"`) {
			t.Error(note)
		}
	})
	t.Run("an object", func(t *testing.T) {
		raw, note := fit(t, answering(long{Text: "kept", Meta: map[string]any{"a": strings.Repeat("港", 30_000)}}), `{}`)
		if !strings.Contains(note, "the end of meta") || !strings.Contains(raw, `"kept"`) {
			t.Error(note)
		}
	})
	t.Run("what can be read on says where", func(t *testing.T) {
		raw, note := fit(t, answering(numbered{Lines: strings.Split(strings.Repeat("港口条例\n", 9_000), "\n")}), `{}`)
		var got numbered
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatal(err)
		}
		if note != "" || got.Next != strconv.Itoa(len(got.Lines)) || len(got.Lines) < 4_000 {
			t.Errorf("note %q, %d lines, next %s", note, len(got.Lines), got.Next)
		}
	})
	t.Run("a short one is as it is", func(t *testing.T) {
		if raw, note := fit(t, answering(long{Text: strings.Repeat("ship", 24_900)}), `{}`); note != "" || len(raw) < 99_000 {
			t.Error(note)
		}
	})
}
