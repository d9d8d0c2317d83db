// Package recordtest makes the records that tests of computations take: around
// one noon, with the data of their kinds.
package recordtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
)

// Noon is when such tests take place.
var Noon = time.Date(2031, 3, 8, 12, 0, 0, 0, time.UTC)

// Ago is some hours before noon.
func Ago(hours int) time.Time { return Noon.Add(-time.Duration(hours) * time.Hour) }

// Data encodes the data of a kind.
func Data(v any) json.RawMessage {
	raw, err := catalog.Encode(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// With returns a record with the data of its kind.
func With(r catalog.Record, data any) catalog.Record {
	r.Data = Data(data)
	return r
}

// IDs writes the ids of records.
func IDs(records []catalog.Record) string {
	var out []string
	for _, r := range records {
		out = append(out, fmt.Sprint(r.ID))
	}
	return strings.Join(out, " ")
}
