package ingest

import (
	"context"
	"errors"
	"reflect"
	"time"

	"almanac/catalog/network"
)

// Cursored is a connector that makes a cursor itself of what it keeps: Sync reads
// what changed since the cursor.
type Cursored interface {
	Sync(ctx context.Context, cursor string, out Sink) (Outcome, error)
}

// Constructor makes the connector of a source. It reads the source's options
// with DecodeOptions and accesses nothing else before Sync.
type Constructor func(src network.Source, env Environment) (Cursored, error)

func (c Constructor) open(src network.Source, env Environment) (Cursored, error) { return c(src, env) }

// probe is the name of a source, which no file can have, of which DecodeOptions
// returns the struct to decode into as a probed error.
const probe = "\x00"

// probed is the error that carries the options struct with its defaults.
type probed struct{ options reflect.Value }

func (p *probed) Error() string { return "options are of type " + p.options.Type().String() }

func (c Constructor) about() about {
	_, err := c(network.Source{Name: probe}, Environment{Now: time.Now})
	if p, ok := errors.AsType[*probed](err); ok && p.options.Kind() == reflect.Struct {
		return about{options: p.options}
	}
	return about{}
}

// Described is a kind of source whose connector is Cursored: what Kind says of one
// that keeps no state itself.
type Described struct {
	Constructor
	Name, Summary, Example string
}

func (d Described) about() about {
	return about{d.Name, d.Summary, d.Example, d.Constructor.about().options}
}

// DecodeOptions reads a source's options into a struct; see options.Decode.
func DecodeOptions(src network.Source, into any) error {
	v := reflect.ValueOf(into).Elem()
	if src.Name == probe {
		return &probed{v}
	}
	return src.Options.Into(v)
}
