package catalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"almanac/text/prose"
)

// Limits of an entry; Normalize truncates what is longer.
const (
	MaxKey     = 1024 // bytes of a natural key or alias; longer ones are rejected
	MaxSnippet = 240  // characters of a link's snippet
)

// Entry is a record with its dependents. A write replaces the record's links,
// aliases and votes as a whole; links, aliases and facts added by other sources
// are kept. Normalize defines the stored form.
type Entry struct {
	Record Record
	// Parent is resolved to Record.Parent when set, by key or alias; it may be
	// earlier in the same batch. A parent that does not exist leaves
	// Record.Parent unchanged.
	Parent  Ref
	Aliases []string
	Links   []Link
	Votes   []Vote
	// Facts, if not nil, count whichever source owns the record.
	Facts *Facts
	// Addition says that the entry only adds aliases, links and facts to a record
	// of another source. It is ignored if that record does not exist.
	Addition bool
}

// Normalize returns the entry as stores keep it: clean text and times, tags and
// aliases as sorted sets, votes by time, compact data, no links without a
// target. It does not modify its argument. It fails with ErrBadEntry.
func (e Entry) Normalize() (Entry, error) {
	if err := e.Record.normalize(); err != nil {
		return Entry{}, err
	}
	var err error
	if e.Facts, err = e.Facts.normalize(); err != nil {
		return Entry{}, fmt.Errorf("catalog: %s: %w", e.Record.Ref(), err)
	}
	e.Parent = e.Parent.Clean()
	e.Aliases = set(e.Aliases)
	e.Aliases = slices.DeleteFunc(e.Aliases, func(a string) bool { return a == e.Record.Key || len(a) > MaxKey })
	links := make([]Link, 0, len(e.Links))
	for _, l := range e.Links {
		l = Link{Relation: Relation(Clean(string(l.Relation))), To: l.To.Clean(),
			Snippet: prose.First(Clean(l.Snippet), MaxSnippet)}
		if l.To.Kind != "" && l.To.Key != "" && len(l.To.Key) <= MaxKey {
			links = append(links, l)
		}
	}
	e.Links = links
	votes := make([]Vote, 0, len(e.Votes))
	for _, v := range e.Votes {
		votes = append(votes, Vote{
			Voter: Clean(v.Voter), Choice: Clean(v.Choice), Reason: Clean(v.Reason),
			CastAt: CleanTime(v.CastAt), URL: Clean(v.URL),
		})
	}
	slices.SortStableFunc(votes, func(a, b Vote) int {
		return cmp.Or(a.CastAt.Compare(b.CastAt), cmp.Compare(a.Voter, b.Voter))
	})
	e.Votes = votes
	return e, nil
}

func (r *Record) normalize() error {
	for _, s := range []*string{
		(*string)(&r.Kind), &r.Key, &r.Title, &r.URL, &r.Path, &r.Source, &r.Container,
		&r.State, &r.Category, &r.Author, &r.Body, &r.Summary,
	} {
		*s = Clean(*s)
	}
	for _, t := range []*time.Time{&r.CreatedAt, &r.UpdatedAt, &r.LastActivityAt, &r.FirstSeenAt, &r.StartsAt,
		&r.EndsAt} {
		*t = CleanTime(*t)
	}
	r.Tags = set(r.Tags)
	switch {
	case r.Kind == "" || r.Key == "":
		return fmt.Errorf("catalog: %w: kind %q, key %q", ErrBadEntry, r.Kind, r.Key)
	case len(r.Key) > MaxKey:
		return fmt.Errorf("catalog: %w: the key of %s %.40s… is longer than %d bytes", ErrBadEntry, r.Kind, r.Key,
			MaxKey)
	case len(r.Data) == 0:
		r.Data = nil
		return nil
	}
	var data bytes.Buffer
	if err := json.Compact(&data, []byte(strings.ToValidUTF8(string(r.Data), "\uFFFD"))); err != nil {
		return fmt.Errorf("catalog: %w: data of %s: %w", ErrBadEntry, r.Ref(), err)
	}
	r.Data = data.Bytes()
	return nil
}

// ContentHash is the hash of a normalized entry's content and dependents, so
// that a change of only its tags, aliases, links or votes is a change. It
// excludes what the Store sets, and the facts, which an owner also states in the
// record.
func (e Entry) ContentHash() string {
	r := e.Record
	r.ID, r.Hash, r.Source, r.FirstSeenAt, r.DeletedAt = 0, "", "", time.Time{}, time.Time{}
	return hash(struct {
		Record  Record
		Aliases []string
		Links   []Link
		Votes   []Vote
	}{r, e.Aliases, e.Links, e.Votes})
}

// AdditionHash is the hash of what a normalized entry adds to a record of
// another source: its aliases, links and facts. It is "" if it adds nothing and does
// not yield the record either.
func (e Entry) AdditionHash() string {
	if e.Addition && !e.Adds() {
		return ""
	}
	return hash(struct {
		Aliases []string
		Links   []Link
		Facts   *Facts `json:",omitempty"`
	}{e.Aliases, e.Links, e.Facts})
}

// Adds reports whether an entry has what it can add to a record of another source.
func (e Entry) Adds() bool { return len(e.Aliases) > 0 || len(e.Links) > 0 || e.Facts != nil }

// hash is half a SHA-256 of the value's JSON: 128 bits rule out accidents and
// keep rows short.
func hash(v any) string {
	data, err := json.Marshal(v)
	if err != nil { // strings, integers, clean times and checked JSON always encode
		panic(fmt.Sprintf("catalog: hash: %v", err))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// keyDigits is the width that digits are padded to in a KeyOrder.
const keyDigits = 18

// KeyOrder returns the string whose bytes order natural keys: case-insensitive,
// runs of digits by value, so that PR-9 comes before PR-203 and 1.9.0 before
// 1.10.0. Stores keep it in a separate column, because databases disagree about
// collations.
func KeyOrder(key string) string {
	var b strings.Builder
	key = strings.ToLower(key)
	for i := 0; i < len(key); {
		if key[i] < '0' || key[i] > '9' {
			b.WriteByte(key[i])
			i++
			continue
		}
		start := i
		for i < len(key) && key[i] >= '0' && key[i] <= '9' {
			i++
		}
		digits := strings.TrimLeft(key[start:i], "0")
		b.WriteString(strings.Repeat("0", max(0, keyDigits-len(digits))))
		b.WriteString(digits)
	}
	order := b.String()
	if len(order) > MaxKey {
		order = strings.ToValidUTF8(order[:MaxKey], "") // the limit of an index
	}
	return order
}

// Underscored is the form in which names are compared that people write in
// several ways: lower case, words joined by underscores; paths stay paths.
func Underscored(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return unicode.IsSpace(r) || r == '_' || r == '-'
	})
	return strings.Join(words, "_")
}

// SameName reports whether two spellings are of one name: see Underscored.
func SameName(a, b string) bool { return Underscored(a) == Underscored(b) }

// Fold returns text in the form used for case-insensitive substring matching:
// lower case, on one line.
func Fold(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(Clean(s))), " ")
}

// ErrBadEntry: an entry that no store can keep: without a kind, without a key
// or with one that is too long, or with data that is not JSON.
var ErrBadEntry = errors.New("bad entry")

// Clean makes text that every store returns unchanged: valid UTF-8 without NUL.
// Everything else becomes U+FFFD.
func Clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Clean applies the function Clean to both parts.
func (r Ref) Clean() Ref { return Ref{Kind(Clean(string(r.Kind))), Clean(r.Key)} }

// CleanTime returns a time as stores keep it: UTC, in whole microseconds. Years
// outside 1 to 9999, which JSON cannot represent, become unknown.
func CleanTime(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// set returns the clean, distinct, non-empty strings in order; nil if there are
// none.
func set(list []string) []string {
	var out []string
	for _, s := range list {
		if s = Clean(s); s != "" {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Lists filter by columns and tags, never inside a record's data. A tag is a
// mark, or a name and a value joined by Tag; connectors write no others.

// Marks: tags without a value.
const (
	// TagStub: the record has hardly any content, such as a page of headings
	// and to-dos, a template or a test draft.
	TagStub = "stub"
	// TagOtherVersion: a documentation page of a version other than the current
	// one, which also has that page; an endpoint of such a description of an API.
	TagOtherVersion = "other-version"
	TagStable       = "stable"     // a release or package version that is not a prerelease
	TagSecurity     = "security"   // release notes that mention security
	TagCode         = "code"       // a post with code blocks
	TagValidators   = "validators" // an operation in which validators have to act
	TagSuper        = "super"      // a validator that takes part in governance
)

// Names of tags.
const (
	TagStatus      = "status"      // of a proposal, in the network's own words
	TagType        = "type"        // of a proposal, as in its header
	TagLabel       = "label"       // labels, topics and keywords given by the source
	TagEnvironment = "environment" // of an operation
	TagOutcome     = "outcome"     // of a vote request
	TagProvider    = "provider"    // party id of an application's provider
	TagPackage     = "package"     // name of a package version's package
	TagDist        = "dist"        // distribution tag of a package version: latest
	TagVersion     = "version"     // of a release
	TagAccess      = "access"      // of a tool server: hosted, free, callable
	TagTopic       = "topic"       // of a derived radar item: security, breaking
	TagMethod      = "method"      // of an endpoint: get, post
)

// Tag returns the tag that makes a value without a column filterable:
// "name:value", the value folded. For a blank value it is "", which is never
// stored.
func Tag(name, value string) string {
	if value = Fold(value); value == "" {
		return ""
	}
	return name + ":" + value
}

// Tags returns the tags of several values of one name.
func Tags(name string, values ...string) []string {
	var tags []string
	for _, value := range values {
		if tag := Tag(name, value); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}
