package api

import (
	"context"

	"almanac/api/cips"
	"almanac/api/community"
	"almanac/api/describe"
	"almanac/api/devfund"
	"almanac/api/ecosystem"
	"almanac/api/kb"
	"almanac/api/library"
	"almanac/api/meta"
	"almanac/api/onboarding"
	"almanac/api/op"
	"almanac/api/operations"
	"almanac/api/releases"
	"almanac/api/search"
)

// groups are the packages of operations in the order clients see them. A
// group's name is its toolset and its tag in OpenAPI.
var groups = []struct {
	describe.Group
	operations []kb.Op
}{
	{describe.Group{Name: "meta", Description: "The service itself: endpoints, sources, health."}, meta.Operations},
	{describe.Group{Name: "cips", Description: "Improvement proposals."}, cips.Operations},
	{describe.Group{Name: "devfund", Description: "Grant proposals."}, devfund.Operations},
	{describe.Group{Name: "operations", Description: "The network as it runs."}, operations.Operations},
	{describe.Group{Name: "search", Description: "Search over everything."}, search.Operations},
	{describe.Group{Name: "library", Description: "Documents and full texts."}, library.Operations},
	{describe.Group{Name: "ecosystem", Description: "What is built on the network."}, ecosystem.Operations},
	{describe.Group{Name: "community", Description: "Discussions and what is new."}, community.Operations},
	{describe.Group{Name: "onboarding", Description: "What to know."}, onboarding.Operations},
	{describe.Group{Name: "releases", Description: "Packages and releases."}, releases.Operations},
}

// Operations lists the operations of every group over a knowledge base.
func Operations(b kb.Base) []op.Operation {
	b = b.Prepared()
	var all []op.Operation
	for _, g := range groups {
		for _, of := range g.operations {
			o := of(b)
			o.Group = g.Name
			all = append(all, o)
		}
	}
	all = append(all, referencePage)
	return append([]op.Operation{meta.Index(b, all)}, all...)
}

// referencePage is the page that documents the operations, which the pages serve.
var referencePage = op.New(op.Spec{
	ID: "get_reference", Group: groups[0].Name, Path: "/api/v1/reference", BeforeReady: true,
	Forms:   []op.Form{{Type: "text/html; charset=utf-8", Only: true}},
	Summary: "These endpoints as a page for people, with forms to try them.",
}, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })

// title is that of the service; network is what people call the network.
func title(network string) string {
	if network == "" {
		return "almanac"
	}
	return network + " knowledge base"
}

// Groups are the groups of operations in the order clients see them.
func Groups() []describe.Group {
	out := make([]describe.Group, len(groups))
	for i, g := range groups {
		out[i] = g.Group
	}
	return out
}

// exactNames are the types that the specification names.
var exactNames = []string{"CipTldr", "SourcesResponse", "ActivityStream"}
