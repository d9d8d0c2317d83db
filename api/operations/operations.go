// Package operations holds the operations on the network as it runs: its
// state, its market, and the size of the knowledge base.
package operations

import (
	"almanac/api/kb"
	"almanac/api/op"
)

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	return []op.Operation{
		kb.New(b, statsSpec, s.stats),
		kb.New(b, networkSpec, s.network),
		kb.New(b, networkHistorySpec, s.networkHistory),
		kb.New(b, marketSpec, s.market),
		kb.New(b, marketHistorySpec, s.marketHistory),
	}
}
