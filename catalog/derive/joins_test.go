package derive_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/testing/recordtest"
)

// targets are the links of the entries, by the key of their record.
func targets(t *testing.T, entries []catalog.Entry) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, e := range entries {
		if !e.Addition || e.Record.Title != "" {
			t.Errorf("%s is more than an addition", e.Record.Ref())
		}
		for _, l := range e.Links {
			out[e.Record.Key] = append(out[e.Record.Key], l.To.String())
		}
	}
	return out
}

func TestJoins(t *testing.T) {
	project := func(key, title, url string, d catalog.Project) catalog.Record {
		return recordtest.With(catalog.Record{Kind: catalog.KindProject, Key: key, Title: title, URL: url}, d)
	}
	app := func(key, title, project string) catalog.Record {
		return recordtest.With(catalog.Record{Kind: catalog.KindApp, Key: key, Title: title}, catalog.App{Project: project})
	}
	repos := []catalog.Record{
		recordtest.With(catalog.Record{Kind: catalog.KindRepo, Key: "saltpan/lantern"},
			catalog.Repo{FullName: "Saltpan/Lantern"}),
		{Kind: catalog.KindRepo, Key: "saltpan/wick"},
	}
	for name, c := range map[string]struct {
		projects, apps []catalog.Record
		want           map[string][]string
	}{
		"nothing": {nil, nil, map[string][]string{}},
		"a repository by name": {[]catalog.Record{project("p", "P", "",
			catalog.Project{Repos: []string{"SALTPAN/lantern", "saltpan/unknown"}})}, nil,
			map[string][]string{"p": {"repo saltpan/lantern"}}},
		"by address": {[]catalog.Record{project("p", "P", "https://forge.example.org/saltpan/wick.git",
			catalog.Project{Links: []catalog.NamedLink{{
				URL: "https://forge.example.org/saltpan/lantern/tree/main#top"}}})}, nil,
			map[string][]string{"p": {"repo saltpan/wick", "repo saltpan/lantern"}}},
		"both once": {[]catalog.Record{project("p", "P", "https://forge.example.org/saltpan/wick",
			catalog.Project{Repos: []string{"saltpan/wick"}})}, nil, map[string][]string{"p": {"repo saltpan/wick"}}},
		"an app that it names": {[]catalog.Record{project("p", "P", "",
			catalog.Project{Apps: []string{"00a", "00gone"}})}, []catalog.Record{app("00a", "Lamp", "")},
			map[string][]string{"p": {"app 00a"}}},
		"an app that names it": {[]catalog.Record{project("p", "P", "", catalog.Project{})},
			[]catalog.Record{app("00a", "Lamp", "p")}, map[string][]string{"p": {"app 00a"}}},
		"an app of its name": {[]catalog.Record{project("p", "The Lamp", "", catalog.Project{})},
			[]catalog.Record{app("00a", "the  lamp", "")}, map[string][]string{"p": {"app 00a"}}},
		"not of another's": {[]catalog.Record{project("p", "Lamp", "", catalog.Project{})},
			[]catalog.Record{app("00a", "Lamp", "other")}, map[string][]string{}},
		"not of a name of two": {[]catalog.Record{project("p", "Lamp", "", catalog.Project{}),
			project("q", "Lamp", "", catalog.Project{})}, []catalog.Record{app("00a", "Lamp", "")},
			map[string][]string{}},
		"an address without a path": {[]catalog.Record{project("p", "P", "https://example.org",
			catalog.Project{Repos: []string{"", "://", "wick"}})}, nil, map[string][]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := derive.Joins(t.Context(), c.projects, repos, c.apps)
			if d := cmp.Diff(c.want, targets(t, made)); err != nil || d != "" {
				t.Error(err, d)
			}
		})
	}
}

func TestOperationLinks(t *testing.T) {
	release := func(id int64, key, title, repository, version string) catalog.Record {
		return recordtest.With(catalog.Record{ID: id, Kind: catalog.KindRelease, Key: key, Title: title,
			Container: repository},
			catalog.Release{Version: version})
	}
	releases := []catalog.Record{
		release(1, "lantern-2", "Lantern 2.0.0", "saltpan/lantern", "2.0.0"),
		release(2, "lantern-2-copy", "Lantern 2.0.0", "saltpan/docs", "v2.0.0"),
		release(3, "wick-2", "Wick 2.0.0", "saltpan/wick", "2.0.0"), release(4, "wick-3", "Wick 3.1.0", "saltpan/wick",
			"3.1.0"),
		release(5, "wick-3-rc", "Wick 3.1.0-rc.2", "saltpan/wick", "3.1.0-rc.2"),
	}
	for name, c := range map[string]struct {
		title string
		data  catalog.Operation
		want  string
	}{
		"a name and a version": {"Deploy lantern v2.0.0 to the estuary", catalog.Operation{},
			"release lantern-2"},
		"the other name": {"Wick 2.0.0 (estuary)", catalog.Operation{}, "release wick-2"},
		"a component instead of the name": {"Release 2.0.0.",
			catalog.Operation{Components: []string{"wick"}}, "release wick-2"},
		"a version of two programs":   {"Release 2.0.0", catalog.Operation{}, ""},
		"both names":                  {"Lantern and wick 2.0.0", catalog.Operation{}, ""},
		"a version that only one has": {"Upgrade to v3.1.0", catalog.Operation{}, "release wick-3"},
		"a candidate is another version": {"Upgrade to 3.1.0-rc.2", catalog.Operation{},
			"release wick-3-rc"},
		"a version in the data": {"Spring upgrade", catalog.Operation{Version: "3.1.0"},
			"release wick-3"},
		"the title before the data": {"Spring upgrade, 3.1.0", catalog.Operation{Version: "9.9.9"},
			"release wick-3"},
		"no version":     {"Spring upgrade", catalog.Operation{}, ""},
		"an unknown one": {"Lantern 9.9.9", catalog.Operation{}, ""},
		"a date is not a version": {"Lantern maintenance 2031.03.08 12.30", catalog.Operation{},
			""},
		"the first known of several":                  {"Upgrade 1.0.0 → 3.1.0", catalog.Operation{}, "release wick-3"},
		"part of a longer number is not a version":    {"Wick 13.1.0.5.7", catalog.Operation{}, ""},
		"an address of four numbers is not a version": {"Move to 10.3.1.0", catalog.Operation{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := recordtest.With(catalog.Record{Kind: catalog.KindOperation, Key: "op", Title: c.title}, c.data)
			got := ""
			made, err := derive.OperationLinks(t.Context(), []catalog.Record{o}, releases)
			for _, to := range targets(t, made)["op"] {
				got += to
			}
			if err != nil || got != c.want {
				t.Errorf("%q leads to %q (%v), want %q", c.title, got, err, c.want)
			}
		})
	}
}
