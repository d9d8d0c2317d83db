package ecosystem

import (
	"context"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
)

// Repo is an indexed repository.
type Repo struct {
	kb.Item
	Description string `json:"description"`
	Issues      int    `json:"issues"`
	Pulls       int    `json:"pulls"`
}

var repos = kb.New(op.Spec{
	ID: "list_repos", Path: "/api/v1/repos", Tool: "list_repos", Kinds: []catalog.Kind{catalog.KindRepo},
	Doc: `
List repositories
Indexed repositories with their numbers of issues and pull requests.

Lists the indexed repositories with their issue and pull-request counts; the grant repository is left out.
`,
}, func(ctx context.Context, b kb.Base, _ struct{}) (kb.List[Repo], error) {
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindRepo}, Order: catalog.ByKey}
	return kb.Rows(ctx, b, q, arg.Paging{}, repo)
})

func repo(b kb.Base, r catalog.Record) (Repo, error) {
	d, err := kb.Decode[catalog.Repo](r)
	return Repo{b.Item(r), d.Description, d.Issues, d.Pulls}, err
}

// Project is an ecosystem project.
type Project struct {
	kb.Named
	Category     string              `json:"category"`
	Description  string              `json:"description"`
	Organisation string              `json:"organisation,omitempty"`
	Repos        []string            `json:"repos"`
	Links        []catalog.NamedLink `json:"links"`
}

func project(b kb.Base, r catalog.Record) (Project, error) {
	d, err := kb.Decode[catalog.Project](r)
	return Project{b.Named(r), r.Category, r.Summary, d.Organisation, d.Repos, d.Links}, err
}

type projectsIn struct {
	Category string `json:"category" maxLength:"100" doc:"only this category"`
	Query    string `json:"q" tool:"query" maxLength:"200" doc:"part of the name or category"`
	arg.Paging
}

var projects = kb.New(op.Spec{
	ID: "list_ecosystem_projects", Path: "/api/v1/ecosystem", Tool: "list_ecosystem_projects",
	Kinds: []catalog.Kind{catalog.KindProject},
	Doc: `
List ecosystem projects
The curated catalogue of projects, by name.

Lists the curated projects by name with category, description and address; filter by category or text. For a
description in your own words use find_similar_projects or search.
`,
}, func(ctx context.Context, b kb.Base, in projectsIn) (kb.List[Project], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindProject}, Order: catalog.ByTitle, Text: in.Query,
		Categories: arg.Only(in.Category, ""),
	}
	return kb.Rows(ctx, b, q, in.Paging, project)
})

// ToolServer is a known tool-call server.
type ToolServer struct {
	kb.Named
	Purpose  string   `json:"purpose"`
	Connect  string   `json:"connect" doc:"how to connect"`
	Endpoint string   `json:"endpoint,omitempty"`
	Hosted   bool     `json:"hosted"`
	Free     bool     `json:"free"`
	Callable bool     `json:"callable" doc:"whether call_network_mcp passes calls on"`
	Tools    []string `json:"tools"`
}

var toolServers = kb.New(op.Spec{
	ID: "list_network_mcps", Tool: "list_network_mcps", Kinds: []catalog.Kind{catalog.KindToolServer},
	Doc: `
List tool servers
Known tool-call servers: purpose, how to connect, free or hosted.

Lists the known tool-call servers of the network: what they are for, how to connect, whether they are free and hosted,
and whether calls can be passed on to them.
`,
}, func(ctx context.Context, b kb.Base, _ struct{}) (kb.List[ToolServer], error) {
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindToolServer}, Order: catalog.ByTitle}
	return kb.Rows(ctx, b, q, arg.Paging{}, toolServer)
})

func toolServer(b kb.Base, r catalog.Record) (ToolServer, error) {
	d, err := kb.Decode[catalog.ToolServer](r)
	return ToolServer{b.Named(r), r.Summary, d.Connect, d.Endpoint, d.Hosted, d.Free, d.Callable(), d.Tools}, err
}
