package search

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var notesSpec = op.Spec{
	ID: "search_release_notes", Tool: "search_release_notes", Title: "Search release notes", MayFail: unavailable,
	Summary:     "Release notes that mention a feature.",
	Description: "Searches the release notes of every indexed repository for a feature, fix or change and names the version.",
}

type notesIn struct {
	Feature string `json:"feature" required:"true" doc:"feature, fix or change to look for"`
}

// Notes are the found release notes.
type Notes struct {
	Feature string `json:"feature"`
	kb.Found[Note]
}

// Note is one release's notes with the passage that matched.
type Note struct {
	kb.Item
	Repository string `json:"repository"`
	Version    string `json:"version"`
	Prerelease bool   `json:"prerelease"`
	kb.Why
}

func (s service) notes(ctx context.Context, in notesIn) (Notes, error) {
	search := kb.Search{Field: "feature", Query: in.Feature, Kinds: []catalog.Kind{catalog.KindRelease}, Limit: found}
	all, err := kb.FindRows(ctx, s.Base, search, func(m kb.Match) (Note, error) {
		d, err := kb.Decode[catalog.Release](m.Record)
		n := Note{s.Item(m.Record), m.Record.Container, d.Version, d.Prerelease, m.Why()}
		n.Container = "" // it is the repository
		return n, err
	})
	return Notes{in.Feature, all}, err
}
