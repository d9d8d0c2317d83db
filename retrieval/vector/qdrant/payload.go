package qdrant

import (
	client "github.com/qdrant/go-client/qdrant"

	"almanac/retrieval/passage"
)

// The payload of a point holds the attributes of its record for filters. Words
// are in one case, so that matching ignores it; a date is in microseconds since
// 1970, absent if unknown.
const (
	recordField    = "record"
	kindField      = "kind"
	sourceField    = "source"
	containerField = "container"
	stateField     = "state"
	dateField      = "date"
)

type payloadIndex struct {
	name   string
	kind   client.FieldType
	params *client.PayloadIndexParams
}

var payloadIndexes = []payloadIndex{
	{recordField, client.FieldType_FieldTypeInteger,
		client.NewPayloadIndexParamsInt(&client.IntegerIndexParams{Lookup: client.PtrOf(true),
			Range: client.PtrOf(false)})},
	{kindField, client.FieldType_FieldTypeKeyword, nil},
	{sourceField, client.FieldType_FieldTypeKeyword, nil},
	{containerField, client.FieldType_FieldTypeKeyword, nil},
	{stateField, client.FieldType_FieldTypeKeyword, nil},
	{dateField, client.FieldType_FieldTypeInteger,
		client.NewPayloadIndexParamsInt(&client.IntegerIndexParams{Lookup: client.PtrOf(false),
			Range: client.PtrOf(true)})},
}

func payloadOf(record int64, a passage.Attributes) map[string]*client.Value {
	payload := map[string]*client.Value{
		recordField:    client.NewValueInt(record),
		kindField:      client.NewValueString(passage.FoldCase(a.Kind)),
		sourceField:    client.NewValueString(passage.FoldCase(a.Source)),
		containerField: client.NewValueString(passage.FoldCase(a.Container)),
		stateField:     client.NewValueString(passage.FoldCase(a.State)),
	}
	if !a.Date.IsZero() {
		payload[dateField] = client.NewValueInt(a.Date.UnixMicro())
	}
	return payload
}

// conditions returns a filter in the server's form, nil for one that matches everything.
func conditions(f passage.Filter) *client.Filter {
	if f.Empty() {
		return nil
	}
	c := new(client.Filter)
	for _, words := range []struct {
		field  string
		values []string
	}{{kindField, f.Kinds}, {sourceField, f.Sources}, {containerField, f.Containers}, {stateField, f.States}} {
		if len(words.values) == 0 {
			continue
		}
		folded := make([]string, len(words.values))
		for i, w := range words.values {
			folded[i] = passage.FoldCase(w)
		}
		c.Must = append(c.Must, client.NewMatchKeywords(words.field, folded...))
	}
	var dates client.Range
	if !f.Since.IsZero() {
		dates.Gte = client.PtrOf(float64(passage.CeilMicro(f.Since)))
	}
	if !f.Until.IsZero() {
		dates.Lt = client.PtrOf(float64(passage.CeilMicro(f.Until)))
	}
	if dates.Gte != nil || dates.Lt != nil {
		c.Must = append(c.Must, client.NewRange(dateField, &dates))
	}
	if len(f.Records) > 0 {
		c.Must = append(c.Must, client.NewMatchInts(recordField, f.Records...))
	}
	return c
}
