package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/profile"
	"almanac/retrieval/revision"
)

// The names of what is in force, and of what the configuration has.
const (
	Published  = "published"
	Configured = "configured"
)

// Tried is a profile to measure, with the synonyms and pins that are in force: they
// are the same for all.
type Tried struct {
	Name      string // as stored with a run
	Revision  int    // 0: of the configuration, or built in
	Label     string // what it stood for, as a name that stays: of Published NAME@NUMBER or Configured
	Relevance retrieval.Relevance
}

// Resolve reads a profile's name: Published, Configured, NAME@NUMBER for a revision,
// or a built-in one. catalog.ErrNotFound if there is none.
func Resolve(ctx context.Context, s revision.Source, name string) (t Tried, err error) {
	t.Name, t.Label = name, name
	if of, number, ok := strings.Cut(name, "@"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return t, fmt.Errorf("experiment: %q is not a name, @ and a number: %w", name, catalog.ErrNotFound)
		}
		r, err := s.Store.Revision(ctx, catalog.ProfileRevision, of, n)
		if err != nil {
			return t, err
		}
		t.Name, t.Revision = of, n
		t.Relevance, err = s.Relevance(ctx, r)
		return t, err
	}
	if t.Relevance, err = s.Relevance(ctx); err != nil {
		return t, err
	}
	switch {
	case name == Published:
		t.Revision, t.Label, err = inForce(ctx, s.Store)
		return t, err
	case name == Configured:
		return t, t.replace(s.Base.Profiles, profile.DefaultName)
	case slices.Contains(profile.Names(), name):
		p, err := profile.Load(name)
		if err != nil {
			return t, err
		}
		return t, t.replace([]profile.Profile{p}, name)
	}
	return t, fmt.Errorf("experiment: there is no profile %q: %w", name, catalog.ErrNotFound)
}

// inForce returns the number of the profile in force, and what it is called.
func inForce(ctx context.Context, store catalog.RelevanceStore) (int, string, error) {
	list, _, err := store.Published(ctx)
	for _, p := range list {
		if p.Kind == catalog.ProfileRevision && p.Number > 0 {
			return p.Number, fmt.Sprintf("%s@%d", p.Name, p.Number), err
		}
	}
	return 0, Configured, err
}

// replace makes the profile of a name the default one.
func (t *Tried) replace(from []profile.Profile, name string) error {
	at := slices.IndexFunc(from, func(p profile.Profile) bool { return p.Name == name })
	if at < 0 {
		return errors.New("experiment: the configuration has no default profile")
	}
	p := from[at]
	p.Name = profile.DefaultName
	t.Relevance.Profiles = []profile.Profile{p}
	return nil
}
