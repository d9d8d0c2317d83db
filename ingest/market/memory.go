package market

import (
	"encoding/json"
	"reflect"
	"time"

	"almanac/catalog"
)

// memory is the last good figures of every part; it is the cursor.
type memory struct {
	Prices    map[string]reading[quote]                 `json:"prices,omitempty"`    // by coin
	TVL       map[string]reading[float64]               `json:"tvl,omitempty"`       // by chain
	Protocols map[string]reading[[]catalog.ProtocolTVL] `json:"protocols,omitempty"` // by chain
	Supplies  map[string]reading[held]                  `json:"supplies,omitempty"`  // by symbol
}

// reading is what a source said of one thing.
type reading[T any] struct {
	Figures T      `json:"figures"`
	AsOf    string `json:"as_of,omitempty"` // as the source states it
	Seen    string `json:"seen"`            // when it first said so
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

// recall reads a cursor. One that cannot be read holds nothing.
func recall(cursor string) memory {
	var m memory
	if json.Unmarshal([]byte(cursor), &m) != nil {
		return memory{}
	}
	return m
}

// remember puts a reading beside the others; what the source said before keeps
// the time at which it was first seen.
func remember[T any](all *map[string]reading[T], name string, before map[string]reading[T], figures T, asOf string, now time.Time) {
	r := reading[T]{figures, asOf, now.UTC().Format(time.RFC3339)}
	if old, ok := before[name]; ok && old.AsOf == asOf && reflect.DeepEqual(old.Figures, figures) {
		r = old
	}
	set(all, name, r)
}

// keep carries the last good reading over, if there is one.
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

// at is the time of a reading for a snapshot: "" is the snapshot's own.
func (r reading[T]) at(stale bool) string {
	if r.AsOf == "" && stale {
		return r.Seen
	}
	return r.AsOf
}
