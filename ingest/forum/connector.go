package forum

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/outbound"
)

type connector struct {
	opts options
	env  ingest.Environment
}

// Kind is the kind of sources that network files call forum.
var Kind = ingest.Described{
	Name: "forum",
	Summary: "Reads a Discourse forum through its public JSON interface: the categories, the list of topics, " +
		"and every topic with all its posts.",
	Constructor: New,
	Example: `sources:
  - name: forum
    kind: forum
    every: 30m
    options:
      url: https://forum.example.org    # where the forum's pages begin
      exclude: [lounge, staff/archive]  # slugs of categories to ignore, with their subcategories
      sweep: 24h                        # how often the whole list is read; default 24h
`,
}

// New makes the connector of a source; it is the Constructor of kind "forum".
func New(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
	opts, err := readOptions(src)
	if err != nil {
		return nil, err
	}
	if env.WorkDir == "" {
		return nil, errors.New("forum: a working directory is needed for the state of topics")
	}
	return &connector{opts: opts, env: env}, nil
}

// Sync implements ingest.Cursored. The cursor names the file with the state of
// the forum.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	s := &syncRun{
		connector: c, out: out, api: client{c.env.HTTP, c.opts.URL}, known: c.recall(cursor),
		now: state{Topics: map[int64]seen{}},
	}
	if err := s.read(ctx); err != nil {
		return ingest.Outcome{}, fmt.Errorf("forum: %w", err)
	}
	cursor, err := c.remember(s.now, cursor)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("forum: store the state: %w", err)
	}
	// Topics that were not listed are kept as earlier runs saw them, so that every
	// run can report which posts of the topics it read are gone.
	return ingest.Outcome{Cursor: cursor, Complete: true}, nil
}

// syncRun is one reading of the forum.
type syncRun struct {
	*connector
	out    ingest.Sink
	api    client
	known  state // from earlier runs
	now    state
	where  categories
	failed int // topics in a row that could not be read
	done   int
}

// unreadable is an error about one topic and not about the forum.
type unreadable struct{ error }

func (u unreadable) Unwrap() error { return u.error }

// errGone: the topic does not exist for readers of the forum.
var errGone = errors.New("does not exist for readers")

// maxFailed is how many unreadable topics in a row mean that the forum may be
// down.
const maxFailed = 5

func (s *syncRun) read(ctx context.Context) error {
	where, total, err := s.categories(ctx)
	if isGone(err) || errors.Is(err, outbound.ErrContentType) {
		return fmt.Errorf("%w; is %s a Discourse forum that can be read without an account?", err, s.opts.URL)
	}
	if err != nil {
		return err
	}
	s.where = where
	sweep := len(s.known.Topics) == 0 || s.env.Now().Sub(s.known.Swept) >= s.opts.Sweep
	s.now.Bumped, s.now.Swept = s.known.Bumped, s.known.Swept
	listed, err := s.list(ctx, sweep)
	if err != nil {
		return err
	}
	if !sweep {
		total = len(listed)
	}
	for _, l := range listed {
		if old := s.known.Topics[l.id]; old.Line == l.line {
			s.keep(l.id, old)
		} else if err := s.refresh(ctx, l); err != nil {
			return err
		}
		s.done++
		s.out.Progress(s.done, max(total, s.done))
	}
	if sweep {
		s.now.Swept = s.env.Now()
	}
	return s.unlisted(ctx, sweep)
}

// unlisted settles the known topics that the list did not have. After a sweep
// they are requested one by one: a topic that moved from one page to another
// while the list was read still exists. If most of the forum seems gone, that is
// left to the pipeline's guard.
func (s *syncRun) unlisted(ctx context.Context, sweep bool) error {
	var missing []int64
	for _, id := range slices.Sorted(maps.Keys(s.known.Topics)) {
		if _, ok := s.now.Topics[id]; !ok {
			missing = append(missing, id)
		}
	}
	const most = 5 // a fifth may be requested
	emptied := len(missing) > 10 && len(missing)*most > len(s.known.Topics)
	for _, id := range missing {
		old := s.known.Topics[id]
		switch {
		case !sweep && old.Line != 0:
			s.keep(id, old)
		case !sweep || !emptied:
			// Its line is not known: if it is listed again, it is read again.
			if err := s.refresh(ctx, listed{id, max(old.Line, 1)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// refresh reads a topic and its posts. An unreadable part keeps its records and
// is read again by the next run.
func (s *syncRun) refresh(ctx context.Context, l listed) error {
	posts, whole, err := s.topic(ctx, l.id)
	switch {
	case errors.Is(err, errGone):
		return nil
	case err == nil && whole:
		s.failed = 0
		s.now.Topics[l.id] = seen{l.line, posts}
		return nil
	case err == nil:
		s.failed = 0
	default:
		if err := s.fault(ctx, l.id, err); err != nil {
			return err
		}
	}
	posts = slices.Concat(posts, s.known.Topics[l.id].Posts)
	slices.Sort(posts)
	s.keep(l.id, seen{0, slices.Compact(posts)})
	return nil
}

// fault reports a topic that could not be read. If the topic is not at fault, the
// run ends with the error.
func (s *syncRun) fault(ctx context.Context, id int64, err error) error {
	item, ok := errors.AsType[unreadable](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	s.out.Skip(topicKey(id), item.error)
	if s.failed++; s.failed < maxFailed {
		return nil
	}
	s.failed = 0
	if _, _, err := s.categories(ctx); err != nil {
		return fmt.Errorf("%d topics in a row could not be read: %w", maxFailed, err)
	}
	return nil
}

// keep reports that a topic and its posts exist unchanged.
func (s *syncRun) keep(id int64, t seen) {
	s.out.Keep(catalog.Ref{Kind: catalog.KindTopic, Key: topicKey(id)})
	for _, n := range t.Posts {
		s.out.Keep(catalog.Ref{Kind: catalog.KindPost, Key: postKey(id, n)})
	}
	s.now.Topics[id] = t
}

func topicKey(id int64) string      { return strconv.FormatInt(id, 10) }
func postKey(topic, n int64) string { return topicKey(topic) + "/" + topicKey(n) }
