package catalog

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	fastjson "github.com/segmentio/encoding/json"
)

// The search types that kinds belong to; "all" is every one of them.
const (
	SearchCIP        = "cip"
	SearchDoc        = "doc"
	SearchDiscussion = "discussion"
	SearchMail       = "mail"
	SearchWhitepaper = "whitepaper"
	SearchGrant      = "proposal"
	SearchBlog       = "blog"
	SearchVideo      = "video"
	SearchForge      = "forge"
)

// Role is what a record of a kind is to its readers. Whoever treats several kinds
// alike asks for it, so that a new kind is one row of Kinds.
type Role string

// The roles.
const (
	RoleProposal    Role = "proposal"    // of what is to be done, and by whom it is paid
	RoleFile        Role = "file"        // beside a proposal
	RolePage        Role = "page"        // tells what to do, and is kept current
	RolePublication Role = "publication" // tells what was thought on a day
	RoleThread      Role = "thread"      // begins a conversation
	RoleWork        Role = "work"        // begins one, on something to be done in a repository
	RoleMessage     Role = "message"     // is part of one
	RoleChange      Role = "change"      // says what is new, ends or breaks
	RoleFact        Role = "fact"        // is what there is or happens: votes, applications, dates
)

// Places where records are found, as answers name them.
const (
	PlaceCIPs   = "cips"
	PlaceForum  = "forum"
	PlaceMail   = "mail"
	PlaceForge  = "forge"
	PlaceBlog   = "blog"
	PlaceVideos = "videos"
	PlaceGrants = "proposals"
	PlaceDocs   = "docs" // documentation and everything else
)

// KindInfo describes a kind of content.
type KindInfo struct {
	Kind        Kind
	Description string       // what it holds, for people
	SearchType  string       // the search type that finds it
	Role        Role         // what it is to readers
	Place       string       // where it is found
	Data        reflect.Type // the struct that Record.Data encodes
}

// Kinds is the table of kinds, in listing order.
var Kinds = []KindInfo{
	{KindCIP, "improvement proposals and their drafts", SearchCIP, RoleProposal, PlaceCIPs, reflect.TypeFor[CIP]()},
	{KindAttachment, "files beside improvement proposals", SearchCIP, RoleFile, PlaceCIPs, reflect.TypeFor[Attachment]()},
	{KindVoteRequest, "on-chain governance vote requests", SearchCIP, RoleFact, PlaceDocs, reflect.TypeFor[VoteRequest]()},
	{KindGrant, "grant proposals", SearchGrant, RoleProposal, PlaceGrants, reflect.TypeFor[Grant]()},
	{KindDoc, "documentation pages", SearchDoc, RolePage, PlaceDocs, reflect.TypeFor[Doc]()},
	{KindTopic, "forum threads", SearchDiscussion, RoleThread, PlaceForum, reflect.TypeFor[Topic]()},
	{KindPost, "forum posts", SearchDiscussion, RoleMessage, PlaceForum, reflect.TypeFor[Post]()},
	{KindMailThread, "mailing-list threads", SearchMail, RoleThread, PlaceMail, reflect.TypeFor[MailThread]()},
	{KindMailMessage, "mailing-list messages", SearchMail, RoleMessage, PlaceMail, reflect.TypeFor[MailMessage]()},
	{KindWhitepaper, "whitepapers", SearchWhitepaper, RolePublication, PlaceDocs, reflect.TypeFor[Whitepaper]()},
	{KindBlog, "blog posts and news", SearchBlog, RolePublication, PlaceBlog, reflect.TypeFor[Blog]()},
	{KindVideo, "videos with their transcripts", SearchVideo, RolePublication, PlaceVideos, reflect.TypeFor[Video]()},
	{KindIssue, "issues on the forge", SearchForge, RoleWork, PlaceForge, reflect.TypeFor[Issue]()},
	{KindPull, "pull requests on the forge", SearchForge, RoleWork, PlaceForge, reflect.TypeFor[Pull]()},
	{KindRelease, "releases and their notes", SearchForge, RoleChange, PlaceForge, reflect.TypeFor[Release]()},
	{KindDiscussion, "discussions on the forge", SearchForge, RoleThread, PlaceForge, reflect.TypeFor[Discussion]()},
	{KindComment, "comments on the forge", SearchForge, RoleMessage, PlaceForge, reflect.TypeFor[Comment]()},
	{KindRepo, "indexed repositories", SearchForge, RolePage, PlaceForge, reflect.TypeFor[Repo]()},
	{KindPackageVersion, "package versions of the registries", SearchForge, RoleChange, PlaceDocs,
		reflect.TypeFor[PackageVersion]()},
	{KindProject, "ecosystem projects", SearchDoc, RoleFact, PlaceDocs, reflect.TypeFor[Project]()},
	{KindApp, "featured applications", SearchDoc, RoleFact, PlaceDocs, reflect.TypeFor[App]()},
	{KindValidator, "validators", SearchDoc, RoleFact, PlaceDocs, reflect.TypeFor[Validator]()},
	{KindAsset, "assets and their supply", SearchDoc, RoleFact, PlaceDocs, reflect.TypeFor[Asset]()},
	{KindPool, "pools of the trading venues", SearchDoc, RoleFact, PlaceDocs, reflect.TypeFor[Pool]()},
	{KindOperation, "the operations calendar", SearchDoc, RoleFact, PlaceDocs, reflect.TypeFor[Operation]()},
	{KindRadar, "breaking changes and deadlines", SearchDoc, RoleChange, PlaceDocs, reflect.TypeFor[Radar]()},
	{KindDeprecation, "deprecated tools and their replacements", SearchDoc, RoleChange, PlaceDocs,
		reflect.TypeFor[Deprecation]()},
	{KindFAQ, "frequent questions", SearchDoc, RolePage, PlaceDocs, reflect.TypeFor[FAQ]()},
	{KindEVMMapping, "EVM concepts and their equivalents", SearchDoc, RolePage, PlaceDocs, reflect.TypeFor[EVMMapping]()},
	{KindAPIReference, "reference of the network's APIs", SearchDoc, RolePage, PlaceDocs, reflect.TypeFor[APIReference]()},
	{KindEndpoint, "endpoints of APIs, from their OpenAPI descriptions", SearchDoc, RoleFact, PlaceDocs,
		reflect.TypeFor[APIEndpoint]()},
	{KindToolServer, "known tool-call servers", SearchDoc, RoleFact, PlaceDocs, reflect.TypeFor[ToolServer]()},
	{KindOnboarding, "onboarding paths", SearchDoc, RolePage, PlaceDocs, reflect.TypeFor[Onboarding]()},
	{KindFoundation, "pages of the foundation's website", SearchDoc, RolePage, PlaceDocs, reflect.TypeFor[Foundation]()},
	{KindPartner, "reference data of partner products", SearchDoc, RolePage, PlaceDocs, reflect.TypeFor[Partner]()},
}

// InfoOf returns the entry of a kind in the table, and whether there is one.
func InfoOf(k Kind) (KindInfo, bool) {
	for _, info := range Kinds {
		if info.Kind == k {
			return info, true
		}
	}
	return KindInfo{}, false
}

// KindsOf returns the kinds of some roles, in the order of the table.
func KindsOf(roles ...Role) []Kind { return KindsAt("", roles...) }

// KindsAt returns the kinds of a place, or of all if it is "", that have one of
// some roles, or any if none is given.
func KindsAt(place string, roles ...Role) (kinds []Kind) {
	for _, info := range Kinds {
		if (place == "" || info.Place == place) && (len(roles) == 0 || slices.Contains(roles, info.Role)) {
			kinds = append(kinds, info.Kind)
		}
	}
	return kinds
}

// Role returns a kind's role.
func (k Kind) Role() Role {
	info, _ := InfoOf(k)
	return info.Role
}

// Place returns where records of a kind are found.
func (k Kind) Place() string {
	info, _ := InfoOf(k)
	return info.Place
}

// InThread reports whether records of the kind are parts of a thread: posts,
// messages and comments. The thread is their parent.
func (k Kind) InThread() bool { return k.Role() == RoleMessage }

// IsThread reports whether records of the kind begin a thread.
func (k Kind) IsThread() bool { return k.Role() == RoleThread || k.Role() == RoleWork }

// Encode returns a kind's struct as Record.Data. Equal values encode to equal
// bytes.
func Encode(v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("catalog: encode %T: %w", v, err)
	}
	return data, nil
}

// With returns an entry of the record with a kind's struct as its data.
func (r Record) With(data any) (Entry, error) {
	var err error
	r.Data, err = Encode(data)
	return Entry{Record: r}, err
}

// Decode reads a record's data into the struct of its kind; decoding into
// another kind's struct is an error. A record without data yields the zero
// value. Every row of a list is decoded, so it takes the faster decoder.
func Decode[T any](r Record) (T, error) {
	var v T
	if info, ok := InfoOf(r.Kind); ok && info.Data != reflect.TypeFor[T]() {
		return v, fmt.Errorf("catalog: decode %s: its data is %s, not %T", r.Ref(), info.Data, v)
	}
	if len(r.Data) == 0 {
		return v, nil
	}
	if err := fastjson.Unmarshal(r.Data, &v); err != nil {
		return v, fmt.Errorf("catalog: decode %s: %w", r.Ref(), err)
	}
	return v, nil
}
