package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sentinels of the store, which wraps them with the operation and the key.
var (
	// ErrNotFound: no record has the well-formed reference.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the write contradicts what the catalog holds (a record of
	// another source, a data directory of another network).
	ErrConflict = errors.New("conflict")
)

// FirstID is the smallest record id. Ids start high enough that a topic or
// proposal number passed as an id by mistake finds nothing.
const FirstID int64 = 1_000_000

// Kind is the kind of a record. The value is stored and public.
type Kind string

// The kinds of content. A new one is one constant here, one typed struct in a
// data_*.go file and an entry in the table of kinds; no migration.
const (
	KindCIP            Kind = "cip"
	KindAttachment     Kind = "attachment"
	KindDoc            Kind = "doc"
	KindTopic          Kind = "topic"
	KindPost           Kind = "post"
	KindMailThread     Kind = "mail_thread"
	KindMailMessage    Kind = "mail_message"
	KindWhitepaper     Kind = "whitepaper"
	KindBlog           Kind = "blog"
	KindVideo          Kind = "video"
	KindProject        Kind = "project"
	KindApp            Kind = "app"
	KindIssue          Kind = "issue"
	KindPull           Kind = "pull"
	KindRelease        Kind = "release"
	KindDiscussion     Kind = "discussion"
	KindComment        Kind = "comment"
	KindRepo           Kind = "repo"
	KindGrant          Kind = "proposal"
	KindVoteRequest    Kind = "vote_request"
	KindValidator      Kind = "validator"
	KindPackageVersion Kind = "package_version"
	KindAsset          Kind = "asset"
	KindPool           Kind = "pool"
	KindOperation      Kind = "operation"
	KindRadar          Kind = "radar"
	KindDeprecation    Kind = "deprecation"
	KindFAQ            Kind = "faq"
	KindEVMMapping     Kind = "evm_mapping"
	KindAPIReference   Kind = "api_reference"
	KindToolServer     Kind = "tool_server"
	KindOnboarding     Kind = "onboarding"
	KindFoundation     Kind = "foundation"
	KindPartner        Kind = "partner"
	KindEndpoint       Kind = "endpoint"
)

// Ref names a record by its natural key, which is unique in its kind.
type Ref struct {
	Kind Kind
	Key  string
}

func (r Ref) String() string { return fmt.Sprintf("%s %s", r.Kind, r.Key) }

// Name is the reference as rules and judgments have it: kind:key.
func (r Ref) Name() string { return string(r.Kind) + ":" + r.Key }

// RefNamed reads kind:key.
func RefNamed(name string) (r Ref, ok bool) {
	kind, key, _ := strings.Cut(name, ":")
	return Ref{Kind(kind), key}, kind != "" && key != ""
}

// Record is one piece of content of any kind. Lists filter and sort on these
// fields; data specific to one kind is in Data. Times are UTC; a zero time is
// unknown.
type Record struct {
	ID        int64 // assigned by the Store on first write, stable, kept by export
	Kind      Kind
	Key       string // natural key: CIP-0056, PR-203, 1234, a slug
	Title     string
	URL       string // address at the source
	Path      string // the file the record was read from, relative to its source
	Source    string // name of the network's source that owns the record
	Container string // repository, mail group, channel, registry, forum category
	State     string // mapped: a CIP status, open, closed, …
	Category  string // a CIP's type, a topic's category, …
	Parent    int64  // id of the parent record; 0 for none
	Author    string

	CreatedAt      time.Time
	UpdatedAt      time.Time
	LastActivityAt time.Time
	FirstSeenAt    time.Time // set by the Store on first write, kept by export
	StartsAt       time.Time
	EndsAt         time.Time

	Views   int64
	Replies int64
	Votes   int64

	Body    string // text or markdown
	Summary string // extractive TL;DR or description
	Data    json.RawMessage
	Hash    string // of everything above but ID and FirstSeenAt; set by the Store
	Tags    []string

	DeletedAt time.Time // zero while live
}

// over are the states of what is no more.
var over = map[Kind]string{KindProject: ProjectRetired, KindPackageVersion: VersionDeprecated,
	KindValidator: ValidatorOffboarded, KindOperation: OperationCancelled, KindEndpoint: EndpointDeprecated}

// Over reports whether what the record tells of is no more, or is about to be: a
// retired project, a deprecated version or endpoint, a validator that left, a
// cancelled operation.
func (r Record) Over() bool { return r.State != "" && r.State == over[r.Kind] }

// Handles are the names by which people know a record, each once: path, kind:key,
// key, address, id, and the number of a proposal.
func (r Record) Handles() []string {
	number := ""
	if r.Kind == KindCIP {
		_, number, _ = strings.Cut(r.Key, "-")
	}
	var all []string
	for _, h := range []string{r.Path, r.Ref().Name(), r.Key, r.URL, strconv.FormatInt(r.ID, 10), number} {
		if h != "" && !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	return all
}

// Ref returns the record's reference.
func (r Record) Ref() Ref { return Ref{r.Kind, r.Key} }

// Relation says how one record refers to another.
type Relation string

// The relations of links.
const (
	Requires   Relation = "requires"
	Cites      Relation = "cites"
	Mentions   Relation = "mentions"
	Implements Relation = "implements"
	References Relation = "references"
	Supersedes Relation = "supersedes"
)

// Link is a directed reference from a record to a kind and key, which may not
// exist (yet).
type Link struct {
	From     int64 // record id; set by the Store on write
	Relation Relation
	To       Ref
	Snippet  string // text around the reference, ≤ 240 characters
}

// Event is a dated change of a record's field. It is tied to the natural key,
// so that a proposal without a file, and so without a record, keeps its
// history.
type Event struct {
	Ref     Ref
	Field   string // "status", "state"
	At      time.Time
	From    string // mapped; empty for the first
	To      string // mapped
	RawFrom string // as the source spells it
	RawTo   string
	Via     string // "header" (authoritative), "index" (fills gaps), "pull", "last_commit"
	Commit  string
	URL     string // where the change can be seen
	Subject string // of the commit that made it
	Source  string // set by the Store to the batch's source
}

// Vote is one recorded vote on a record.
type Vote struct {
	Record int64 // set by the Store on write
	Voter  string
	Choice string // in_favour, against, abstain, no_vote
	Reason string
	CastAt time.Time
	URL    string
}

// Snapshot is one captured state of a series: network, market, stats.
type Snapshot struct {
	Series     string
	CapturedAt time.Time
	Data       json.RawMessage
}
