package qdrant

import (
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	client "github.com/qdrant/go-client/qdrant"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
)

func TestConditions(t *testing.T) {
	if c := conditions(passage.Filter{}); c != nil {
		t.Errorf("no filter: %v", c)
	}
	at := time.Date(2031, 5, 17, 0, 0, 0, 1500, time.UTC)
	got := conditions(passage.Filter{Kinds: []string{"Doc", "TOPIC"}, States: []string{"open"}, Since: at,
		Until: at.Add(time.Microsecond), Records: []int64{7, 9}})
	us := float64(at.UnixMicro() + 1)
	want := &client.Filter{Must: []*client.Condition{
		client.NewMatchKeywords(kindField, "doc", "topic"), client.NewMatchKeywords(stateField, "open"),
		client.NewRange(dateField, &client.Range{Gte: &us, Lt: client.PtrOf(us + 1)}),
		client.NewMatchInts(recordField, 7, 9)}}
	if !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if payload := payloadOf(7, passage.Attributes{}); payload[dateField] != nil ||
		payload[recordField].GetIntegerValue() != 7 {
		t.Errorf("a record without a date: %v", payload)
	}
}

func TestWeights(t *testing.T) {
	tokens := func(words string) []analysis.Token {
		var list []analysis.Token
		for i, w := range strings.Fields(words) {
			list = append(list, analysis.Token{Term: w, Position: i})
		}
		return list
	}
	p, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
		analysis.Title: tokens("node"), analysis.Heading: tokens("install"),
		analysis.Body: tokens("install the node and install it"), analysis.Path: tokens("guide")}))
	if err != nil {
		t.Fatal(err)
	}
	terms, weights := weightsOf(p)
	got := map[analysis.TermID]float64{}
	for i, term := range terms {
		if i > 0 && terms[i-1] >= term {
			t.Errorf("terms are not ascending: %v", terms)
		}
		got[analysis.TermID(term)] = float64(weights[i])
	}
	const length = 2*1 + 1 + 6 + 0.5
	for word, tf := range map[string]float64{"node": 3, "install": 3, "the": 1, "and": 1, "it": 1, "guide": 0.5} {
		want := tf * 2.2 / (tf + 1.2*(0.25+0.75*length/80))
		if math.Abs(got[analysis.IDOf(word)]-want) > 1e-6 {
			t.Errorf("%s: weight %v, want %v", word, got[analysis.IDOf(word)], want)
		}
	}
	if len(terms) != 6 {
		t.Errorf("%d terms", len(terms))
	}
	if terms, weights := weightsOf(analysis.Packed{}); len(terms)+len(weights) != 0 {
		t.Errorf("no terms: %v, %v", terms, weights)
	}
}
