package kb

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"almanac/catalog"
)

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
