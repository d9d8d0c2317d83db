package ranking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"almanac/catalog"
)

// Named is a relevance to try, with its profile.
type Named struct {
	Name      string
	Revision  int // of the profile; 0: it is no saved revision
	Profile   Profile
	Relevance Relevance
}

// Named returns the relevance of a name: its profile over the published synonyms
// and pins; of Configured those of the configuration. ErrNotFound if there is no
// such revision.
func (s Source) Named(ctx context.Context, name string) (Named, error) {
	if n, saved := ParseName(name); saved {
		r, err := s.Saved(ctx, n)
		if err != nil {
			return Named{}, err
		}
		return s.tried(ctx, name, n.Number, r)
	}
	switch {
	case name == Configured:
		return s.named(name, 0, s.Base)
	case name == Live:
		live, _, err := InForce(ctx, s.Store)
		if err != nil {
			return Named{}, err
		}
		return s.tried(ctx, Live, live.Of(catalog.ProfileRevision).Number)
	case name == KeywordOnly || name == VectorOnly:
		n, err := s.Named(ctx, Live)
		if err != nil {
			return n, err
		}
		p, err := n.Profile.Only(strings.TrimSuffix(name, "-only"))
		if err != nil {
			return n, err
		}
		return n.with(name, p), nil
	case slices.Contains(Names(), name):
		p, err := Load(name)
		if err != nil {
			return Named{}, err
		}
		n, err := s.Named(ctx, Live)
		return n.with(name, p), err
	}
	return Named{}, fmt.Errorf("%w: there is no profile %q; a revision is named as default@3", catalog.ErrNotFound,
		name)
}

// Saved returns a saved profile. ErrNotFound.
func (s Source) Saved(ctx context.Context, n Name) (catalog.Revision, error) {
	return s.Store.Revision(ctx, catalog.ProfileRevision, n.Profile, n.Number)
}

// Names are those that Named takes.
func (s Source) Names(ctx context.Context) ([]string, error) {
	revisions, err := s.Store.Revisions(ctx, catalog.ProfileRevision)
	names := []string{Live, Configured, KeywordOnly, VectorOnly}
	for _, r := range revisions {
		names = append(names, NameOf(r).String())
	}
	for _, name := range Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, err
}

// Edited returns the relevance of a profile that is not saved, as YAML.
func (s Source) Edited(ctx context.Context, data string) (Named, error) {
	return s.tried(ctx, "edited", 0, catalog.Revision{Kind: catalog.ProfileRevision, Data: data})
}

func (s Source) tried(ctx context.Context, name string, number int, try ...catalog.Revision) (Named, error) {
	r, err := s.Relevance(ctx, try...)
	if err != nil {
		return Named{}, err
	}
	return s.named(name, number, r)
}

// named finds the profile that searches use.
func (s Source) named(name string, number int, r Relevance) (Named, error) {
	r = r.For(s.Transformed != nil && s.Transformed())
	at := slices.IndexFunc(r.Profiles, func(p Profile) bool { return p.Name == DefaultName })
	if at < 0 {
		return Named{}, fmt.Errorf("%s has no profile %s", name, DefaultName)
	}
	return Named{name, number, r.Profiles[at], r}, nil
}

// with replaces the profile.
func (n Named) with(name string, p Profile) Named {
	p.Name = DefaultName
	n.Name, n.Revision, n.Profile = name, 0, p
	n.Relevance.Profiles = []Profile{p}
	return n
}
