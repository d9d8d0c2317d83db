package forum

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/options"
)

// Kind is the kind of sources that network files call forum.
var Kind = ingest.Kind[settings, state]{
	Name: "forum",
	Summary: "Reads a Discourse forum through its public JSON interface: the categories, the list of topics, " +
		"and every topic with all its posts.",
	Example: `sources:
  - name: forum
    kind: forum
    every: 30m
    options:
      url: https://forum.example.org    # where the forum's pages begin
      exclude: [lounge, staff/archive]  # slugs of categories to ignore, with their subcategories
      sweep: 24h                        # how often the whole list is read; default 24h
`,
	Defaults: settings{Sweep: 24 * time.Hour},
	Open: func(s settings, env ingest.Environment) (ingest.Connector[state], error) {
		return &connector{s, env}, nil
	},
}

// settings are the source's options in the network file.
type settings struct {
	URL     string        `yaml:"url" required:"true" format:"base"`
	Exclude []string      `yaml:"exclude"`
	Sweep   time.Duration `yaml:"sweep" min:"1s"`
}

// Check completes the options.
func (s *settings) Check() error {
	if strings.ContainsAny(s.URL, "?#") {
		return options.Errorf("url", "want an address without a query, such as https://forum.example.org")
	}
	for i, slug := range s.Exclude {
		if s.Exclude[i] = strings.ToLower(strings.Trim(slug, "/ ")); s.Exclude[i] == "" {
			return options.Errorf(options.Item("exclude", i), "want the slug of a category")
		}
	}
	return nil
}

// state is what one run passes to the next.
type state struct {
	Bumped time.Time      `json:"bumped"` // the latest activity in the list
	Swept  time.Time      `json:"swept"`  // when the whole list was read
	Topics map[int64]seen `json:"topics"`
}

// seen is the state of a topic that was read.
type seen struct {
	Line  uint64  `json:"line"`  // fingerprint of its line in the list; 0: read it again
	Posts []int64 `json:"posts"` // the numbers of its posts, ascending
}

type connector struct {
	opts settings
	env  ingest.Environment
}

// Sync implements ingest.Connector. Topics that were not listed are kept as earlier
// runs saw them, so that every run can report which posts of the topics it read are
// gone.
func (c *connector) Sync(ctx context.Context, known state, out ingest.Sink) (state, ingest.Outcome, error) {
	s := &syncRun{
		connector: c, out: out, api: client{c.env.HTTP, c.opts.URL}, known: known,
		now: state{Topics: map[int64]seen{}},
	}
	err := s.read(ctx)
	return s.now, ingest.Outcome{Complete: true}, err
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
