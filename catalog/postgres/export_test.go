package postgres

import (
	"context"
	"time"
)

// Take takes the lease for a time that nobody prolongs.
func (s *Store) Take(ctx context.Context, term time.Duration) (bool, error) {
	s.term = term
	return s.take(ctx)
}

// Term is how long leases hold from now on.
func (s *Store) Term(d time.Duration) { s.term = d }
