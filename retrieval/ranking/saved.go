package ranking

import (
	"context"
	"errors"
	"fmt"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

// ErrInvalid: what cannot be saved, for a reason that people can mend.
var ErrInvalid = errors.New("cannot be saved")

// SaveProfile checks a profile and saves it as it is written, under the name in it
// unless the revision has one. ErrInvalid; a *catalog.ConflictError as SaveRevision
// has it.
func SaveProfile(ctx context.Context, store *sqlstore.Store, r catalog.Revision) (catalog.Revision, error) {
	p, err := Parse([]byte(r.Data))
	if err == nil {
		_, err = p.Model()
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

// Published is what is live: profile, synonyms and pins, in this order. What was
// never published has the ID 0 and is that of the configuration.
type Published []catalog.Publication

// InForce returns what is live, and the newest publication's id as Published
// does.
func InForce(ctx context.Context, store *sqlstore.Store) (l Published, head int64, err error) {
	list, head, err := store.Published(ctx)
	l = Published{{Kind: catalog.ProfileRevision}, {Kind: catalog.SynonymsRevision}, {Kind: catalog.PinsRevision}}
	for i := range l {
		for _, p := range list {
			if p.Kind == l[i].Kind {
				l[i] = p
			}
		}
	}
	return l, head, err
}

// Of returns what is live of a kind.
func (l Published) Of(kind catalog.RevisionKind) catalog.Publication {
	for _, p := range l {
		if p.Kind == kind {
			return p
		}
	}
	return catalog.Publication{Kind: kind}
}

// Profile names the profile live as one that stays so: NAME@NUMBER or
// Configured.
func (l Published) Profile() string {
	if p := l.Of(catalog.ProfileRevision); p.Number > 0 {
		return Name{p.Name, p.Number}.String()
	}
	return Configured
}

// Rollback publishes again the profile that was live so many publications
// ago, unless somebody publishes meanwhile: then a *catalog.ConflictError.
// ErrNotFound if there were not as many.
func Rollback(ctx context.Context, store *sqlstore.Store, steps int, by, note string) (catalog.Publication, error) {
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
