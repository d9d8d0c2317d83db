package market

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"almanac/catalog"
	"almanac/text/table"
)

// notDisclosed is a source's value for holders it does not disclose.
const notDisclosed = "not_disclosed"

// supply reads the supply of an asset.
func (r *run) supply(ctx context.Context, a asset) error {
	h, asOf, err := r.held(ctx, a)
	return r.now.Supplies.note(r.known.Supplies, a.Symbol, h, asOf, r.env.Now(), err)
}

func (r *run) held(ctx context.Context, a asset) (h held, asOf string, err error) {
	s := a.Supply
	body, err := r.fetch(ctx, s.URL, s.access)
	if err != nil {
		return held{}, "", err
	}
	n, err := amount(s.Path.Find(body), s.Divide, 0, maxSupply)
	switch {
	case err != nil:
		return held{}, "", err
	case n == nil:
		return held{}, "", fmt.Errorf("the answer has nothing at %q; check option path", s.Path)
	}
	asOf = parseTime(textAt(table.Path(s.AsOf), body), r.env.Now())
	h.Supply = *n
	if s.Holders != "" && textAt(s.Holders, body) != notDisclosed {
		h.Holders = r.count(a, r.figure("asset "+a.Symbol, "holders", s.Holders.Find(body), 0, 0, math.MaxInt32))
	}
	return h, asOf, nil
}

// count returns a figure that is a whole number.
func (r *run) count(a asset, n *float64) *int64 {
	if n == nil {
		return nil
	}
	if *n != math.Trunc(*n) {
		r.out.Warn("asset "+a.Symbol, fmt.Sprintf("holders %g %s", *n, errNoNumber))
		return nil
	}
	return new(int64(*n))
}

// asset makes the record of an asset from what is known about it.
func (r *run) asset(a asset) (catalog.Entry, error) {
	d := catalog.Asset{Issuer: a.Issuer, Native: a.Native, Provenance: catalog.IssuerReported, Decimals: a.Decimals}
	if a.Native {
		d.Provenance = catalog.ChainDerived
	}
	if s, ok := r.now.Supplies[a.Symbol]; ok {
		d.Supply, d.Holders, d.AsOf = &s.Figures.Supply, s.Figures.Holders, s.AsOf
	} else if a.Supply.Value != nil {
		d.Supply, d.AsOf = a.Supply.Value, a.Supply.AsOf
	}
	if q, ok := r.now.Prices[a.Coin]; ok && a.Coin != "" {
		d.PriceUSD, d.PriceAsOf = &q.Figures.Price, q.AsOf
	}
	return catalog.Record{
		Kind: catalog.KindAsset, Key: a.Symbol, Title: a.Name, URL: a.Page, Summary: a.Description, Body: r.assetText(a),
	}.With(d)
}

// assetText describes an asset, without its figures.
func (r *run) assetText(a asset) string {
	name := a.Name
	if name != a.Symbol {
		name += " (" + a.Symbol + ")"
	}
	network := cmp.Or(r.env.Network.Title, "network")
	lines := []string{fmt.Sprintf("%s is an asset on the %s.", name, network), "Its supply is reported by its issuer."}
	switch {
	case a.Native:
		lines = []string{fmt.Sprintf("%s is the native coin of the %s.", name, network),
			"Its supply is derived from the chain."}
	case a.Issuer != "":
		lines[0] = fmt.Sprintf("%s is an asset on the %s, issued by %s.", name, network, a.Issuer)
	}
	text := strings.Join(lines, " ")
	if a.Description != "" {
		text += "\n\n" + a.Description
	}
	return text
}
