package postgres

import (
	"context"
	"time"

	"almanac/catalog/sqlstore"
)

// Store is an open catalog with its leases.
type Store struct {
	*sqlstore.Store
	*locker
}

// Leased opens the catalog.
func Leased(ctx context.Context, cfg Config) (*Store, error) {
	s, err := Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Store{s, s.Locker.(*locker)}, nil
}

// Take takes the lease for a time that nobody prolongs.
func (s *Store) Take(ctx context.Context, term time.Duration) (bool, error) {
	s.term = term
	return s.take(ctx)
}

// Term is how long leases hold from now on.
func (s *Store) Term(d time.Duration) { s.term = d }
