// Package releases holds the operations on releases and their notes. It
// imports kb and op.
package releases

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
)

const group = "search" // the tool belongs to the search group of the catalogue

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	return []op.Operation{
		op.New(op.Spec{ID: "search_release_notes", Group: group, Tool: "search_release_notes", Title: "Search release notes",
			Summary:     "Release notes that mention a feature.",
			Description: "Searches the release notes of every indexed repository for a feature, fix or change and names the version."}, s.search),
	}
}

type searchIn struct {
	Feature string `json:"feature" required:"true" doc:"feature, fix or change to look for"`
}

// Notes are the found release notes.
type Notes struct {
	Feature string `json:"feature"`
	Items   []Note `json:"items"`
	Total   int    `json:"total"`
}

// Note is one release's notes with the place that matched.
type Note struct {
	RecordID   int64      `json:"record_id" doc:"reads the notes with get_doc"`
	Repository string     `json:"repository"`
	Version    string     `json:"version"`
	Title      string     `json:"title"`
	Heading    string     `json:"heading,omitempty"`
	Snippet    string     `json:"snippet"`
	Score      float64    `json:"score"`
	Prerelease bool       `json:"prerelease"`
	Date       *time.Time `json:"date"`
	URL        string     `json:"url"`
	Path       string     `json:"path,omitempty"`
}

// results is the number of releases that are answered.
const results = 10

func (s service) search(ctx context.Context, in searchIn) (Notes, error) {
	res, err := s.Find(ctx, "feature", retrieval.Request{Query: in.Feature, Limit: results, Filter: passage.Filter{Kinds: []string{string(catalog.KindRelease)}}})
	if err != nil {
		return Notes{}, err
	}
	found, err := s.Found(ctx, res.Results)
	if err != nil {
		return Notes{}, err
	}
	n := Notes{Feature: res.Query, Total: res.Total}
	for _, f := range found {
		r, x := f.Record, f.Result
		d, err := kb.Decode[catalog.Release](r)
		if err != nil {
			return Notes{}, err
		}
		n.Items = append(n.Items, Note{RecordID: r.ID, Repository: r.Container, Version: d.Version, Title: r.Title, Heading: x.Heading, Snippet: x.Snippet,
			Score: x.Score, Prerelease: d.Prerelease, Date: kb.Time(r.CreatedAt), URL: s.URL(r), Path: r.Path})
	}
	return n, nil
}
