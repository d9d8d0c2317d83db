package search

import (
	"context"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
)

// Finds are the records that a finder found.
type Finds struct {
	Query string `json:"query"`
	find.Found[Said]
}

// finds searches among kinds, the best first.
func finds(ctx context.Context, b kb.Base, s find.Search) (Finds, error) {
	found, err := find.Rows(ctx, b, s, said)
	return Finds{s.Query, found}, err
}

var apps = kb.New(op.Spec{
	ID: "find_apps_by_pattern", Tool: "find_apps_by_pattern", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindApp, catalog.KindProject},
	Doc: `
Find applications
Featured applications and projects by name, category or description.

Searches the catalogue of applications by name, category and description. For the whole list use list_featured_apps.
`,
}, func(ctx context.Context, b kb.Base, in patternIn) (Finds, error) {
	kinds := []catalog.Kind{catalog.KindApp, catalog.KindProject}
	return finds(ctx, b, find.Search{Field: "pattern", Query: in.Pattern, Kinds: kinds, Limit: in.Limit})
})

type patternIn struct {
	Pattern string `json:"pattern" required:"true" maxLength:"1000" doc:"name, category or what it does"`
	Limit   int    `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
}

type similarIn struct {
	Description string `json:"description" required:"true" maxLength:"4000" doc:"of a project, in your own words"`
	Limit       int    `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
	arg.Skip
}

var similar = kb.New(op.Spec{
	ID: "find_similar_projects", Tool: "find_similar_projects", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindProject},
	Doc: `
Find similar projects
Ecosystem projects like a description.

Finds the ecosystem projects most like a description, by meaning. For grants as well use detect_builder_overlap.
`,
}, func(ctx context.Context, b kb.Base, in similarIn) (Finds, error) {
	return finds(ctx, b, find.Search{
		Field: "description", Query: in.Description, Plain: true, Kinds: []catalog.Kind{catalog.KindProject}, Limit: in.Limit,
		Offset: in.Offset,
	})
})

var forgeIssues = kb.New(op.Spec{
	ID: "search_forge_issues", Tool: "search_forge_issues", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindIssue},
	Doc: `
Search issues
Full-text search of the repositories' issues.

Searches the issues of every indexed repository by words and meaning; state narrows it to open or closed ones.
`,
}, func(ctx context.Context, b kb.Base, in issuesIn) (Finds, error) {
	s := find.Search{
		Field: "query", Query: in.Query, Kinds: []catalog.Kind{catalog.KindIssue}, Limit: in.Limit,
		Offset: in.Offset,
	}
	s.Filter.States = arg.Only(in.State, "all")
	return finds(ctx, b, s)
})

type issuesIn struct {
	Query string         `json:"query" required:"true" maxLength:"4000" doc:"error, symptom or feature"`
	State arg.GrantState `json:"state" default:"all" doc:"state of the issues"`
	Limit int            `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
	arg.Skip
}

type mailIn struct {
	Query string `json:"query" required:"true" maxLength:"4000" doc:"what was written about"`
	Group string `json:"group" maxLength:"100" doc:"only this mailing list, such as cip-discuss"`
	Limit int    `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
	arg.Skip
}

var mail = kb.New(op.Spec{
	ID: "search_mailing_list", Tool: "search_mailing_list", MayFail: unavailable,
	Kinds: catalog.KindsAt(catalog.PlaceMail),
	Doc: `
Search the mailing lists
Messages and threads of the mailing lists.

Searches the messages of the mailing lists by words and meaning; group narrows it to one list. Read the thread with
get_mailing_thread and the id of a result.
`,
}, func(ctx context.Context, b kb.Base, in mailIn) (Finds, error) {
	s := find.Search{
		Field: "query", Query: in.Query, Kinds: arg.SearchType(catalog.SearchMail).Kinds(), Limit: in.Limit,
		Offset: in.Offset,
	}
	s.Filter.Containers = arg.Only(in.Group, "")
	return finds(ctx, b, s)
})

var talks = kb.New(op.Spec{
	ID: "search_talks", Tool: "search_talks", MayFail: unavailable, Kinds: []catalog.Kind{catalog.KindVideo},
	Doc: `
Search talks
Talks by title and transcript, with the passage that matched.

Searches talks and recordings by title and transcript and returns the passage that matched. Read one with get_video
and the id of a result.
`,
}, func(ctx context.Context, b kb.Base, in talksIn) (Finds, error) {
	return finds(ctx, b, find.Search{
		Field: "query", Query: in.Query, Kinds: []catalog.Kind{catalog.KindVideo}, Limit: in.Limit,
		Offset: in.Offset,
	})
})

type talksIn struct {
	Query string `json:"query" required:"true" maxLength:"4000" doc:"what was talked about"`
	Limit int    `json:"limit" default:"5" minimum:"1" maximum:"50" doc:"how many to return"`
	arg.Skip
}

// SecurityFix is a release whose notes speak of security.
type SecurityFix struct {
	kb.Item
	Version   string `json:"version"`
	Statement string `json:"statement" doc:"the first sentence of the notes that speaks of security"`
}

var security = kb.New(op.Spec{
	ID: "find_security_patches", Tool: "find_security_patches", Kinds: []catalog.Kind{catalog.KindRelease},
	Doc: `
Find security fixes
Releases whose notes speak of security, newest first.

Lists the releases whose notes speak of a vulnerability, a CVE or a security patch, newest first.
`,
}, func(ctx context.Context, b kb.Base, in securityIn) (kb.List[SecurityFix], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindRelease}, AllTags: []string{catalog.TagSecurity}, Order: catalog.ByCreated,
		WithBody: true,
	}
	return kb.Rows(ctx, b, q, arg.Paging{Limit: in.Limit}, func(b kb.Base, r catalog.Record) (SecurityFix, error) {
		d, err := kb.Decode[catalog.Release](r)
		return SecurityFix{b.Item(r), d.Version, derive.SecurityStatement(r.Body)}, err
	})
})

type securityIn struct {
	Limit int `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
}
