package qdrant

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	client "github.com/qdrant/go-client/qdrant"

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
