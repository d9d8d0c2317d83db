package listing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/webpage"
)

// Run is one pass over a list. Known is the state that the previous run left, Now
// the one of this run; connectors may read both.
type Run struct {
	Known, Now State

	http  *outbound.Client
	out   ingest.Sink
	kind  catalog.Kind
	sweep bool

	gone   []catalog.Ref
	failed map[string]int // consecutive items that could not be read, by host
	down   int            // hosts of which too many could not be
	read   int            // items that were read
	left   int            // items that were not requested
	cause  error          // of the last failure
}

// Config configures a Run.
type Config struct {
	HTTP  *outbound.Client
	Out   ingest.Sink
	Kind  catalog.Kind // of the items' records
	Known State
	// Sweep is how long to trust the list that an item is unchanged; 0 =
	// forever.
	Sweep time.Duration
	Now   time.Time
}

// NewRun starts a run.
func NewRun(c Config) *Run {
	r := &Run{Known: c.Known, http: c.HTTP, out: c.Out, kind: c.Kind, failed: map[string]int{},
		sweep: c.Sweep > 0 && c.Now.Sub(c.Known.Swept) >= c.Sweep}
	r.Now = State{Swept: c.Known.Swept, Items: map[string]Seen{}}
	if r.sweep {
		r.Now.Swept = c.Now.UTC()
	}
	return r
}

// Sweep reports whether this run requests all items, even those that the list
// calls unchanged.
func (r *Run) Sweep() bool { return r.sweep }

// Item is one entry of a list.
type Item struct {
	Name    string // key in the state; also names it in reports
	Address string
	Open    func() ([]byte, error) // reads it in place of a request
	Stamp   string                 // changes with the item; "" if the list does not say
	Accept  []string
	MaxBody int64
}

// Found is the outcome of a request for an item.
type Found int

// What is found of an item.
const (
	Kept   Found = iota // unchanged, or cannot be requested now; its record stays
	Fresh               // its content was read
	Gone                // it no longer exists
	Failed              // it could not be read
)

// After maxFailed consecutive failures of a host the rest of its items is left
// to the next run, and after maxDown such hosts that of all: whoever writes one
// item chooses its host, and must not end the run.
const (
	maxFailed = 5
	maxDown   = 20
)

// Ask requests an item unless it is known to be unchanged. It returns the
// answer for a Fresh item and the error for a Failed one. The connector must
// then call Put, Omit or Fail for these; a Gone item needs no call.
func (r *Run) Ask(ctx context.Context, it Item) (outbound.Response, Found, error) {
	old, known := r.Known.Items[it.Name]
	same := known && !old.Pending && it.Stamp == old.Stamp
	if same && it.Stamp != "" && !r.sweep {
		r.Keep(it.Name)
		return outbound.Response{}, Kept, nil
	}
	if r.isDown(it.Address) {
		r.left++
		r.again(it.Name)
		return outbound.Response{}, Kept, nil
	}
	answer, state, err := r.ask(ctx, it, same) // if not same, the record changes although the answer may not
	if state == Fresh && answer.NotModified {
		r.Keep(it.Name)
		state = Kept
	}
	return answer, state, err
}

func (r *Run) ask(ctx context.Context, it Item, conditional bool) (outbound.Response, Found, error) {
	request := outbound.Request{URL: it.Address, Accept: it.Accept, MaxBody: it.MaxBody}
	if conditional {
		old := r.Known.Items[it.Name]
		request.ETag, request.LastModified = old.ETag, old.LastModified
	}
	answer, err := r.http.Do(ctx, request)
	switch {
	case isGone(err):
		delete(r.failed, hostOf(it.Address))
		r.Drop(it.Name)
		return answer, Gone, nil
	case err != nil:
		if r.cause = err; !isItems(err) {
			r.count(it.Address)
		}
		return answer, Failed, err
	}
	delete(r.failed, hostOf(it.Address))
	r.read++
	return answer, Fresh, nil
}

// count counts a failure of an address's host.
func (r *Run) count(address string) {
	host := hostOf(address)
	if r.failed[host]++; r.failed[host] == maxFailed {
		r.down++
	}
}

// isDown reports whether an address is not requested in this run.
func (r *Run) isDown(address string) bool {
	return r.down >= maxDown || r.failed[hostOf(address)] >= maxFailed
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// KeepMissing keeps a known item that the list does not name; unlisted says
// that the list should name it.
func (r *Run) KeepMissing(name string, unlisted bool) {
	old := r.Known.Items[name]
	old.Unlisted = unlisted
	r.remember(name, old)
}

// Drop forgets a known item that is gone.
func (r *Run) Drop(name string) {
	if old := r.Known.Items[name]; old.Key != "" {
		r.gone = append(r.gone, catalog.Ref{Kind: r.kind, Key: old.Key})
	}
	delete(r.Known.Items, name)
}

// Gone returns the records of known items that are gone.
func (r *Run) Gone() []catalog.Ref { return r.gone }

// Check handles a known item that the list no longer names: it requests the
// item when it is first missing, and with every sweep. If its address now leads
// to another item of this run, or to the front page of its site, the item is
// gone.
func (r *Run) Check(ctx context.Context, name string, accept []string) {
	old := r.Known.Items[name]
	if old.Address == "" || old.Unlisted && !r.sweep || r.isDown(old.Address) {
		r.remember(name, old)
		return
	}
	answer, state, _ := r.ask(ctx, Item{Name: name, Address: old.Address, Accept: accept}, true)
	switch {
	case state == Gone:
	case state == Failed:
		r.remember(name, old)
	case !answer.NotModified && r.elsewhere(name, answer.URL):
		r.Drop(name)
	default:
		old.Unlisted, old.Pending = true, false // no longer listed
		r.remember(name, old)
	}
}

// elsewhere reports whether an item's address led to something else.
func (r *Run) elsewhere(name, address string) bool {
	u := webpage.Address(address, nil)
	if u == nil || webpage.Key(u) == name {
		return false
	}
	_, other := r.Now.Items[webpage.Key(u)]
	return other || webpage.Path(u) == ""
}

// Put writes an item's record and remembers the validators of the answer.
func (r *Run) Put(ctx context.Context, it Item, e catalog.Entry, answer outbound.Response) error {
	r.Now.Items[it.Name] = Seen{
		Validators: Validators{answer.ETag, answer.LastModified}, Key: e.Record.Key, Address: it.Address,
		Stamp: it.Stamp,
	}
	return r.out.Put(ctx, e)
}

// PutPending writes an incomplete record: the next run requests the item again.
func (r *Run) PutPending(ctx context.Context, it Item, e catalog.Entry) error {
	r.Now.Items[it.Name] = Seen{Key: e.Record.Key, Address: it.Address, Pending: true}
	return r.out.Put(ctx, e)
}

// Omit remembers an item without a record, so that it is not requested again
// until the list calls it changed.
func (r *Run) Omit(it Item) {
	r.Now.Items[it.Name] = Seen{Address: it.Address, Stamp: it.Stamp}
}

// Fail reports an item that could not be read. Its record is kept, and the next
// run requests it again.
func (r *Run) Fail(it Item, err error) {
	r.out.Skip(it.Name, err)
	r.again(it.Name)
}

// again keeps an item of earlier runs, to be requested again.
func (r *Run) again(name string) {
	if old, ok := r.Known.Items[name]; ok {
		old.Pending = true
		r.remember(name, old)
	}
}

// Keep keeps an item as the previous run saw it.
func (r *Run) Keep(name string) {
	if old, ok := r.Known.Items[name]; ok {
		old.Unlisted = false
		r.remember(name, old)
	}
}

func (r *Run) remember(name string, s Seen) {
	r.Now.Items[name] = s
	if s.Key != "" {
		r.out.Keep(catalog.Ref{Kind: r.kind, Key: s.Key})
	}
}

// Missing returns the sorted names of known items that this run has not seen.
func (r *Run) Missing() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.Known.Items)) {
		if _, ok := r.Now.Items[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// Whole reports whether every item of the list was requested or is known. If
// not, a record that this run has not seen may belong to an item that was left
// out.
func (r *Run) Whole() bool { return r.left == 0 }

// Close ends the run. It fails if the servers of the items are down: too many
// consecutive items could not be read, and none could. It reports the items
// left to the next run because of failures.
func (r *Run) Close() error {
	if r.down == 0 {
		return nil
	}
	if r.read == 0 {
		return fmt.Errorf("%d items in a row could not be read: %w", maxFailed, r.cause)
	}
	if r.left > 0 {
		r.out.Skip("the rest", fmt.Errorf("%d items are left to the next run because %d in a row could not be read "+
			"from their server: %w", r.left, maxFailed, r.cause))
	}
	return nil
}

// isGone reports whether a server answered that the item does not exist.
func isGone(err error) bool {
	status, ok := errors.AsType[*outbound.StatusError](err)
	return ok && (status.Status == http.StatusNotFound || status.Status == http.StatusGone)
}

// isItems reports whether a failure is caused by the item and not by its
// server.
func isItems(err error) bool {
	status, ok := errors.AsType[*outbound.StatusError](err)
	return ok && status.Status < http.StatusInternalServerError && status.Status != http.StatusTooManyRequests ||
		errors.Is(err, outbound.ErrRefused) || errors.Is(err, outbound.ErrContentType) ||
		errors.Is(err, outbound.ErrTooLarge)
}
