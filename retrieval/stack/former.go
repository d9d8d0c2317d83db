package stack

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"almanac/retrieval"
)

// former is the generation that served before another model's took over. Models order
// results differently, and a page is named by its offset alone, so that pages of both
// would overlap, or leave results out. So for a while it answers the further pages of all
// searches but those whose first page the new one has answered.
type former struct {
	stack *Stack

	mu    sync.Mutex
	begun map[uint64]struct{} // hashes of those
}

// keptOpen is how long that is: as long as people read a page, and programs page through
// all there are.
const keptOpen = 2 * time.Minute

func newFormer(s *Stack) *former { return &former{stack: s, begun: map[uint64]struct{}{}} }

var seed = maphash.MakeSeed()

// search identifies the search that a request asks for a page of.
func search(r retrieval.Request) uint64 {
	return maphash.String(seed, fmt.Sprintf("%q %v %v %q %+v", r.Query, r.Plain, r.Typing, r.Profile, r.Filter))
}

// begins notes that the new generation answers the first page of a search.
func (f *former) begins(r retrieval.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun[search(r)] = struct{}{}
}

// continues reports whether a request is for a page of a search that f began.
func (f *former) continues(r retrieval.Request) bool {
	if !r.Continues() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, anew := f.begun[search(r)]
	return !anew
}

// useFor is use for a page of a search.
func (k *Keeper) useFor(r retrieval.Request) (s *Stack, done func(), err error) {
	f := k.former.Load()
	if f != nil && f.continues(r) && f.stack.users.enter() {
		return f.stack, f.stack.users.leave, nil
	}
	s, done, err = k.use()
	if f != nil && err == nil && s != f.stack && !r.Continues() {
		f.begins(r)
	}
	return s, done, err
}

// succeed lets a generation serve in place of another, nil if there was none.
func (k *Keeper) succeed(old, s *Stack) {
	if old != nil && old.origin.Model != s.origin.Model {
		k.former.Store(newFormer(old))
	}
	k.serving.Store(s)
}

// dismiss closes the generation that served before, if it is still open.
func (k *Keeper) dismiss(ctx context.Context) error {
	if f := k.former.Swap(nil); f != nil {
		return k.release(ctx, f.stack)
	}
	return nil
}

// settle closes what a generation replaces, and removes it.
func (k *Keeper) settle(ctx context.Context, s *Stack) error {
	if err := k.dismiss(ctx); err != nil {
		return err
	}
	s.Follower.Promote()
	return s.dropReplaced(ctx)
}
