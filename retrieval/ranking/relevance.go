package ranking

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"almanac/retrieval/query"
)

// The engines that searches ask.
const (
	KeywordEngine = "keyword"
	VectorEngine  = "vector"
)

// EngineOf maps every retriever that a profile may name to its engine.
var EngineOf = map[string]string{"documents": KeywordEngine, "passages": KeywordEngine, "dense": VectorEngine,
	"sparse": VectorEngine}

// Relevance is what decides the order of results and can be replaced while searches run.
type Relevance struct {
	// Profiles to choose from; DefaultName must be among them.
	Profiles []Profile
	// Transformer is the default profile where vectors are those of a transformer, as
	// cosines of different kinds of models are not comparable. nil: that of Profiles.
	Transformer *Profile
	// Aliases are groups of equivalent spellings.
	Aliases map[string][]string
	// Pins fix the places of records in the results of a query.
	Pins []Pin
}

// For returns the relevance for vectors of one kind: with one default profile.
func (s Relevance) For(transformer bool) Relevance {
	fitted := s.Transformer
	s.Transformer = nil
	at := slices.IndexFunc(s.Profiles, func(p Profile) bool { return p.Name == DefaultName })
	if !transformer || fitted == nil || at < 0 {
		return s
	}
	s.Profiles = slices.Clone(s.Profiles)
	s.Profiles[at] = *fitted
	s.Profiles[at].Name = DefaultName
	return s
}

// Set is a compiled Relevance. It never changes: a search uses one from start to end.
type Set struct {
	profiles map[string]Profile
	models   map[string]Model // by profile
	aliases  [][][]query.Term
	pins     map[string][]Pin // by the words of their query, in the order given
}

// Compile checks a relevance of one default profile; see For. A profile that names an unknown retriever or feature
// is an error. A retriever that exists but that these engines lack is left out of the
// profile's lists.
func Compile(s Relevance, there func(retriever string) bool) (*Set, error) {
	set := &Set{profiles: map[string]Profile{}, models: map[string]Model{},
		aliases: compileAliases(s.Aliases)}
	for _, p := range s.Profiles {
		model, err := p.Model()
		if err != nil {
			return nil, err
		}
		p.Lists = slices.DeleteFunc(slices.Clone(p.Lists), func(l List) bool { return !there(l.Retriever) })
		if len(p.Lists) == 0 {
			return nil, fmt.Errorf("retrieval: profile %s: these engines have none of its retrievers", p.Name)
		}
		set.profiles[p.Name], set.models[p.Name] = p, model
	}
	if _, ok := set.profiles[DefaultName]; !ok {
		return nil, fmt.Errorf("retrieval: there is no profile named %q", DefaultName)
	}
	var err error
	set.pins, err = compilePins(s.Pins)
	return set, err
}

// Model turns the weights into a model. A profile that names a retriever or a feature
// that does not exist, which no engine can use, is an error.
func (p Profile) Model() (m Model, err error) {
	fault := func(field, what, name string) error {
		return fmt.Errorf("retrieval: profile %s: %w", p.Name,
			Fault{Field: field, Problem: fmt.Sprintf("there is no %s %q", what, name)})
	}
	for i, l := range p.Lists {
		for _, name := range []string{l.Retriever, cmp.Or(l.Unless, l.Retriever)} {
			if EngineOf[name] == "" {
				return m, fault(fmt.Sprintf("lists.%d", i), "retriever", name)
			}
		}
	}
	vectorOf := func(field string, weights map[string]float64) (v Vector, err error) {
		for _, name := range slices.Sorted(maps.Keys(weights)) {
			f, ok := FeatureNamed(name)
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
func (s *Set) Profile(name string) (p Profile, ok bool) {
	p, ok = s.profiles[cmp.Or(name, DefaultName)]
	return p, ok
}

// Model returns the model of a profile.
func (s *Set) Model(profile string) Model { return s.models[profile] }
