package market

import (
	"reflect"
	"time"

	"almanac/catalog"
)

// memory holds the last good figures of every part.
type memory struct {
	Prices    readings[quote]                 `json:"prices,omitempty"`    // by coin
	TVL       readings[float64]               `json:"tvl,omitempty"`       // by chain
	Protocols readings[[]catalog.ProtocolTVL] `json:"protocols,omitempty"` // by chain
	Supplies  readings[held]                  `json:"supplies,omitempty"`  // by symbol
}

// Stale is all of it: figures stay good with other options.
func (m memory) Stale() memory { return m }

func newMemory() memory {
	return memory{readings[quote]{}, readings[float64]{}, readings[[]catalog.ProtocolTVL]{}, readings[held]{}}
}

// reading is a figure that a source gave.
type reading[T any] struct {
	Figures T      `json:"figures"`
	AsOf    string `json:"as_of,omitempty"` // as stated by the source
	Seen    string `json:"seen"`            // when it was first read
}

type readings[T any] map[string]reading[T]

// quote is the market of a coin, in USD.
type quote struct {
	Price  float64  `json:"price"`
	Cap    *float64 `json:"cap"`
	Volume *float64 `json:"volume"`
	Change *float64 `json:"change"` // percent
}

// held is the supply of an asset.
type held struct {
	Supply  float64 `json:"supply"`
	Holders *int64  `json:"holders"`
}

// note notes what was read now of a thing, or, with an error, what was known of it
// before. Figures that are unchanged keep the time at which they were first seen.
func (r readings[T]) note(before readings[T], name string, figures T, asOf string, now time.Time, err error) error {
	old, known := before[name]
	switch {
	case known && (err != nil || old.AsOf == asOf && reflect.DeepEqual(old.Figures, figures)):
		r[name] = old
	case err == nil:
		r[name] = reading[T]{figures, asOf, now.UTC().Format(time.RFC3339)}
	}
	return err
}

// at returns the time of a reading for a snapshot: "" means the snapshot's own.
func (r reading[T]) at(stale bool) string {
	if r.AsOf == "" && stale {
		return r.Seen
	}
	return r.AsOf
}
