package catalog

import (
	"encoding/json"
	"fmt"
	"reflect"

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

// KindInfo describes a kind of content.
type KindInfo struct {
	Kind        Kind
	Description string       // what it holds, for people
	SearchType  string       // the search type that finds it
	Data        reflect.Type // the struct that Record.Data encodes
}

// Kinds is the table of kinds, in listing order.
var Kinds = []KindInfo{
	{KindCIP, "improvement proposals and their drafts", SearchCIP, reflect.TypeFor[CIP]()},
	{KindAttachment, "files beside improvement proposals", SearchCIP, reflect.TypeFor[Attachment]()},
	{KindVoteRequest, "on-chain governance vote requests", SearchCIP, reflect.TypeFor[VoteRequest]()},
	{KindGrant, "grant proposals", SearchGrant, reflect.TypeFor[Grant]()},
	{KindDoc, "documentation pages", SearchDoc, reflect.TypeFor[Doc]()},
	{KindTopic, "forum threads", SearchDiscussion, reflect.TypeFor[Topic]()},
	{KindPost, "forum posts", SearchDiscussion, reflect.TypeFor[Post]()},
	{KindMailThread, "mailing-list threads", SearchMail, reflect.TypeFor[MailThread]()},
	{KindMailMessage, "mailing-list messages", SearchMail, reflect.TypeFor[MailMessage]()},
	{KindWhitepaper, "whitepapers", SearchWhitepaper, reflect.TypeFor[Whitepaper]()},
	{KindBlog, "blog posts and news", SearchBlog, reflect.TypeFor[Blog]()},
	{KindVideo, "videos with their transcripts", SearchVideo, reflect.TypeFor[Video]()},
	{KindIssue, "issues on the forge", SearchForge, reflect.TypeFor[Issue]()},
	{KindPull, "pull requests on the forge", SearchForge, reflect.TypeFor[Pull]()},
	{KindRelease, "releases and their notes", SearchForge, reflect.TypeFor[Release]()},
	{KindDiscussion, "discussions on the forge", SearchForge, reflect.TypeFor[Discussion]()},
	{KindComment, "comments on the forge", SearchForge, reflect.TypeFor[Comment]()},
	{KindRepo, "indexed repositories", SearchForge, reflect.TypeFor[Repo]()},
	{KindPackageVersion, "package versions of the registries", SearchForge, reflect.TypeFor[PackageVersion]()},
	{KindProject, "ecosystem projects", SearchDoc, reflect.TypeFor[Project]()},
	{KindApp, "featured applications", SearchDoc, reflect.TypeFor[App]()},
	{KindValidator, "validators", SearchDoc, reflect.TypeFor[Validator]()},
	{KindAsset, "assets and their supply", SearchDoc, reflect.TypeFor[Asset]()},
	{KindPool, "pools of the trading venues", SearchDoc, reflect.TypeFor[Pool]()},
	{KindOperation, "the operations calendar", SearchDoc, reflect.TypeFor[Operation]()},
	{KindRadar, "breaking changes and deadlines", SearchDoc, reflect.TypeFor[Radar]()},
	{KindDeprecation, "deprecated tools and their replacements", SearchDoc, reflect.TypeFor[Deprecation]()},
	{KindFAQ, "frequent questions", SearchDoc, reflect.TypeFor[FAQ]()},
	{KindEVMMapping, "EVM concepts and their equivalents", SearchDoc, reflect.TypeFor[EVMMapping]()},
	{KindAPIReference, "reference of the network's APIs", SearchDoc, reflect.TypeFor[APIReference]()},
	{KindToolServer, "known tool-call servers", SearchDoc, reflect.TypeFor[ToolServer]()},
	{KindOnboarding, "onboarding paths", SearchDoc, reflect.TypeFor[Onboarding]()},
	{KindFoundation, "pages of the foundation's website", SearchDoc, reflect.TypeFor[Foundation]()},
	{KindPartner, "reference data of partner products", SearchDoc, reflect.TypeFor[Partner]()},
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

// InThread reports whether records of the kind are parts of a thread: posts,
// messages and comments. The thread is their parent.
func (k Kind) InThread() bool {
	return k == KindPost || k == KindMailMessage || k == KindComment
}

// IsThread reports whether records of the kind begin a thread.
func (k Kind) IsThread() bool {
	switch k {
	case KindTopic, KindMailThread, KindIssue, KindPull, KindDiscussion:
		return true
	}
	return false
}

// Encode returns a kind's struct as Record.Data. Equal values encode to equal
// bytes.
func Encode(v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("catalog: encode %T: %w", v, err)
	}
	return data, nil
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
