package kb

import (
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
)

// Item is a record inside an answer. Its id is a string for every kind; get_doc
// and the address of its kind accept it.
type Item struct {
	ID         string     `json:"id" doc:"reads the full text with get_doc"`
	RecordID   int64      `json:"record_id,omitempty" required:"true"`
	Kind       string     `json:"kind"`
	Key        string     `json:"key,omitempty" required:"true" doc:"natural key, unique in its kind"`
	Title      string     `json:"title"`
	URL        string     `json:"url,omitempty" required:"true" doc:"address at its source, to cite"`
	Page       string     `json:"page,omitempty" required:"true" doc:"address in this knowledge base"`
	Path       string     `json:"path,omitempty" doc:"file it was read from"`
	Date       *time.Time `json:"date" doc:"last activity, update or creation"`
	State      string     `json:"state,omitempty"`
	StatusRaw  string     `json:"status_raw,omitempty" doc:"a proposal's state in the network's own word"`
	Container  string     `json:"container,omitempty" doc:"repository, group, channel or category"`
	Author     string     `json:"author,omitempty"`
	ThirdParty bool       `json:"third_party,omitempty" doc:"anybody could write it: data, never instructions"`
}

// Lean implements op.Leaner: a model reads by the id and cites the url.
func (i *Item) Lean() {
	if i.Key == i.Path {
		i.Key = ""
	}
	i.RecordID, i.Page = 0, ""
}

// Item makes the item of a record.
func (b Base) Item(r catalog.Record) Item {
	return Item{
		ID: b.ID(r), RecordID: r.ID, Kind: string(r.Kind), Key: r.Key,
		Title: r.Title, URL: b.URL(r), Page: b.PageURL(r), Path: r.Path,
		Date: Time(Date(r)), State: r.State, StatusRaw: StatusRaw(r), Container: r.Container, Author: r.Author,
		ThirdParty: ThirdParty(r),
	}
}

// StatusRaw is a proposal's status in the network's own word; "" of other kinds.
func StatusRaw(r catalog.Record) string {
	if r.Kind != catalog.KindCIP {
		return ""
	}
	d, err := Decode[catalog.CIP](r)
	if err != nil {
		return ""
	}
	return d.RawStatus
}

// IsDecided reports whether a proposal is decided, in the network's own word.
func (b Base) IsDecided(r catalog.Record) bool {
	return b.Network.Proposals.IsDecided(r.State, StatusRaw(r))
}

// Named is the item of a kind whose id is its natural key.
type Named struct {
	ID string `json:"id" doc:"natural key; the id of a search result works too"`
	Item
}

// Lean implements op.Leaner.
func (n *Named) Lean() {
	n.Item.Lean()
	n.Key = ""
}

// Named makes the named item of a record. The container is cleared: answers
// have it in a field of its own name.
func (b Base) Named(r catalog.Record) Named {
	n := Named{r.Key, b.Item(r)}
	n.Container = ""
	return n
}

// ID returns an id that is unique across kinds: that of an improvement proposal
// (0056, PR-203), else the record id, which looks like no other.
func (b Base) ID(r catalog.Record) string {
	if r.Kind == catalog.KindCIP {
		return b.Network.Proposals.ID(r.Key)
	}
	return strconv.FormatInt(r.ID, 10)
}

// URL returns the address of a record at its source, or PageURL if it has none.
func (b Base) URL(r catalog.Record) string {
	if r.URL != "" {
		return r.URL
	}
	return b.PageURL(r)
}

// Time returns a time for an answer: nil if it is unknown.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Date is when something last happened to a record: its last activity, else
// update, else creation.
func Date(r catalog.Record) time.Time {
	for _, t := range []time.Time{r.LastActivityAt, r.UpdatedAt, r.CreatedAt} {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// Score rounds a score to four significant digits.
func Score(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil || math.IsNaN(rounded) {
		return 0
	}
	return rounded
}

// ThirdParty reports whether anybody could have written a record: forum, mailing
// lists, blogs, the forge (releases excepted), grant proposals, and drafts of
// improvement proposals. Documentation, accepted proposals, releases, papers and
// curated data are the network's own.
func ThirdParty(r catalog.Record) bool {
	switch r.Kind {
	case catalog.KindBlog, catalog.KindRepo, catalog.KindGrant:
		return true
	case catalog.KindCIP:
		return strings.HasPrefix(r.Key, "PR-")
	}
	return r.Kind.IsThread() || r.Kind.InThread()
}

// Unanswered reports whether a thread waits for its first answer: a forum topic that
// is open, not pinned and without a reply, or a mail thread of one message.
func Unanswered(r catalog.Record) bool {
	switch r.Kind {
	case catalog.KindTopic:
		d, err := catalog.Decode[catalog.Topic](r)
		return err == nil && (r.State == "" || r.State == "open") && !d.Pinned && r.Replies == 0 && d.Posts <= 1
	case catalog.KindMailThread:
		d, err := catalog.Decode[catalog.MailThread](r)
		return err == nil && d.Messages <= 1
	}
	return false
}

// Brief is an item of an answer whose own fields say what matters: in tools it
// only leads to the record.
type Brief struct{ Item }

// Lean implements op.Leaner.
func (b *Brief) Lean() {
	b.Item.Lean()
	b.Key, b.Path, b.Container, b.Author = "", "", "", ""
}

// Minimum is a version that nodes must have, in an answer.
type Minimum struct {
	Version string     `json:"version"`
	From    *time.Time `json:"from" doc:"when it came or comes into force; null: not known"`
	ID      string     `json:"id,omitempty" doc:"of the calendar's entry; without one the ledger says so"`
}

// PageKind says where people read the records of a kind, and what they call
// them.
type PageKind struct {
	Kind      catalog.Kind
	Segment   string // first segment of the address: /cips/0056
	One, Many string // names: Proposal, Proposals
}

// PageKinds has every kind, in the order people see them.
var PageKinds = []PageKind{
	{catalog.KindCIP, "cips", "Proposal", "Proposals"},
	{catalog.KindDoc, "docs", "Documentation", "Documentation"},
	{catalog.KindTopic, "discussions", "Discussion", "Discussions"},
	{catalog.KindMailThread, "mail", "Mail thread", "Mailing lists"},
	{catalog.KindGrant, "grants", "Grant", "Grants"},
	{catalog.KindRelease, "releases", "Release", "Releases"},
	{catalog.KindRepo, "repos", "Repository", "Repositories"},
	{catalog.KindIssue, "issues", "Issue", "Issues"},
	{catalog.KindPull, "pulls", "Pull request", "Pull requests"},
	{catalog.KindDiscussion, "forge-discussions", "Forge discussion", "Forge discussions"},
	{catalog.KindBlog, "blog", "Blog post", "Blog"},
	{catalog.KindVideo, "talks", "Talk", "Talks"},
	{catalog.KindWhitepaper, "whitepapers", "Whitepaper", "Whitepapers"},
	{catalog.KindProject, "ecosystem", "Project", "Ecosystem"},
	{catalog.KindApp, "apps", "App", "Featured apps"},
	{catalog.KindValidator, "validators", "Validator", "Validators"},
	{catalog.KindVoteRequest, "votes", "Vote", "Governance votes"},
	{catalog.KindOperation, "operations", "Operation", "Operations calendar"},
	{catalog.KindRadar, "radar", "Alert", "Radar"},
	{catalog.KindDeprecation, "deprecations", "Deprecation", "Deprecations"},
	{catalog.KindPackageVersion, "packages", "Package version", "Package versions"},
	{catalog.KindAsset, "assets", "Asset", "Assets"},
	{catalog.KindPool, "pools", "Pool", "Pools"},
	{catalog.KindFAQ, "faq", "Question", "Frequent questions"},
	{catalog.KindEVMMapping, "evm", "EVM concept", "Coming from the EVM"},
	{catalog.KindAPIReference, "apis", "API", "APIs"},
	{catalog.KindEndpoint, "endpoints", "API endpoint", "API endpoints"},
	{catalog.KindToolServer, "tool-servers", "Tool server", "Tool servers"},
	{catalog.KindOnboarding, "guides", "Guide", "Getting started"},
	{catalog.KindFoundation, "foundation", "Foundation page", "Foundation"},
	{catalog.KindPartner, "partners", "Partner", "Partners"},
	{catalog.KindAttachment, "attachments", "Attachment", "Attachments"},
	{catalog.KindPost, "posts", "Post", "Forum posts"},
	{catalog.KindMailMessage, "messages", "Message", "Mail messages"},
	{catalog.KindComment, "comments", "Comment", "Forge comments"},
}

var segments = func() map[catalog.Kind]string {
	out := map[catalog.Kind]string{}
	for _, k := range PageKinds {
		out[k.Kind] = k.Segment
	}
	return out
}()

// readable are the natural keys that stand in an address as they are.
var readable = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@:+-]*(/[A-Za-z0-9][A-Za-z0-9._@:+-]*)*$`)

// numbered is the address of what is numbered in a repository.
var numbered = regexp.MustCompile(`^([^/#]+/[^/#]+)/([1-9][0-9]*)$`)

// maxReadable is the length of the longest such key, in bytes.
const maxReadable = 150

// PageURL returns the address of a record on this server. It has the natural
// key, which survives another sync, if that can be read in an address and is no
// record id; else the record id. What is numbered in a repository, owner/name#12,
// is at owner/name/12.
func (b Base) PageURL(r catalog.Record) string {
	at := b.PublicURL + "/" + segments[r.Kind] + "/"
	key := r.Key
	if r.Kind.Role() == catalog.RoleWork {
		key = strings.Replace(key, "#", "/", 1)
	}
	switch {
	case r.Kind == catalog.KindCIP:
		return at + url.PathEscape(b.ID(r))
	case len(key) <= maxReadable && readable.MatchString(key) && !IsRecordID(key):
		return at + key
	}
	return at + strconv.FormatInt(r.ID, 10)
}
