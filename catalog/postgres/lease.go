package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

const (
	// term is how long a lease holds. A writer that is stopped or cut off is overtaken
	// when it has ended, and the server ends what it left open then.
	term = 6 * time.Second
	// renewals are how often the holder prolongs it in a term.
	renewals = 3
)

// now is the server's time, which is that of all processes, in microseconds.
const now = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`

// Store is a catalog in a PostgreSQL database.
type Store struct {
	*sqlstore.Store
	leases *sql.DB // a connection that no write holds up
	name   string  // of the database, for operators
	holder string  // this store, among all of all processes
	term   time.Duration
	epoch  atomic.Int64 // of the lease that this store had last; 0: never
}

var _ catalog.Locker = (*Store)(nil)

// Close implements catalog.Store.
func (s *Store) Close() error { return errors.Join(s.Store.Close(), s.leases.Close()) }

// fence refuses what an overtaken writer writes, and what others write beside one. The row
// that writers lock is held: nobody takes over between this and the commit.
func (s *Store) fence(tx *sql.Tx) error {
	var current int64
	var live bool
	err := tx.QueryRow(`SELECT epoch, expires_at > `+now+` FROM leases WHERE name = 'writer'`).Scan(&current, &live)
	mine := s.epoch.Load()
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case mine != 0 && current != mine:
		return catalog.ErrOvertaken
	case mine == 0 && live:
		return catalog.ErrNotWriter
	}
	return nil
}

// TryLock implements catalog.Locker by a lease, which is prolonged until it is unlocked.
func (s *Store) TryLock(ctx context.Context) (catalog.Lock, error) {
	ok, err := s.take(ctx)
	if err != nil || !ok {
		return nil, sqlstore.Failure(ctx, "take the lease", err, s.Explain)
	}
	l := &lease{store: s, epoch: s.epoch.Load(), lost: make(chan struct{}), ended: make(chan struct{})}
	var renewing context.Context
	renewing, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	go l.renew(renewing)
	return l, nil
}

// take makes this store the holder if the lease is free; false: it is not. Epochs are times,
// so that they grow although an older copy of the database was restored.
func (s *Store) take(ctx context.Context) (bool, error) {
	var held bool
	err := s.leases.QueryRowContext(ctx, `SELECT COUNT(*) > 0 FROM leases
WHERE name = 'writer' AND holder <> ? AND expires_at > `+now, s.holder).Scan(&held)
	if err != nil || held {
		return false, err
	}
	// What the earlier holder writes is committed or undone before its lease is taken.
	tx, err := begin(ctx, s.leases)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	var epoch int64
	err = tx.QueryRowContext(ctx, `INSERT INTO leases (name, holder, epoch, expires_at)
VALUES ('writer', ?, `+now+`, `+now+` + ?)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = GREATEST(leases.epoch + 1, excluded.epoch),
	expires_at = excluded.expires_at
WHERE leases.holder = excluded.holder OR leases.expires_at <= `+now+`
RETURNING epoch`, s.holder, s.term.Microseconds()).Scan(&epoch)
	if errors.Is(err, sql.ErrNoRows) { // somebody was first
		return false, nil
	}
	if err == nil {
		err = tx.Commit()
	}
	if err == nil {
		s.epoch.Store(epoch)
	}
	return err == nil, err
}

// prolong prolongs the lease of an epoch; false: another has it.
func (s *Store) prolong(ctx context.Context, epoch int64) (bool, error) {
	done, err := s.leases.ExecContext(ctx, `UPDATE leases SET expires_at = `+now+` + ?
WHERE name = 'writer' AND holder = ? AND epoch = ?`, s.term.Microseconds(), s.holder, epoch)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// give ends the lease of an epoch now.
func (s *Store) give(ctx context.Context, epoch int64) error {
	_, err := s.leases.ExecContext(ctx, `UPDATE leases SET expires_at = 0
WHERE name = 'writer' AND holder = ? AND epoch = ?`, s.holder, epoch)
	return err
}

// lease is a lease that is held.
type lease struct {
	store *Store
	epoch int64
	stop  func()
	lost  chan struct{}
	ended chan struct{} // closed when renew has ended
	once  sync.Once
	err   error // of Unlock
}

// Lost implements catalog.Lock.
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Epoch implements catalog.Lock.
func (l *lease) Epoch() int64 { return l.epoch }

// renew prolongs the lease until ctx ends. It is lost when another has it, and when no
// answer came for so long that another may soon have it.
func (l *lease) renew(ctx context.Context) {
	defer close(l.ended)
	every := l.store.term / renewals
	tick := time.NewTicker(every)
	defer tick.Stop()
	for good := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		asking, cancel := context.WithTimeout(ctx, every)
		mine, err := l.store.prolong(asking, l.epoch)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && mine:
			good = asked
		case err == nil, time.Since(good) > l.store.term-every:
			close(l.lost)
			return
		}
	}
}

// Unlock implements catalog.Lock.
func (l *lease) Unlock() error {
	l.once.Do(func() {
		l.stop()
		<-l.ended
		ctx, cancel := context.WithTimeout(context.Background(), l.store.term)
		defer cancel()
		l.err = sqlstore.Failure(ctx, "give up the lease", l.store.give(ctx, l.epoch), l.store.Explain)
	})
	return l.err
}

// Attend implements catalog.Locker.
func (s *Store) Attend(ctx context.Context, generation int64) error {
	_, err := s.leases.ExecContext(ctx, `INSERT INTO readers (id, generation, seen_at) VALUES (?, ?, `+now+`)
ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, seen_at = excluded.seen_at`, s.holder, generation)
	return sqlstore.Failure(ctx, "attend", err, s.Explain)
}

// Elsewhere implements catalog.Locker. What was not seen for a term is gone, and forgotten.
func (s *Store) Elsewhere(ctx context.Context, generation int64) (n int, err error) {
	_, err = s.leases.ExecContext(ctx, `DELETE FROM readers WHERE seen_at < `+now+` - ?`, s.term.Microseconds())
	if err == nil {
		err = s.leases.QueryRowContext(ctx, `SELECT COUNT(*) FROM readers WHERE generation <> ? AND id <> ?`,
			generation, s.holder).Scan(&n)
	}
	return n, sqlstore.Failure(ctx, "count readers", err, s.Explain)
}

// holderName identifies a store in the table of leases.
func holderName() string { return fmt.Sprint("almanac ", rand.Text()) }
