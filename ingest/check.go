package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/ingest/privacy"
	"almanac/text/visible"
	"almanac/text/webaddress"
)

// MaxText is the most bytes of a text that is parsed and indexed: a page, a proposal.
// Connectors skip a larger one before they parse it, and what they make of answers is
// cut to it. Parsers and the index take some hundred times the size of the worst.
const MaxText = 2 << 20

// The limits of a record. Longer text is cut with a warning; larger data is a
// bad item.
const (
	maxTitle   = 500     // characters
	maxAuthor  = 300     // characters
	maxSummary = 5_000   // characters
	maxData    = 4 << 20 // bytes
	maxHanging = 5_000   // links, aliases, votes or tags, each
)

// Dates outside these bounds are mistakes of a source: a zero or negative
// epoch, a typing error in the year.
var earliest = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	skew   = 48 * time.Hour            // how far ahead a past event may be dated: other clocks and time zones
	future = 50 * 365 * 24 * time.Hour // how far ahead a planned one may be
)

var (
	errNoKey       = errors.New("has no key")
	errKeyShape    = errors.New("its key has control characters, invisible ones or surrounding space")
	errUnknownKind = errors.New("has an unknown kind")
)

// checker validates and repairs one entry, and warns of each repair.
type checker struct {
	now  time.Time
	warn func(message string)
}

// checkRef validates the reference of a record.
func checkRef(ref catalog.Ref) error {
	switch _, known := catalog.InfoOf(ref.Kind); {
	case !known:
		return fmt.Errorf("%w %q", errUnknownKind, ref.Kind)
	case ref.Key == "":
		return errNoKey
	case !utf8.ValidString(ref.Key) || strings.TrimSpace(ref.Key) != ref.Key ||
		strings.ContainsFunc(ref.Key, unicode.IsControl) || visible.Text(ref.Key) != ref.Key:
		return errKeyShape
	case len(ref.Key) > catalog.MaxKey:
		return fmt.Errorf("its key has %d bytes; the limit is %d", len(ref.Key), catalog.MaxKey)
	}
	return nil
}

// entry repairs an entry; it fails if the item is bad beyond repair.
func (c checker) entry(e *catalog.Entry) error {
	if err := c.data(e.Record); err != nil {
		return err
	}
	c.texts(e)
	c.dates(&e.Record)
	c.address("url", &e.Record.URL)
	limit(c, "aliases", &e.Aliases, 0)
	limit(c, "votes", &e.Votes, 0)
	limit(c, "tags", &e.Record.Tags, 0)
	if f := e.Facts; f != nil {
		if err := c.data(catalog.Record{Kind: e.Record.Kind, Data: f.Data}); err != nil {
			return fmt.Errorf("its facts: %w", err)
		}
		c.fact("last_activity_at of its facts", &f.LastActivityAt)
		limit(c, "tags of its facts", &f.Tags, 0)
	}
	for i := range e.Votes {
		c.fact("a vote's date", &e.Votes[i].CastAt)
		c.address("a vote's url", &e.Votes[i].URL)
	}
	return nil
}

// data checks that a record's data has the type of its kind.
func (c checker) data(r catalog.Record) error {
	if len(r.Data) == 0 {
		return nil
	}
	if len(r.Data) > maxData {
		return fmt.Errorf("its data has %d bytes; the limit is %d", len(r.Data), maxData)
	}
	info, _ := catalog.InfoOf(r.Kind)
	if err := json.Unmarshal(r.Data, reflect.New(info.Data).Interface()); err != nil {
		return fmt.Errorf("its data is not a %s: %w", info.Data.Name(), err)
	}
	return nil
}

// texts cleans and cuts the texts of an entry.
func (c checker) texts(e *catalog.Entry) {
	r := &e.Record
	privacy.VisibleEntry(e)
	for _, t := range []struct {
		name string
		text *string
		most int // bytes, which characters never exceed
	}{
		{"title", &r.Title, maxTitle}, {"author", &r.Author, maxAuthor},
		{"summary", &r.Summary, maxSummary}, {"body", &r.Body, MaxText},
	} {
		if clean := catalog.Clean(*t.text); clean != *t.text {
			c.warn(t.name + " is not valid UTF-8 text; the invalid bytes were replaced")
			*t.text = clean
		}
		if len(*t.text) > t.most {
			cut := strings.ToValidUTF8((*t.text)[:t.most], "")
			c.warn(fmt.Sprintf("%s has %d bytes and was cut to %d", t.name, len(*t.text), len(cut)))
			*t.text = cut
		}
	}
	if r.Title = strings.Join(strings.Fields(r.Title), " "); r.Title == "" && r.Body == "" {
		c.warn("has neither title nor text")
	}
}

func (c checker) dates(r *catalog.Record) {
	c.fact("created_at", &r.CreatedAt)
	c.fact("updated_at", &r.UpdatedAt)
	c.fact("last_activity_at", &r.LastActivityAt)
	c.within("starts_at", &r.StartsAt, future)
	c.within("ends_at", &r.EndsAt, future)
	// A vote ends before its subject takes effect.
	if !r.EndsAt.IsZero() && r.EndsAt.Before(r.StartsAt) && r.Kind != catalog.KindVoteRequest {
		c.warn("ends before it starts; its end was dropped")
		r.EndsAt = time.Time{}
	}
}

// fact drops an impossible date of a past event.
func (c checker) fact(name string, t *time.Time) { c.within(name, t, skew) }

func (c checker) within(name string, t *time.Time, ahead time.Duration) {
	if t.IsZero() || !t.Before(earliest) && !t.After(c.now.Add(ahead)) {
		return
	}
	c.warn(fmt.Sprintf("%s %s is impossible and was dropped", name, t.UTC().Format(time.RFC3339)))
	*t = time.Time{}
}

// address drops an unsafe link target: anything but an http or https URL with
// a host and without a user.
func (c checker) address(name string, address *string) {
	if *address == "" || webaddress.Check(*address) == nil {
		return
	}
	c.warn(fmt.Sprintf("%s is not a web address and was dropped", name))
	*address = ""
}

// limit cuts a list of which some are left out already.
func limit[T any](c checker, name string, list *[]T, left int) {
	if n := len(*list) + left; n > maxHanging {
		c.warn(fmt.Sprintf("has %d %s; the first %d are kept", n, name, maxHanging))
		*list = (*list)[:min(len(*list), maxHanging)]
	}
}

// events returns the events of a reference that have a possible date.
func (c checker) events(in []catalog.Event) []catalog.Event {
	out := make([]catalog.Event, 0, len(in))
	for _, e := range in {
		e.RawFrom, e.RawTo, e.Subject, e.URL = visible.Text(e.RawFrom), visible.Text(e.RawTo),
			visible.Text(e.Subject), visible.Address(e.URL)
		c.fact("the date of an event", &e.At)
		if e.At.IsZero() {
			c.warn(fmt.Sprintf("a change of %s to %q has no date and was left out", e.Field, e.RawTo))
			continue
		}
		c.address("the url of an event", &e.URL)
		out = append(out, e)
	}
	return out
}
