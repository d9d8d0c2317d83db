package op_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"almanac/api/op"
	"almanac/testing/optest"
)

type part struct {
	List []string `json:"list"`
}

type hidden struct {
	Inner []string `json:"inner"`
}

type answerType struct {
	hidden
	Nil     []int             `json:"nil"`
	Full    []part            `json:"full"`
	Pointer *part             `json:"pointer"`
	Map     map[string]part   `json:"map"`
	Empty   map[string]string `json:"empty"`
	Time    time.Time         `json:"time"`
	Maybe   *time.Time        `json:"maybe"`
	Any     any               `json:"any"`
	Raw     json.RawMessage   `json:"raw"`
	Left    []string          `json:"left,omitempty"`
	Zero    []string          `json:"zero,omitzero"`
	Array   [1]part           `json:"array"`
	Text    string            `json:"text"`
}

func TestEncode(t *testing.T) {
	zone := time.FixedZone("", 7200)
	at := time.Date(2026, 1, 1, 1, 0, 0, 0, zone)
	in := answerType{
		Full: []part{{}}, Pointer: &part{}, Map: map[string]part{"a": {}}, Time: at, Maybe: &at,
		Any: map[string]any{"x": []string(nil), "t": at}, Raw: json.RawMessage(`{"a":null}`), Text: "<a> & b",
	}
	o := op.New(op.Spec{ID: "x"}, func(context.Context, struct{}) (answerType, error) { return in, nil })
	got, err := op.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"inner":[],"nil":[],"full":[{"list":[]}],"pointer":{"list":[]},"map":{"a":{"list":[]}},"empty":{},"time":"2025-12-31T23:00:00Z","maybe":"2025-12-31T23:00:00Z","any":{"t":"2025-12-31T23:00:00Z","x":[]},"raw":{"a":null},"array":[{"list":[]}],"text":"<a> & b"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err := optest.CheckOutput(o, got); err != nil {
		t.Error(err)
	}
	if in.Full[0].List != nil || in.Pointer.List != nil || in.Map["a"].List != nil || in.Maybe.Location() != zone {
		t.Error("the answer was changed: it may be shared")
	}
}

func BenchmarkEncode(b *testing.B) {
	rows := make([]answerType, 50)
	for b.Loop() {
		if _, err := op.Encode(rows); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeTool(b *testing.B) {
	o := find(b, "search_books")
	args := json.RawMessage(`{"query":"x","kinds":["novel"],"pages":[1,2],"exact":true}`)
	for b.Loop() {
		if _, err := o.DecodeTool(args); err != nil {
			b.Fatal(err)
		}
	}
}
