package retrieval_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"almanac/retrieval"
	"almanac/retrieval/ranking"
)

// TestNoAnswerLeadsToWhatASearchWorkedOn: its candidates and documents are used
// again by the next search.
func TestNoAnswerLeadsToWhatASearchWorkedOn(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(path string, x reflect.Type)
	look = func(path string, x reflect.Type) {
		if seen[x] {
			return
		}
		seen[x] = true
		for _, of := range []string{"retrieval.candidate", "retrieval.scratch", "corpus.", "keyword."} {
			if strings.HasPrefix(x.String(), of) {
				t.Errorf("%s is a %v", path, x)
			}
		}
		switch x.Kind() {
		case reflect.Struct:
			for i := range x.NumField() {
				look(path+"."+x.Field(i).Name, x.Field(i).Type)
			}
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(path, x.Elem())
		case reflect.Func, reflect.Interface, reflect.Chan:
			t.Errorf("%s may lead anywhere: %v", path, x)
		}
	}
	look("Response", reflect.TypeFor[retrieval.Response]())
	look("Absence", reflect.TypeFor[retrieval.Absence]())
	look("Signal", reflect.TypeFor[retrieval.Signal]())
	if len(seen) < 10 {
		t.Errorf("only %d types were seen", len(seen))
	}
}

// TestAnswersStayAsTheyAre while other searches use the same memory.
func TestAnswersStayAsTheyAre(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, append(library(), handbook())...)
	queries := []string{"rotate keys", "harbour crane", "vote windows cip", "traffic fees", "wallet", "xylophone -crane"}
	var answers []retrieval.Response
	var written []string
	for _, q := range queries {
		res := f.search(t, retrieval.Request{Query: q, Explain: true, Distinct: true, Whole: 3, Joined: true,
			Facets: []string{"kind"}})
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		answers, written = append(answers, res), append(written, string(text))
	}
	for i, res := range answers {
		if text, err := json.Marshal(res); err != nil || string(text) != written[i] {
			t.Errorf("%s: was\n%s\nand is\n%s\n%v", queries[i], written[i], text, err)
		}
	}
}

// TestTheClockIsOne: by a clock that stands, nothing takes time, and the pins of its
// day are in force.
func TestTheClockIsOne(t *testing.T) {
	day := time.Date(2031, 5, 6, 23, 59, 59, 0, time.UTC)
	f := open(t, t.TempDir(), func(f *fixture) { f.now = func() time.Time { return day } })
	f.put(t, library()...)
	fees := f.search(t, retrieval.Request{Query: "traffic fees"}).Results[0].Record
	if err := f.publish(retrieval.Pin{Query: "wallet", Places: []retrieval.Place{{ID: fees, Position: 1}},
		From: ranking.Day{Time: day}, Until: ranking.Day{Time: day}}); err != nil {
		t.Fatal(err)
	}
	res := f.search(t, retrieval.Request{Query: "wallet", Diversify: true})
	if res.Results[0].Record != fees {
		t.Errorf("the pin of the day is not in force: %q", titles(res))
	}
	for stage, took := range res.Timings {
		if took != 0 || res.Took != 0 {
			t.Errorf("%s took %v of %v", stage, took, res.Took)
		}
	}
	for _, stage := range []string{"plan", "retrieve", "retrieve/dense", "embed", "fuse", "cosines", "rerank", "pin",
		"show"} {
		if _, ok := res.Timings[stage]; !ok {
			t.Errorf("%s is not measured: %v", stage, res.Timings)
		}
	}
}
