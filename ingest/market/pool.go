package market

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"almanac/catalog"
	"almanac/text/table"
)

// maxPools is the maximum number of pools read from a venue.
const maxPools = 2000

// venue reads the pools of a venue. If its list cannot be read, their records
// are kept.
func (r *run) venue(ctx context.Context, v venue) error {
	body, err := r.fetch(ctx, v.URL, v.access)
	if err != nil {
		r.whole = false
		return err
	}
	entries, ok := v.Pools.List(body)
	if !ok {
		r.whole = false
		return fmt.Errorf("the answer has no list at %q; look at option pools", v.Pools)
	}
	of := parseTime(textAt(v.AsOf, body), r.env.Now()) // of the answer as a whole
	n, bad := 0, 0
	for i, data := range entries {
		if !v.holds(data) {
			continue
		}
		if n++; n > maxPools {
			r.whole = false
			r.out.Warn("venue "+v.Name, fmt.Sprintf("only its first %d pools were read", maxPools))
			break
		}
		e, err := r.pool(v, data, of)
		if err != nil {
			bad++
			r.whole = false // it may be a known one
			r.out.Skip(fmt.Sprintf("venue %s: pool %d", v.Name, i+1), err)
			continue
		}
		r.pools = append(r.pools, e)
	}
	switch {
	case n == 0:
		r.whole = false
		return errNoPools
	case bad == n:
		return errors.New("no pool of the list could be read; look at option fields")
	}
	return nil
}

// holds reports whether a pool matches option where.
func (v venue) holds(pool json.RawMessage) bool {
	for at, want := range v.Where {
		if got, ok := table.Text(at.Find(pool)); !ok || got != want {
			return false
		}
	}
	return true
}

// textAt returns the text at a path, "" without a path.
func textAt(p table.Path, data json.RawMessage) string {
	if p == "" {
		return ""
	}
	s, _ := table.Text(p.Find(data))
	return strings.Join(strings.Fields(s), " ")
}

// errNoPools: more likely a field was renamed than that a venue closed all its
// pools.
var errNoPools = errors.New("the list has no pool; look at option where, or take the venue out of the options")

const maxWord = 200 // bytes of an id or a name

var pairMark = regexp.MustCompile(`[/_-]`)

// pool makes the record of a pool.
func (r *run) pool(v venue, data json.RawMessage, of string) (catalog.Entry, error) {
	base, quote, pair := textAt(v.Fields.Base, data), textAt(v.Fields.Quote, data), textAt(v.Fields.Pair, data)
	if sides := pairMark.Split(pair, -1); base == "" && quote == "" && len(sides) == 2 {
		base, quote = strings.TrimSpace(sides[0]), strings.TrimSpace(sides[1])
	}
	switch {
	case base != "" && quote != "":
		pair = base + "/" + quote
	case pair == "":
		return catalog.Entry{}, errors.New("it does not name the assets it trades")
	case base == "":
		base = pair
	}
	id := textAt(v.Fields.ID, data)
	if v.Fields.ID == "" {
		id = strings.ToLower(strings.NewReplacer("/", "-", " ", "-").Replace(pair))
	}
	if id == "" || len(id) > maxWord || len(pair) > maxWord {
		return catalog.Entry{}, fmt.Errorf("%s has no id, or one that is too long", pair)
	}
	key := v.Name + "/" + id
	figure := func(name string, p table.Path, most float64) *float64 {
		if p == "" {
			return nil
		}
		return r.figure("pool "+key, name, p.Find(data), v.Divide[name], 0, most)
	}
	pool := catalog.Pool{
		Base: base, Quote: quote, TVL: figure("tvl", v.Fields.TVL, maxUSD),
		FeeRate: figure("fee_rate", v.Fields.FeeRate, 1), APY: figure("apy", v.Fields.APY, maxAPY),
		Volume24h: figure("volume_24h", v.Fields.Volume24h, maxUSD), Reserves: []catalog.Reserve{},
		AsOf: cmp.Or(parseTime(textAt(v.Fields.AsOf, data), r.env.Now()), of),
	}
	for _, at := range v.Reserves {
		if name := textAt(at.Asset, data); name != "" {
			pool.Reserves = append(pool.Reserves, catalog.Reserve{
				Asset: name, Amount: r.figure("pool "+key, "reserve of "+name, at.Amount.Find(data), 0, 0, maxSupply),
			})
		}
	}
	return catalog.Record{
		Kind: catalog.KindPool, Key: key, Title: pair, Container: v.Name,
		URL: strings.ReplaceAll(v.Page, "{id}", url.PathEscape(id)), Body: poolText(v, pair, pool),
	}.With(pool)
}

// poolText describes a pool, without its figures.
func poolText(v venue, pair string, p catalog.Pool) string {
	s := fmt.Sprintf("%s is a pool of the venue %s", pair, v.Title)
	if p.Quote != "" {
		s += fmt.Sprintf(", where %s is traded against %s", p.Base, p.Quote)
	}
	return s + "."
}
