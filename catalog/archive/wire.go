// Package archive writes a catalog as a portable corpus, and reads one into an
// empty catalog: ids, aliases, links, votes, events, snapshots and the state of
// its sources. Installation-specific state is left out: cursors,
// requests, the index and the salt of pseudonyms.
//
// The corpus is a directory. Its manifest.jsonl lists the files with content
// type and checksum, in the format that package ingest/snapshot reads;
// network.yaml describes the network; the other files are JSON lines:
//
//	records/SOURCE.jsonl    what a source owns, with what hangs on it
//	additions/SOURCE.jsonl  aliases, links and facts it adds to records of others
//	events/SOURCE.jsonl     dated changes, oldest first
//	snapshots.jsonl         captured states of the series
//	sources.jsonl           when each source was read last
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"time"

	"almanac/catalog"
)

const (
	manifestName = "manifest.jsonl"
	networkName  = "network.yaml"
	// format is the version of the files; a reader refuses others.
	format = 2
)

// Content types of the manifest's rows.
const (
	typeNetwork   = "catalog_network"
	typeRecords   = "catalog_records"
	typeAdditions = "catalog_additions"
	typeEvents    = "catalog_events"
	typeSnapshots = "catalog_snapshots"
	typeSources   = "catalog_sources"
)

var (
	// ErrNotEmpty: the directory to write to, or the catalog to read into, is
	// not empty.
	ErrNotEmpty = errors.New("not empty")
	// ErrDamaged: a file is missing, differs from the manifest or cannot be
	// understood.
	ErrDamaged = errors.New("the corpus is damaged")
)

// Summary counts what was written or read.
type Summary struct {
	Records, Additions, Events, Snapshots, Sources int
}

// row is a line of the manifest.
type row struct {
	Path   string `json:"path"`
	Type   string `json:"content_type"`
	Format int    `json:"format"`
	Source string `json:"source,omitempty"` // whose records, additions or events
	Lines  int    `json:"lines,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// meter counts and hashes the bytes written through it.
type meter struct {
	w    io.Writer
	hash hash.Hash
	n    int64
}

func newMeter(w io.Writer) *meter { return &meter{w: w, hash: sha256.New()} }

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	m.hash.Write(p[:n])
	m.n += int64(n)
	return n, err
}

func (m *meter) sum() string { return hex.EncodeToString(m.hash.Sum(nil)) }

// The structs below are the lines of the files. Unknown times are omitted.

type entryLine struct {
	ID           int64           `json:"id,omitempty"` // none for an addition
	Kind         catalog.Kind    `json:"kind"`
	Key          string          `json:"key"`
	Title        string          `json:"title,omitempty"`
	URL          string          `json:"url,omitempty"`
	Path         string          `json:"path,omitempty"`
	Container    string          `json:"container,omitempty"`
	State        string          `json:"state,omitempty"`
	Category     string          `json:"category,omitempty"`
	Parent       int64           `json:"parent,omitempty"` // its id, in a corpus
	Below        refLine         `json:"below,omitzero"`   // the parent by its key, where records have no ids
	Author       string          `json:"author,omitempty"`
	CreatedAt    time.Time       `json:"created_at,omitzero"`
	UpdatedAt    time.Time       `json:"updated_at,omitzero"`
	LastActivity time.Time       `json:"last_activity_at,omitzero"`
	FirstSeen    time.Time       `json:"first_seen_at,omitzero"`
	StartsAt     time.Time       `json:"starts_at,omitzero"`
	EndsAt       time.Time       `json:"ends_at,omitzero"`
	Views        int64           `json:"views,omitempty"`
	Replies      int64           `json:"replies,omitempty"`
	VoteCount    int64           `json:"vote_count,omitempty"`
	Summary      string          `json:"summary,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"`
	Tags         []string        `json:"tags,omitempty"`
	Hash         string          `json:"hash,omitempty"`
	Aliases      []string        `json:"aliases,omitempty"`
	Links        []linkLine      `json:"links,omitempty"`
	Votes        []voteLine      `json:"votes,omitempty"`
	Facts        *catalog.Facts  `json:"facts,omitempty"`
	Body         string          `json:"body,omitempty"`
}

type refLine struct {
	Kind catalog.Kind `json:"kind"`
	Key  string       `json:"key"`
}

type linkLine struct {
	Relation catalog.Relation `json:"relation"`
	Kind     catalog.Kind     `json:"kind"`
	Key      string           `json:"key"`
	Snippet  string           `json:"snippet,omitempty"`
}

type voteLine struct {
	Voter  string    `json:"voter"`
	Choice string    `json:"choice"`
	Reason string    `json:"reason,omitempty"`
	CastAt time.Time `json:"cast_at,omitzero"`
	URL    string    `json:"url,omitempty"`
}

type eventLine struct {
	Kind    catalog.Kind `json:"kind"`
	Key     string       `json:"key"`
	Field   string       `json:"field"`
	At      time.Time    `json:"at,omitzero"`
	From    string       `json:"from,omitempty"`
	To      string       `json:"to,omitempty"`
	RawFrom string       `json:"raw_from,omitempty"`
	RawTo   string       `json:"raw_to,omitempty"`
	Via     string       `json:"via,omitempty"`
	Commit  string       `json:"commit,omitempty"`
	URL     string       `json:"url,omitempty"`
	Subject string       `json:"subject,omitempty"`
}

type snapshotLine struct {
	Series     string          `json:"series"`
	CapturedAt time.Time       `json:"captured_at"`
	Data       json.RawMessage `json:"data"`
}

type sourceLine struct {
	Name        string        `json:"name"`
	Kind        string        `json:"kind"`
	LastRun     time.Time     `json:"last_run,omitzero"`
	LastSuccess time.Time     `json:"last_success,omitzero"`
	Error       string        `json:"error,omitempty"`
	Skipped     int           `json:"skipped,omitempty"`
	Remark      string        `json:"remark,omitempty"`
	Freshness   time.Duration `json:"freshness,omitempty"` // nanoseconds
}

func lineOf(e catalog.Entry) entryLine {
	r := e.Record
	l := entryLine{
		ID: r.ID, Kind: r.Kind, Key: r.Key, Title: r.Title, URL: r.URL, Path: r.Path, Container: r.Container,
		State: r.State, Category: r.Category, Parent: r.Parent, Author: r.Author, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, LastActivity: r.LastActivityAt, FirstSeen: r.FirstSeenAt, StartsAt: r.StartsAt,
		EndsAt: r.EndsAt, Views: r.Views,
		Replies: r.Replies, VoteCount: r.Votes, Summary: r.Summary, Data: r.Data, Tags: r.Tags, Hash: r.Hash,
		Aliases: e.Aliases, Facts: e.Facts, Body: r.Body, Below: refLine(e.Parent),
	}
	for _, k := range e.Links {
		l.Links = append(l.Links, linkLine{k.Relation, k.To.Kind, k.To.Key, k.Snippet})
	}
	for _, v := range e.Votes {
		l.Votes = append(l.Votes, voteLine{v.Voter, v.Choice, v.Reason, v.CastAt, v.URL})
	}
	return l
}

func (l entryLine) entry() catalog.Entry {
	e := catalog.Entry{Parent: catalog.Ref(l.Below), Aliases: l.Aliases, Facts: l.Facts, Record: catalog.Record{
		ID: l.ID, Kind: l.Kind, Key: l.Key, Title: l.Title, URL: l.URL, Path: l.Path, Container: l.Container,
		State: l.State, Category: l.Category, Parent: l.Parent, Author: l.Author, CreatedAt: l.CreatedAt,
		UpdatedAt: l.UpdatedAt, LastActivityAt: l.LastActivity, FirstSeenAt: l.FirstSeen, StartsAt: l.StartsAt,
		EndsAt: l.EndsAt, Views: l.Views,
		Replies: l.Replies, Votes: l.VoteCount, Summary: l.Summary, Data: l.Data, Tags: l.Tags, Hash: l.Hash,
		Body: l.Body,
	}}
	for _, k := range l.Links {
		e.Links = append(e.Links, catalog.Link{Relation: k.Relation, To: catalog.Ref{Kind: k.Kind, Key: k.Key},
			Snippet: k.Snippet})
	}
	for _, v := range l.Votes {
		e.Votes = append(e.Votes, catalog.Vote{Voter: v.Voter, Choice: v.Choice, Reason: v.Reason, CastAt: v.CastAt,
			URL: v.URL})
	}
	return e
}

func eventLineOf(e catalog.Event) eventLine {
	return eventLine{Kind: e.Ref.Kind, Key: e.Ref.Key, Field: e.Field, At: e.At, From: e.From, To: e.To,
		RawFrom: e.RawFrom, RawTo: e.RawTo, Via: e.Via, Commit: e.Commit, URL: e.URL, Subject: e.Subject}
}

func (l eventLine) event() catalog.Event {
	return catalog.Event{Ref: catalog.Ref{Kind: l.Kind, Key: l.Key}, Field: l.Field, At: l.At, From: l.From, To: l.To,
		RawFrom: l.RawFrom, RawTo: l.RawTo, Via: l.Via, Commit: l.Commit, URL: l.URL, Subject: l.Subject}
}
