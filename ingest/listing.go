package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/ingest/outbound"
	"almanac/text/webaddress"
)

// Items is what a Listing leaves for the next one.
type Items struct {
	// Swept is when all items were last requested.
	Swept time.Time `json:"swept,omitzero"`
	// List holds the validators of the list itself.
	List Validators `json:"list,omitzero"`
	// Items are keyed by a name that is stable across runs.
	Items map[string]Seen `json:"items"`
}

// Validators identify the copy that was read (RFC 9110, 8.8).
type Validators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"modified,omitempty"`
}

// Seen is what is remembered about an item.
type Seen struct {
	Validators
	Key     string `json:"key,omitempty"`     // natural key of its record; "" if it has none
	Address string `json:"address,omitempty"` // where it was read
	Stamp   string `json:"stamp,omitempty"`   // digest of its entry in the list
	// LeftOut is why it has no record; "": it has one.
	LeftOut string `json:"left_out,omitempty"`
	// Pending: it could not be read properly and must be read again.
	Pending bool `json:"pending,omitempty"`
	// Unlisted: the list used to name it but no longer does.
	Unlisted bool `json:"unlisted,omitempty"`
	// Date is when it was published, if that determines how long it is listed.
	Date time.Time `json:"date,omitzero"`
	// Own: the options name it, independent of the list.
	Own bool `json:"own,omitempty"`
	// Bare: its record is made of what the list says, without its content.
	Bare bool `json:"bare,omitempty"`
}

// Stale is the state for a run that reads items otherwise: they are known but must be
// read again.
func (s Items) Stale() Items {
	items := map[string]Seen{}
	for name, seen := range s.Items {
		seen.Validators, seen.Stamp, seen.Pending = Validators{}, "", true
		items[name] = seen
	}
	return Items{Items: items}
}

// Listing is one pass over a list, such as a feed, a sitemap or a list of papers: it
// names items, each at its own address. A Listing requests what changed since the run
// before, knows what that saw, and handles failures: a known item that cannot be read
// keeps its record, and a server that is down gets no further requests. Known is what
// the run before left, Now what this run leaves; connectors may read both.
type Listing struct {
	Known, Now Items
	Sweep      bool // this run requests all items, even those that the list calls unchanged

	out   Sink
	kind  catalog.Kind
	hosts outbound.Hosts
	gone  []catalog.Ref
	read  int // items that were read
	left  int // items that were not requested, because their host is down
}

// NewListing starts a run over a list whose items are records of a kind. sweep is how
// long to trust the list that an item is unchanged; 0 = forever.
func NewListing(env Environment, kind catalog.Kind, sweep time.Duration, known Items, out Sink) *Listing {
	r := &Listing{
		Known: known, Now: Items{Swept: known.Swept, Items: map[string]Seen{}}, out: out, kind: kind,
		hosts: outbound.Hosts{Client: env.HTTP},
	}
	if r.Sweep = sweep > 0 && env.Now().Sub(known.Swept) >= sweep; r.Sweep {
		r.Now.Swept = env.Now().UTC()
	}
	return r
}

// Item is one entry of a list.
type Item struct {
	Name    string // key in the state; also names it in reports
	Address string
	Accept  []string
	MaxBody int64
	// Stamp changes with the item; "": the list does not say when it changes.
	Stamp string
	// Open gets the content in place of a request.
	Open func() ([]byte, error)
	// Bare makes the record that stands in while the content cannot be read: of what
	// the list says. Nil: there is none.
	Bare func() (catalog.Entry, error)
	// Pending, Date and Own are as in Seen. Who makes the record may set Pending.
	Pending bool
	Date    time.Time
	Own     bool
}

// Nothing is the Open of an item whose content is in the list, or is read by who
// makes its record.
func Nothing() ([]byte, error) { return nil, nil }

var (
	errGone    = errors.New("its address no longer exists; correct it in the options")
	errSettled = errors.New("nothing is left to do")
)

// Each reads the items of the list that changed; entry makes an item's record of its
// content. It reports every item that cannot be read: that keeps its record unless it
// is a bare one, and loses it if it is gone, unless the options name it. An item that is
// to have no record (ErrNoItem) is not read again until the list calls it changed.
func (r *Listing) Each(ctx context.Context, items []Item,
	entry func(i int, content outbound.Response) (catalog.Entry, error)) error {
	for i := range items {
		if err := r.item(ctx, &items[i], func(content outbound.Response) (catalog.Entry, error) {
			return entry(i, content)
		}); err != nil {
			return err
		}
		r.out.Progress(i+1, len(items))
	}
	return nil
}

func (r *Listing) item(ctx context.Context, it *Item, entry func(outbound.Response) (catalog.Entry, error)) error {
	content, err := r.content(ctx, it)
	var e catalog.Entry
	if err == nil {
		e, err = entry(content)
	}
	old, known := r.Known.Items[it.Name]
	seen := Seen{Address: it.Address, Date: it.Date, Own: it.Own, Pending: it.Pending}
	if !it.Pending {
		seen.Validators, seen.Stamp = Validators{content.ETag, content.LastModified}, it.Stamp
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errSettled):
		return nil
	case errors.Is(err, ErrNoItem):
		seen.LeftOut = err.Error()
		r.remember(it.Name, seen)
		return nil
	case err != nil && it.Bare != nil && (old.Bare || !known):
		r.out.Warn(it.Name, "could not be read, so its record has only what the list says: "+err.Error())
		seen = Seen{Address: it.Address, Date: it.Date, Own: it.Own, Pending: true, Bare: true}
		e, err = it.Bare()
	}
	if err != nil {
		r.out.Skip(it.Name, err)
		r.again(it.Name)
		return nil
	}
	seen.Key = e.Record.Key
	r.Now.Items[it.Name] = seen
	return r.out.Put(ctx, e)
}

// content reads an item unless it is known to be unchanged. The error is errSettled
// if there is nothing to make a record of.
func (r *Listing) content(ctx context.Context, it *Item) (outbound.Response, error) {
	old, known := r.Known.Items[it.Name]
	same := func() bool { return known && !old.Pending && it.Stamp == old.Stamp }
	switch {
	case it.Stamp != "" && same() && !r.Sweep:
		r.Keep(it.Name)
		return outbound.Response{}, errSettled
	case it.Open == nil:
		return r.request(ctx, it, same())
	}
	data, err := it.Open()
	if err != nil {
		return outbound.Response{}, err
	}
	r.read++
	if it.Stamp == "" {
		if it.Stamp = Digest(data); same() {
			r.Keep(it.Name)
			err = errSettled
		}
	}
	return outbound.Response{Body: data}, err
}

// request requests an item; if not same, its record changes although the answer may
// not.
func (r *Listing) request(ctx context.Context, it *Item, same bool) (outbound.Response, error) {
	answer, err := r.ask(ctx, *it, same)
	switch blame := outbound.BlameOf(err); {
	case errors.Is(err, outbound.ErrDown):
		r.left++
		r.again(it.Name)
	case blame == outbound.Gone && it.Own:
		return answer, errGone
	case blame == outbound.Gone:
		r.out.Warn(it.Name, "the list has it, but it does not exist")
		r.Drop(it.Name)
	case err != nil || !answer.NotModified:
		return answer, err
	default:
		r.Keep(it.Name)
	}
	return answer, errSettled
}

func (r *Listing) ask(ctx context.Context, it Item, conditional bool) (outbound.Response, error) {
	request := outbound.Request{URL: it.Address, Accept: it.Accept, MaxBody: it.MaxBody}
	if conditional {
		old := r.Known.Items[it.Name]
		request.ETag, request.LastModified = old.ETag, old.LastModified
	}
	answer, err := r.hosts.Do(ctx, request)
	if err == nil {
		r.read++
	}
	return answer, err
}

// KeepMissing keeps a known item that the list does not name; unlisted says that the
// list should name it.
func (r *Listing) KeepMissing(name string, unlisted bool) {
	old := r.Known.Items[name]
	old.Unlisted = unlisted
	r.remember(name, old)
}

// Drop forgets a known item that is gone.
func (r *Listing) Drop(name string) {
	if old := r.Known.Items[name]; old.Key != "" {
		r.gone = append(r.gone, catalog.Ref{Kind: r.kind, Key: old.Key})
	}
	delete(r.Known.Items, name)
}

// Check handles a known item that the list no longer names: it requests the item when
// it is first missing, and with every sweep. If its address now leads to another item
// of this run, or to the front page of its site, the item is gone.
func (r *Listing) Check(ctx context.Context, name string, accept []string) {
	old := r.Known.Items[name]
	if old.Address == "" || old.Unlisted && !r.Sweep {
		r.remember(name, old)
		return
	}
	answer, err := r.ask(ctx, Item{Name: name, Address: old.Address, Accept: accept}, true)
	switch {
	case outbound.BlameOf(err) == outbound.Gone, err == nil && !answer.NotModified && r.elsewhere(name, answer.URL):
		r.Drop(name)
	case err != nil:
		r.remember(name, old)
	default:
		old.Unlisted, old.Pending = true, false
		r.remember(name, old)
	}
}

// elsewhere reports whether an item's address led to something else.
func (r *Listing) elsewhere(name, address string) bool {
	u := webaddress.Canonical(address, nil)
	if u == nil || webaddress.Key(u) == name {
		return false
	}
	_, other := r.Now.Items[webaddress.Key(u)]
	return other || webaddress.Path(u) == ""
}

// again keeps an item of earlier runs, to be read again.
func (r *Listing) again(name string) {
	if old, ok := r.Known.Items[name]; ok {
		old.Pending, old.LeftOut = true, ""
		r.remember(name, old)
	}
}

// Keep keeps an item as the previous run saw it.
func (r *Listing) Keep(name string) {
	if old, ok := r.Known.Items[name]; ok {
		old.Unlisted = false
		r.remember(name, old)
	}
}

// leftOut is the reason of an earlier run for that an item has no record.
type leftOut string

func (l leftOut) Error() string        { return string(l) }
func (l leftOut) Is(target error) bool { return target == ErrNoItem }

func (r *Listing) remember(name string, s Seen) {
	r.Now.Items[name] = s
	if s.Key != "" {
		r.out.Keep(catalog.Ref{Kind: r.kind, Key: s.Key})
	}
	if s.LeftOut != "" {
		r.out.Skip(name, leftOut(s.LeftOut))
	}
}

// Missing returns the known items that this run has not seen, by name.
func (r *Listing) Missing() iter.Seq2[string, Seen] {
	return func(yield func(string, Seen) bool) {
		for _, name := range slices.Sorted(maps.Keys(r.Known.Items)) {
			if _, ok := r.Now.Items[name]; !ok && !yield(name, r.Known.Items[name]) {
				return
			}
		}
	}
}

// Done ends the run, with the error that ended it. complete: an item that it has not
// seen has no record. It fails if a host is down and no item could be read, and reports
// the items that are left to the next run: a record that it has not seen may then be
// theirs.
func (r *Listing) Done(complete bool, err error) (Items, Outcome, error) {
	down := r.hosts.Down()
	if err == nil && r.read == 0 {
		err = down
	}
	if err != nil {
		return Items{}, Outcome{}, err
	}
	for _, seen := range r.Now.Items {
		if seen.Pending {
			r.Now.List = Validators{} // although the list may not change
		}
	}
	if r.left > 0 {
		r.out.Skip("the rest", fmt.Errorf("%d items are left to the next run: %w", r.left, down))
	}
	return r.Now, Outcome{Complete: complete && r.left == 0, Gone: r.gone}, nil
}
