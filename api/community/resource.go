package community

import (
	"context"

	"almanac/api/kb"
	"almanac/catalog/derive"
	"almanac/catalog/network"
)

// Community is the content of the resource kb://community.
type Community struct {
	Places []network.Place `json:"places" doc:"where people talk"`
	derive.Community
}

// CommunityResource returns where people talk, by the network's file, and how
// much of it is indexed.
func CommunityResource(ctx context.Context, b kb.Base) (any, error) {
	counts, err := b.Counts(ctx)
	return Community{b.Network.Community, derive.CountCommunity(counts)}, err
}
