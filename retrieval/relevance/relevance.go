// Package relevance compiles what decides the order of results and can be
// replaced while searches run: profiles, equivalent spellings and pins.
package relevance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"almanac/retrieval/profile"
	"almanac/retrieval/query"
	"almanac/retrieval/rerank"
)

// The engines that searches ask.
const (
	Keyword = "keyword"
	Vector  = "vector"
)

// EngineOf maps every retriever that a profile may name to its engine.
var EngineOf = map[string]string{"documents": Keyword, "passages": Keyword, "dense": Vector, "sparse": Vector}

// Spec is what a Set is compiled of.
type Spec struct {
	// Profiles to choose from; profile.DefaultName must be among them.
	Profiles []profile.Profile
	// Transformer is the default profile where vectors are those of a transformer, as
	// cosines of different kinds of models are not comparable. nil: that of Profiles.
	Transformer *profile.Profile
	// Aliases are groups of equivalent spellings.
	Aliases map[string][]string
	// Pins fix the places of records in the results of a query.
	Pins []Pin
}

// For returns the specification for vectors of one kind: with one default profile.
func (s Spec) For(transformer bool) Spec {
	fitted := s.Transformer
	s.Transformer = nil
	at := slices.IndexFunc(s.Profiles, func(p profile.Profile) bool { return p.Name == profile.DefaultName })
	if !transformer || fitted == nil || at < 0 {
		return s
	}
	s.Profiles = slices.Clone(s.Profiles)
	s.Profiles[at] = *fitted
	s.Profiles[at].Name = profile.DefaultName
	return s
}

// Set is a compiled Spec. It never changes: a search uses one from start to end.
type Set struct {
	profiles map[string]profile.Profile
	models   map[string]rerank.Model // by profile
	aliases  [][][]query.Term
	pins     map[string][]Pin // by the words of their query, in the order given
}

// Compile checks a specification of one default profile; see For. A profile that names an unknown retriever or feature
// is an error. A retriever that exists but that these engines lack is left out of the
// profile's lists.
func Compile(s Spec, there func(retriever string) bool) (*Set, error) {
	set := &Set{profiles: map[string]profile.Profile{}, models: map[string]rerank.Model{},
		aliases: compileAliases(s.Aliases)}
	for _, p := range s.Profiles {
		model, err := modelOf(p)
		if err != nil {
			return nil, err
		}
		p.Lists = slices.DeleteFunc(slices.Clone(p.Lists), func(l profile.List) bool { return !there(l.Retriever) })
		if len(p.Lists) == 0 {
			return nil, fmt.Errorf("retrieval: profile %s: these engines have none of its retrievers", p.Name)
		}
		set.profiles[p.Name], set.models[p.Name] = p, model
	}
	if _, ok := set.profiles[profile.DefaultName]; !ok {
		return nil, fmt.Errorf("retrieval: there is no profile named %q", profile.DefaultName)
	}
	var err error
	set.pins, err = compilePins(s.Pins)
	return set, err
}

// CheckProfile returns an error for a profile that no engine can use because it names
// a retriever or a feature that does not exist.
func CheckProfile(p profile.Profile) error {
	_, err := modelOf(p)
	return err
}

// modelOf turns the weights of a profile into a model, and checks its names.
func modelOf(p profile.Profile) (m rerank.Model, err error) {
	fault := func(field, what, name string) error {
		return fmt.Errorf("retrieval: profile %s: %w", p.Name,
			profile.Fault{Field: field, Problem: fmt.Sprintf("there is no %s %q", what, name)})
	}
	for i, l := range p.Lists {
		for _, name := range []string{l.Retriever, cmp.Or(l.Unless, l.Retriever)} {
			if EngineOf[name] == "" {
				return m, fault(fmt.Sprintf("lists.%d", i), "retriever", name)
			}
		}
	}
	vectorOf := func(field string, weights map[string]float64) (v rerank.Vector, err error) {
		for _, name := range slices.Sorted(maps.Keys(weights)) {
			f, ok := rerank.FeatureNamed(name)
			if !ok {
				return v, fault(field+"."+name, "feature", name)
			}
			v[f] = weights[name]
		}
		return v, nil
	}
	if m.Fixed, err = vectorOf("fixed", p.Fixed); err != nil {
		return m, err
	}
	m.Weights, err = vectorOf("weights", p.Weights)
	return m, err
}

// Profile returns a profile by name, the default one for "".
func (s *Set) Profile(name string) (p profile.Profile, ok bool) {
	p, ok = s.profiles[cmp.Or(name, profile.DefaultName)]
	return p, ok
}

// Model returns the model of a profile.
func (s *Set) Model(profile string) rerank.Model { return s.models[profile] }
