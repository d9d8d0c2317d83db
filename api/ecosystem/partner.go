package ecosystem

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Partner is the content of the resource of the network's partner.
type Partner struct {
	kb.Named
	Description string `json:"description"`
	catalog.Partner
	Text string `json:"text"`
}

// PartnerResource returns the reference data of the partner that the network's
// file names.
func PartnerResource(ctx context.Context, b kb.Base) (any, error) {
	if b.Network.Partner == "" {
		return nil, op.NotFound("the network names no partner")
	}
	r, err := b.Keyed(ctx, catalog.KindPartner, b.Network.Partner)
	if err != nil {
		return nil, err
	}
	d, err := kb.Decode[catalog.Partner](r)
	return Partner{b.Named(r), r.Summary, d, r.Body}, err
}
