package ranking

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/text/dates"
)

// Source reads revisions.
type Source struct {
	Store *sqlstore.Store
	// Base is the relevance of the configuration: profiles, of which the default one is
	// what searches use, and the network's aliases.
	Base Relevance
	// Transformed reports whether the index that serves has vectors of a transformer;
	// nil: it has not.
	Transformed func() bool
}

// Relevance returns what is published over the configuration, with the given
// revisions in place of the published ones of their kinds. A pin of a record
// that is gone is left out.
func (s Source) Relevance(ctx context.Context, try ...catalog.Revision) (Relevance, error) {
	published, _, err := s.Store.Published(ctx)
	if err != nil {
		return Relevance{}, err
	}
	revisions := slices.Clone(try)
	for _, p := range published {
		if p.Number == 0 || slices.ContainsFunc(try, func(r catalog.Revision) bool { return r.Kind == p.Kind }) {
			continue
		}
		r, err := s.Store.Revision(ctx, p.Kind, p.Name, p.Number)
		if err != nil {
			return Relevance{}, err
		}
		revisions = append(revisions, r)
	}
	out := Relevance{Profiles: slices.Clone(s.Base.Profiles), Transformer: s.Base.Transformer,
		Aliases: maps.Clone(s.Base.Aliases), Pins: slices.Clone(s.Base.Pins)}
	for _, r := range revisions {
		if err := s.add(ctx, &out, r); err != nil {
			return out, fmt.Errorf("%s: %w", r, err)
		}
	}
	return out, nil
}

// add puts a revision in its place.
func (s Source) add(ctx context.Context, to *Relevance, r catalog.Revision) error {
	switch r.Kind {
	case catalog.ProfileRevision:
		p, err := Parse([]byte(r.Data))
		if err != nil {
			return err
		}
		p.Name, to.Transformer = DefaultName, nil // whatever the model
		at := slices.IndexFunc(to.Profiles, func(o Profile) bool { return o.Name == p.Name })
		if at < 0 {
			to.Profiles = append(to.Profiles, p)
		} else {
			to.Profiles[at] = p
		}
	case catalog.SynonymsRevision:
		groups, err := ParseSynonyms([]byte(r.Data))
		if err != nil {
			return err
		}
		if to.Aliases == nil {
			to.Aliases = map[string][]string{}
		}
		maps.Copy(to.Aliases, groups)
	case catalog.PinsRevision:
		rules, err := ParsePins([]byte(r.Data))
		if err != nil {
			return err
		}
		for _, rule := range rules {
			pin, err := s.found(ctx, rule)
			if err != nil {
				return err
			}
			to.Pins = append(to.Pins, pin)
		}
	default:
		return fmt.Errorf("there are no revisions of kind %q", r.Kind)
	}
	return nil
}

// found returns a pin with the ids of its records, without those that are gone.
func (s Source) found(ctx context.Context, pin Pin) (Pin, error) {
	places := pin.Places
	pin.Places = nil
	for _, place := range places {
		ref, _ := catalog.RefNamed(place.Record) // as the parser has checked
		r, err := s.Store.Head(ctx, ref)
		if errors.Is(err, catalog.ErrNotFound) {
			continue
		}
		if err != nil {
			return pin, err
		}
		place.ID = r.ID
		pin.Places = append(pin.Places, place)
	}
	return pin, nil
}

// Day is a date in UTC, or none.
type Day struct{ time.Time }

// MarshalYAML implements yaml.Marshaler.
func (d Day) MarshalYAML() (any, error) {
	if d.IsZero() {
		return nil, nil
	}
	return d.Format(time.DateOnly), nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Day) UnmarshalYAML(n *yaml.Node) error {
	if n.Tag == "!!null" || n.Value == "" {
		return nil
	}
	if d.Time = dates.At(n.Value, dates.Day); d.IsZero() {
		return fmt.Errorf("line %d: %q is not a date like 2030-12-31", n.Line, n.Value)
	}
	return nil
}

// ParseSynonyms reads groups of equivalent spellings: one spelling, and the list of
// the others.
func ParseSynonyms(data []byte) (map[string][]string, error) {
	groups := map[string][]string{}
	if err := decode(data, &groups); err != nil {
		return nil, fmt.Errorf("synonyms: %w", err)
	}
	for name, others := range groups {
		if strings.TrimSpace(name) == "" || slices.ContainsFunc(others, func(s string) bool {
			return strings.TrimSpace(s) == ""
		}) {
			return nil, fmt.Errorf("synonyms: the group of %q has an empty spelling", name)
		}
	}
	return groups, nil
}

// ParsePins reads rules of pinned and buried results.
func ParsePins(data []byte) ([]Pin, error) {
	var rules []Pin
	if err := decode(data, &rules); err != nil {
		return nil, fmt.Errorf("pins: %w", err)
	}
	for _, rule := range rules {
		if strings.TrimSpace(rule.Query) == "" || len(rule.Places) == 0 {
			return nil, fmt.Errorf("pins: a rule needs a query and places")
		}
		for _, p := range rule.Places {
			if _, ok := catalog.RefNamed(p.Record); !ok {
				return nil, fmt.Errorf("pins: %q: record %q is not kind:key", rule.Query, p.Record)
			}
			if p.Position < 0 || p.Position > MaxPosition {
				return nil, fmt.Errorf("pins: %q: position %d is not between 0 and %d", rule.Query, p.Position,
					MaxPosition)
			}
		}
	}
	return rules, nil
}

// decode reads YAML strictly; nothing at all is nothing.
func decode(data []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
