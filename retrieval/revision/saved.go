package revision

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/retrieval/profile"
	"almanac/retrieval/relevance"
)

// ErrInvalid: what cannot be saved, for a reason that people can mend.
var ErrInvalid = errors.New("cannot be saved")

// profileName is what profiles may be called: nothing that reads like a path or a
// revision.
var profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// ValidName reports whether profiles may be called so.
func ValidName(name string) bool { return profileName.MatchString(name) }

// SaveProfile checks a profile and saves it as it is written, under the name in it
// unless the revision has one. ErrInvalid; a *catalog.ConflictError as SaveRevision
// has it.
func SaveProfile(ctx context.Context, store catalog.Store, r catalog.Revision) (catalog.Revision, error) {
	p, err := profile.Parse([]byte(r.Data))
	if err == nil {
		err = relevance.CheckProfile(p)
	}
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if r.Kind = catalog.ProfileRevision; r.Name == "" {
		r.Name = p.Name
	}
	if !ValidName(r.Name) {
		return r, fmt.Errorf("%w: a name has small letters, digits, dots and dashes, not %q", ErrInvalid, r.Name)
	}
	return store.SaveRevision(ctx, r)
}

// ParseName reads the name of a saved revision: NAME@NUMBER.
func ParseName(s string) (name string, number int, ok bool) {
	name, after, ok := strings.Cut(s, "@")
	number, err := strconv.Atoi(after)
	return name, number, ok && err == nil && number > 0 && ValidName(name)
}

// InForce returns what is in force: profile, synonyms, pins. What was never
// published has the ID 0 and is that of the configuration.
func InForce(ctx context.Context, store catalog.Store) ([]catalog.Publication, error) {
	list, _, err := store.Published(ctx)
	out := []catalog.Publication{{Kind: catalog.ProfileRevision}, {Kind: catalog.SynonymsRevision},
		{Kind: catalog.PinsRevision}}
	for i, p := range out {
		if at := slices.IndexFunc(list, func(x catalog.Publication) bool { return x.Kind == p.Kind }); at >= 0 {
			out[i] = list[at]
		}
	}
	return out, err
}

// Rollback publishes again the profile that was in force so many publications
// ago, unless somebody publishes meanwhile: then a *catalog.ConflictError.
// ErrNotFound if there were not as many.
func Rollback(ctx context.Context, store catalog.Store, steps int, by, note string) (catalog.Publication, error) {
	was, err := store.Publications(ctx, catalog.ProfileRevision, steps+1)
	if err != nil {
		return catalog.Publication{}, err
	}
	if steps < 1 || len(was) < steps {
		return catalog.Publication{}, fmt.Errorf("%w: there were only %d publications", catalog.ErrNotFound, len(was))
	}
	to := catalog.Publication{Kind: catalog.ProfileRevision} // before the first there was the configuration
	if len(was) > steps {
		to = was[steps]
	}
	to.By, to.Note = by, note
	return store.Publish(ctx, to, was[0].ID)
}
