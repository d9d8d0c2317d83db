// Package community holds the operations on what the community says and what
// is new.
package community

import (
	"almanac/api/kb"
	"almanac/api/op"
)

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	return []op.Operation{
		kb.New(b, changesSpec, s.changes),
		kb.New(b, trendingSpec, s.trending),
		kb.New(b, discussionSpec, s.discussion),
	}
}
