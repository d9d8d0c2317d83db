package market

import (
	"encoding/json"
	"reflect"
	"time"

	"almanac/catalog"
)

// memory holds the last good figures of every part; it is the cursor.
type memory struct {
	Prices    map[string]reading[quote]                 `json:"prices,omitempty"`    // by coin
	TVL       map[string]reading[float64]               `json:"tvl,omitempty"`       // by chain
	Protocols map[string]reading[[]catalog.ProtocolTVL] `json:"protocols,omitempty"` // by chain
	Supplies  map[string]reading[held]                  `json:"supplies,omitempty"`  // by symbol
}

// reading is a figure that a source gave.
type reading[T any] struct {
	Figures T      `json:"figures"`
	AsOf    string `json:"as_of,omitempty"` // as stated by the source
	Seen    string `json:"seen"`            // when it was first read
}

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

// recall reads a cursor. An unreadable one yields an empty memory.
func recall(cursor string) memory {
	var m memory
	if json.Unmarshal([]byte(cursor), &m) != nil {
		return memory{}
	}
	return m
}

// remember stores a reading; an unchanged one keeps the time it was first seen.
func remember[T any](
	all *map[string]reading[T], name string, before map[string]reading[T], figures T, asOf string, now time.Time,
) {
	r := reading[T]{figures, asOf, now.UTC().Format(time.RFC3339)}
	if old, ok := before[name]; ok && old.AsOf == asOf && reflect.DeepEqual(old.Figures, figures) {
		r = old
	}
	set(all, name, r)
}

// keep carries over the last good reading, if there is one.
func keep[T any](all *map[string]reading[T], name string, before map[string]reading[T]) {
	if old, ok := before[name]; ok {
		set(all, name, old)
	}
}

func set[T any](all *map[string]reading[T], name string, r reading[T]) {
	if *all == nil {
		*all = map[string]reading[T]{}
	}
	(*all)[name] = r
}

// at returns the time of a reading for a snapshot: "" means the snapshot's own.
func (r reading[T]) at(stale bool) string {
	if r.AsOf == "" && stale {
		return r.Seen
	}
	return r.AsOf
}
