package api

import (
	"almanac/api/cips"
	"almanac/api/community"
	"almanac/api/devfund"
	"almanac/api/kb"
	"almanac/api/library"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/operations"
	"almanac/api/releases"
	"almanac/api/search"
)

// Operations lists the operations of every group over a knowledge base, in
// the order clients see them.
func Operations(b kb.Base) []op.Operation {
	var all []op.Operation
	all = append(all, meta.Operations(b, func() []op.Operation { return all })...)
	for _, group := range []func(kb.Base) []op.Operation{
		cips.Operations, devfund.Operations, operations.Operations, search.Operations, library.Operations, community.Operations, releases.Operations,
	} {
		all = append(all, group(b)...)
	}
	return all
}
