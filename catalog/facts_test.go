package catalog_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

func TestFactsOverARecord(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	owner := catalog.Record{Title: "Lamps", State: "closed", Category: "tooling", LastActivityAt: at,
		Tags: []string{"label:tooling", "status:closed", "stub"}, Data: json.RawMessage(`{"merged":false,"n":1}`)}
	got := catalog.Facts{State: "open", Category: "wallets", LastActivityAt: at.Add(time.Hour),
		Tags: []string{"status:open", "label:wallets", "label:keys", "security"},
		Data: json.RawMessage(`{"merged":null,"pull":{"state":"open"}}`)}.Over(owner)
	want := catalog.Record{Title: "Lamps", State: "open", Category: "wallets", LastActivityAt: at.Add(time.Hour),
		Tags: []string{"label:keys", "label:wallets", "security", "status:open", "stub"},
		Data: json.RawMessage(`{"n":1,"pull":{"state":"open"}}`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if again := (catalog.Facts{LastActivityAt: at}).Over(got); !cmp.Equal(again, got) {
		t.Errorf("an earlier activity made it %+v", again)
	}
}

// The examples are those of RFC 7396, appendix A, for records that have data.
func TestDataOfFactsIsAMergePatch(t *testing.T) {
	for _, tt := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{``, `{"a":1}`, `{"a":1}`},
	} {
		r := catalog.Facts{Data: json.RawMessage(tt[1])}.Over(catalog.Record{Data: json.RawMessage(tt[0])})
		if string(r.Data) != tt[2] {
			t.Errorf("%s with %s became %s, want %s", tt[0], tt[1], r.Data, tt[2])
		}
	}
}

func TestNormalizeFacts(t *testing.T) {
	normal := func(f *catalog.Facts) (*catalog.Facts, error) {
		e, err := catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "k"}, Facts: f}.Normalize()
		return e.Facts, err
	}
	if f, err := normal(&catalog.Facts{Tags: []string{""}}); f != nil || err != nil {
		t.Errorf("nothing became %+v, %v", f, err)
	}
	in := &catalog.Facts{State: "a\xffb", Tags: []string{"b", "a", "b"}, Data: json.RawMessage(`{ "a": 1 }`)}
	want := &catalog.Facts{State: "a\uFFFDb", Tags: []string{"a", "b"}, Data: json.RawMessage(`{"a":1}`)}
	f, err := normal(in)
	if diff := cmp.Diff(want, f); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if in.Tags[0] != "b" {
		t.Error("the argument was changed")
	}
	for _, data := range []string{`{`, `[1]`, `null`, `"a"`} {
		if _, err := normal(&catalog.Facts{Data: json.RawMessage(data)}); !errors.Is(err, catalog.ErrBadEntry) {
			t.Errorf("data %s: %v", data, err)
		}
	}
}
