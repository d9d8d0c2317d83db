package privacy

import (
	"bytes"
	"encoding/json"
	"slices"

	"almanac/catalog"
	"almanac/text/visible"
)

// VisibleData is visible.Text for the strings of a JSON text and the names of its members. The text must be
// valid.
func VisibleData(data json.RawMessage) json.RawMessage {
	if !bytes.Contains(data, []byte(`\u`)) && !bytes.ContainsFunc(data, visible.Hidden) {
		return data
	}
	return mapStrings(data, func(s string, _ bool) string { return visible.Text(s) })
}

// VisibleEntry is visible.Text for the texts of an entry. Keys stay: checkRef refuses
// those that hide something.
func VisibleEntry(e *catalog.Entry) {
	r := &e.Record
	texts := []*string{&r.Title, &r.Author, &r.Summary, &r.Body, &r.Container, &r.State, &r.Category, &r.Path}
	for _, text := range texts {
		*text = visible.Text(*text)
	}
	r.URL, r.Data = visible.Address(r.URL), VisibleData(r.Data)
	r.Tags, e.Aliases = visibleAll(r.Tags), visibleAll(e.Aliases)
	if f := e.Facts; f != nil {
		f.State, f.Category = visible.Text(f.State), visible.Text(f.Category)
		f.Tags, f.Data = visibleAll(f.Tags), VisibleData(f.Data)
	}
	for i := range e.Links {
		e.Links[i].Snippet, e.Links[i].To.Key = visible.Text(e.Links[i].Snippet), visible.Text(e.Links[i].To.Key)
	}
	for i := range e.Votes {
		v := &e.Votes[i]
		v.Voter, v.Choice = visible.Text(v.Voter), visible.Text(v.Choice)
		v.Reason, v.URL = visible.Text(v.Reason), visible.Address(v.URL)
	}
}

func visibleAll(texts []string) []string {
	if !slices.ContainsFunc(texts, func(s string) bool { return visible.Text(s) != s }) {
		return texts
	}
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = visible.Text(s)
	}
	return out
}
