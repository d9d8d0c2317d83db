package retrieval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"almanac/retrieval/profile"
	"almanac/retrieval/rerank"
)

// Relevance holds what decides the order of results and can be replaced while searches run.
type Relevance struct {
	// Profiles to choose from; profile.DefaultName must be among them.
	Profiles []profile.Profile
	// Aliases are groups of equivalent spellings.
	Aliases map[string][]string
	// Pins fix the places of records in the results of a query.
	Pins []Pin
}

// relevance is a compiled Relevance. It never changes: a search uses one from
// start to end.
type relevance struct {
	profiles map[string]profile.Profile
	models   map[string]map[string]rerank.Model // profile → class → model
	aliases  aliases
	pins     pins
}

// Publish replaces what decides the order of results, atomically. On an error
// everything stays as it was. A profile that names an unknown retriever or
// feature is an error; a retriever that these engines lack is left out of its
// lists.
func (e *Engine) Publish(r Relevance) error {
	set, err := e.compiled(r)
	if err == nil {
		e.relevance.Store(set)
	}
	return err
}

// compiled checks what decides the order of results.
func (e *Engine) compiled(r Relevance) (*relevance, error) {
	set := &relevance{profiles: map[string]profile.Profile{}, models: map[string]map[string]rerank.Model{},
		aliases: newAliases(r.Aliases)}
	for _, p := range r.Profiles {
		models, err := e.compile(&p)
		if err != nil {
			return nil, err
		}
		set.profiles[p.Name], set.models[p.Name] = p, models
	}
	if _, ok := set.profiles[profile.DefaultName]; !ok {
		return nil, fmt.Errorf("retrieval: there is no profile named %q", profile.DefaultName)
	}
	var err error
	set.pins, err = compilePins(r.Pins)
	return set, err
}

// compile checks a profile, leaves out the lists that these engines lack, and
// turns its weights into models by class; the empty class stands for all
// others.
func (e *Engine) compile(p *profile.Profile) (map[string]rerank.Model, error) {
	models, err := modelsOf(*p)
	if err != nil {
		return nil, err
	}
	p.Lists = slices.DeleteFunc(slices.Clone(p.Lists),
		func(l profile.List) bool { return e.retrievers[l.Retriever] == nil })
	if len(p.Lists) == 0 {
		return nil, fmt.Errorf("retrieval: profile %s: these engines have none of its retrievers", p.Name)
	}
	return models, nil
}

// CheckProfile returns an error for a profile that no engine could use: it names
// a retriever or a feature that there is not.
func CheckProfile(p profile.Profile) error {
	_, err := modelsOf(p)
	return err
}

// modelsOf turns the weights of a profile into models by class, and checks its names.
func modelsOf(p profile.Profile) (map[string]rerank.Model, error) {
	fault := func(field, what, name string) error {
		return fmt.Errorf("retrieval: profile %s: %w", p.Name,
			profile.Fault{Field: field, Problem: fmt.Sprintf("there is no %s %q", what, name)})
	}
	for i, l := range p.Lists {
		for _, name := range []string{l.Retriever, cmp.Or(l.Unless, l.Retriever)} {
			if engineOf[name] == "" {
				return nil, fault(fmt.Sprintf("lists.%d", i), "retriever", name)
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
	fixed, err := vectorOf("fixed", p.Fixed)
	if err != nil {
		return nil, err
	}
	models := map[string]rerank.Model{}
	for _, class := range append(slices.Sorted(maps.Keys(p.Classes)), "") {
		field := "weights"
		if class != "" {
			field = "classes." + class
		}
		weights, err := vectorOf(field, p.WeightsFor(class))
		if err != nil {
			return nil, err
		}
		models[class] = rerank.Model{Weights: weights, Fixed: fixed}
	}
	return models, nil
}

// profile returns a profile by name, the default one for "".
func (r *relevance) profile(name string) (profile.Profile, error) {
	p, ok := r.profiles[cmp.Or(name, profile.DefaultName)]
	if !ok {
		return p, fmt.Errorf("%w: there is no profile %q", ErrBadQuery, name)
	}
	return p, nil
}

// model returns the model for the plan's profile and class of query.
func (p *Plan) model() rerank.Model {
	models := p.relevance.models[p.Profile.Name]
	if m, ok := models[string(p.Query.Class)]; ok {
		return m
	}
	return models[""]
}
