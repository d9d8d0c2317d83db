package connectors

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/snapshot"
	"almanac/text/nearest"
)

// Kinds describes all kinds of sources but that of the sample.
func Kinds() []ingest.Description { return All(time.Time{}).Descriptions() }

// KindOf describes one kind. An unknown name is an error that names the nearest.
func KindOf(name string) (ingest.Description, error) {
	if name == Sample {
		return ingest.Description{}, fmt.Errorf("the kind %s reads the files of the network that comes with the program, "+
			"and no others: `almanac network new` writes a file with the kinds there are for yours", name)
	}
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	if near := nearest.Of(name, names); near != "" {
		return ingest.Description{}, fmt.Errorf("there is no kind %q; did you mean %q?", name, near)
	}
	return ingest.Description{}, fmt.Errorf("there is no kind %q; there are %s", name, strings.Join(names, ", "))
}

// Whole reports whether records of any kind may come from a network's sources: one reads
// a corpus, which holds a whole network.
func Whole(n network.Network) bool {
	return slices.ContainsFunc(n.Sources, func(s network.Source) bool {
		return s.Kind == Sample || s.Kind == snapshot.Kind.Name
	})
}

// Schemas returns the JSON Schemas of the options of each kind.
func Schemas() (map[string]*jsonschema.Schema, error) {
	schemas, err := All(time.Time{}).Schemas()
	delete(schemas, Sample) // it has the options of the connector that reads its files
	return schemas, err
}
