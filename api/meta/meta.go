// Package meta holds the operations on the service itself: its endpoints, its
// sources and its health, and the resources that describe it.
package meta

import (
	"almanac/api/kb"
	"almanac/api/op"
)

type service struct{ kb.Base }

// Operations returns the group's operations but the Index, which lists those
// of every group.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	return []op.Operation{kb.New(b, sourcesSpec, s.sources), kb.New(b, statusSpec, s.status)}
}
