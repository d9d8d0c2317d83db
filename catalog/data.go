package catalog

import "time"

// VoteRequest is an on-chain governance vote request, keyed by its tracking
// contract id. Record.Category is its action, Record.State whether it is open
// or closed, Record.Author the requester, Record.Body the reason, Record.EndsAt
// the deadline of voting and Record.StartsAt when it takes effect.
type VoteRequest struct {
	Outcome   string            `json:"outcome,omitempty"` // accepted, rejected, expired; empty while open
	Details   map[string]string `json:"details,omitempty"` // of the action, flattened: path → value
	ReasonURL string            `json:"reason_url,omitempty"`
	Proposals []string          `json:"proposals"` // keys it cites: CIP-0056
	Required  *int              `json:"required"`  // votes needed; nil if unknown
	Votes     []Ballot          `json:"votes"`
	Abstained []string          `json:"abstained"`            // members who did not vote
	DecidedAt string            `json:"decided_at,omitempty"` // RFC 3339
	Failure   string            `json:"failure,omitempty"`    // why an accepted request could not be executed
}

// Ballot is one validator's vote on a vote request.
type Ballot struct {
	Voter     string `json:"voter"`           // name
	Party     string `json:"party,omitempty"` // party id
	Choice    string `json:"choice"`          // in_favour, against, abstain
	Reason    string `json:"reason,omitempty"`
	ReasonURL string `json:"reason_url,omitempty"`
	CastAt    string `json:"cast_at,omitempty"` // RFC 3339
	Void      bool   `json:"void,omitempty"`    // not counted: the voter had left before the request was closed
}

// ValidatorOffboarded is the state of a validator that left.
const ValidatorOffboarded = "offboarded"

// Validator is a validator, keyed by party id. Record.Title is its name,
// Record.LastActivityAt its last activity, Record.State approved, offboarded
// or empty.
type Validator struct {
	Sponsor           string `json:"sponsor,omitempty"`
	Super             bool   `json:"super"`                         // takes part in governance
	Weight            *int64 `json:"weight"`                        // voting weight of a super validator
	Version           string `json:"version,omitempty"`             // as reported by the validator
	VersionReportedAt string `json:"version_reported_at,omitempty"` // RFC 3339
	FirstRound        *int64 `json:"first_round"`                   // of rewards; nil if unknown
	LastRound         *int64 `json:"last_round"`
	CollectedCoupons  *int64 `json:"collected_coupons"`
	MissedCoupons     *int64 `json:"missed_coupons"`
	Contact           string `json:"contact,omitempty"` // as published, never an email address
}

// Operation is an entry of the operations calendar, one occurrence of it if it
// recurs. It is keyed by the entry's uid if that is a slug, else by a digest of
// it; the key of an occurrence ends in @ and its original date. Record.Category
// is its type, Record.State scheduled, completed or cancelled as given by the
// calendar, Record.Container its environment if it has exactly one;
// Record.StartsAt and EndsAt are its window, EndsAt unknown if the calendar
// gives none. For whole days both are midnights in UTC, EndsAt the one after
// the last day.
type Operation struct {
	Environments   []string `json:"environments"` // empty: unknown
	AllDay         bool     `json:"all_day,omitempty"`
	Tentative      bool     `json:"tentative,omitempty"`
	Version        string   `json:"version,omitempty"` // named by the title
	MinimumVersion string   `json:"minimum_version,omitempty"`
	Validators     bool     `json:"validators"` // validators have to act
	Components     []string `json:"components"`
	Location       string   `json:"location,omitempty"`
	Recurrence     string   `json:"recurrence,omitempty"` // RRULE
	Series         string   `json:"series,omitempty"`     // shared by the occurrences of one entry
	Revision       int      `json:"revision,omitempty"`   // increases with each change by the calendar's owner
}

// Types of an operation.
const (
	OperationDeploy              = "deploy"
	OperationRelease             = "release"
	OperationUpgrade             = "upgrade"
	OperationGovernance          = "governance"
	OperationFreeze              = "freeze"
	OperationMinimumVersion      = "minimum_version"
	OperationSynchronizerUpgrade = "synchronizer_upgrade"
	OperationOther               = "other"
)

// States of an operation.
const (
	OperationScheduled = "scheduled"
	OperationCompleted = "completed"
	OperationCancelled = "cancelled"
)

// OperationState is the state of an operation at a time: one that is over
// counts as completed unless it was cancelled, although its record is not
// rewritten.
func OperationState(r Record, now time.Time) string {
	end := r.EndsAt
	if end.IsZero() {
		end = r.StartsAt
	}
	if r.State == OperationScheduled && !end.IsZero() && !end.After(now) {
		return OperationCompleted
	}
	return r.State
}

// Series of snapshots.
const (
	SeriesNetwork = "network" // NetworkState
	SeriesMarket  = "market"  // MarketState
	SeriesStats   = "stats"   // Stats
)

// NetworkState is a snapshot of the ledger network. A figure is nil if its
// endpoint does not answer.
type NetworkState struct {
	Validators       []string `json:"validators"` // names
	ValidatorCount   *int     `json:"validator_count"`
	SuperValidators  *int     `json:"super_validators"`
	VotingThreshold  *int     `json:"voting_threshold"`
	SequencerCount   *int     `json:"sequencer_count"`
	LatestRound      *int64   `json:"latest_round"` // mining round
	FeaturedApps     *int     `json:"featured_apps"`
	AppRewards       *float64 `json:"app_rewards"` // in the network's coin, cumulative
	ValidatorRewards *float64 `json:"validator_rewards"`
	// The rewards as the ledger reports them, with all digits.
	AppRewardsExact       string       `json:"app_rewards_exact,omitempty"`
	ValidatorRewardsExact string       `json:"validator_rewards_exact,omitempty"`
	RewardsRound          *int64       `json:"rewards_round"` // the last round included in the rewards
	Deployments           []Deployment `json:"deployments"`
	Source                string       `json:"source,omitempty"` // address it was read from
}

// Deployment is what runs on one of the network's environments.
type Deployment struct {
	Environment    string            `json:"environment"`
	Version        string            `json:"version,omitempty"` // of the ledger software
	MinimumVersion string            `json:"minimum_version,omitempty"`
	MigrationID    *int              `json:"migration_id"`
	Components     map[string]string `json:"components,omitempty"` // component → version
	MinimumOf      map[string]string `json:"minimum_of,omitempty"` // package → minimum version
	Upgrade        *Upgrade          `json:"upgrade,omitempty"`    // of the synchronizer, if one is scheduled
}

// Upgrade is a scheduled upgrade of a synchronizer.
type Upgrade struct {
	At          string `json:"at"`                  // RFC 3339
	FreezeAt    string `json:"freeze_at,omitempty"` // RFC 3339; from when topology does not change
	MigrationID *int   `json:"migration_id"`        // of the target; nil if migrations are not numbered
	Successor   string `json:"successor,omitempty"` // id of the target synchronizer
}

// MarketState is a snapshot of the coin's market. A figure is nil if its source
// does not give it. While a source does not answer, its last good figures are
// kept and Stale names the part. The time of a part is the one stated by its
// source; otherwise that of the snapshot, or for a stale part that of the
// snapshot that first had the figures.
type MarketState struct {
	PriceUSD      *float64      `json:"price_usd"`
	Change24h     *float64      `json:"change_24h"` // percent
	MarketCapUSD  *float64      `json:"market_cap_usd"`
	Volume24hUSD  *float64      `json:"volume_24h_usd"`
	PriceAsOf     string        `json:"price_as_of,omitempty"` // RFC 3339; of the four above
	TVLUSD        *float64      `json:"tvl_usd"`
	TVLAsOf       string        `json:"tvl_as_of,omitempty"` // RFC 3339
	Protocols     []ProtocolTVL `json:"protocols"`
	ProtocolsAsOf string        `json:"protocols_as_of,omitempty"` // RFC 3339
	Stale         []string      `json:"stale"`                     // price, tvl, protocols
	Source        string        `json:"source,omitempty"`
}

// ProtocolTVL is the value locked in one protocol.
type ProtocolTVL struct {
	Protocol string   `json:"protocol"`
	TVLUSD   *float64 `json:"tvl_usd"`
}

// Stats is a snapshot of what the catalog holds.
type Stats struct {
	CIPs          int          `json:"cips"` // only numbered ones
	CIPsInReview  int          `json:"cips_in_review"`
	CIPsFinal     int          `json:"cips_final"`
	Topics        int          `json:"topics"`
	Posts         int          `json:"posts"`
	Issues        int          `json:"issues"`
	Pulls         int          `json:"pulls"`
	Proposals     int          `json:"proposals"`
	Docs          int          `json:"docs"`
	Videos        int          `json:"videos"`
	Blogs         int          `json:"blogs"`
	MailThreads   int          `json:"mail_threads"`
	Radar         int          `json:"radar"`
	RecordsByKind map[Kind]int `json:"records_by_kind"`
}

// CIP is the data of an improvement proposal. Its status is Record.State
// (mapped), its type Record.Category, its abstract's summary Record.Summary; a
// draft is keyed PR-203 and has no Number.
type CIP struct {
	Number       string            `json:"number,omitempty"`   // padded as the network writes it
	RawStatus    string            `json:"raw_status"`         // as the header spells it
	Category     string            `json:"category,omitempty"` // the header's category if it also has a type
	Authors      []string          `json:"authors"`
	Layer        string            `json:"layer,omitempty"`
	Created      string            `json:"created,omitempty"`  // as written; also Record.CreatedAt if it is a date
	Approved     string            `json:"approved,omitempty"` // as written
	License      string            `json:"license,omitempty"`
	Discussions  string            `json:"discussions,omitempty"` // where the proposal is discussed
	Requires     []string          `json:"requires"`              // keys: CIP-0056
	Replaces     []string          `json:"replaces"`
	SupersededBy []string          `json:"superseded_by"`
	Header       map[string]string `json:"header"` // every header field, as written
	Pull         *PullRequest      `json:"pull,omitempty"`
	TLDRAt       string            `json:"tldr_at,omitempty"` // RFC 3339; when Summary was made
}

// PullRequest is the pull request of a draft or a grant proposal.
type PullRequest struct {
	Number      int    `json:"number"`
	State       string `json:"state"` // open, merged, closed
	Head        string `json:"head,omitempty"`
	Author      string `json:"author,omitempty"`
	FirstCommit string `json:"first_commit,omitempty"` // RFC 3339
	LastCommit  string `json:"last_commit,omitempty"`
	MergedAt    string `json:"merged_at,omitempty"`
	MergeCommit string `json:"merge_commit,omitempty"`
}

// Attachment is a file beside a proposal: a supporting document, a figure, a
// signed-vote PDF. Record.Body is its text if it has a text layer.
type Attachment struct {
	Filename  string `json:"filename"`
	MediaType string `json:"media_type"`
	Role      string `json:"role"` // proposal, vote_record, figure, other
	Bytes     int64  `json:"bytes"`
	Pages     int    `json:"pages,omitempty"`
	TextLayer bool   `json:"text_layer"` // false: scanned, or not text
	Blob      string `json:"blob,omitempty"`
}

// AttachmentFigure is the role of an attachment that is a picture, and the category of its record.
const AttachmentFigure = "figure"

// Grant is a grant proposal, keyed by the number of its pull request.
// Record.State is open or closed; events tell whether it was merged or closed
// without merging.
type Grant struct {
	Number      int          `json:"number"`
	BoardStatus string       `json:"board_status,omitempty"`
	RawStatus   string       `json:"raw_status,omitempty"`
	Champion    string       `json:"champion,omitempty"`
	Labels      []string     `json:"labels"`
	Funding     string       `json:"funding,omitempty"`
	Milestones  []Milestone  `json:"milestones"`
	Cites       []string     `json:"cites"` // proposals it cites: CIP-0056
	Files       []string     `json:"files"`
	Merged      bool         `json:"merged"`
	Pull        *PullRequest `json:"pull,omitempty"`
}

// Outcomes of a grant proposal.
const (
	GrantOpen   = "open"
	GrantMerged = "merged" // accepted
	GrantClosed = "closed" // without merging
)

// Outcome is what became of a grant proposal whose record has a state.
func (g Grant) Outcome(state string) string {
	switch {
	case g.Merged:
		return GrantMerged
	case state == GrantOpen:
		return GrantOpen
	}
	return GrantClosed
}

// Milestone is one step of a grant proposal, as numbered in its text.
type Milestone struct {
	Number string `json:"number"`
	Title  string `json:"title"`
}

// Topic is a forum thread, keyed by its number. Record.Replies and Views
// count as the forum does, Record.Votes are its likes, Record.Category is the
// forum category and Record.State open, closed or archived. Its posts are
// child records.
type Topic struct {
	Slug         string `json:"slug,omitempty"`
	Posts        int    `json:"posts"` // including the first
	Participants int    `json:"participants,omitempty"`
	Accepted     int    `json:"accepted,omitempty"` // number of the post accepted as answer
	LastPoster   string `json:"last_poster,omitempty"`
	Pinned       bool   `json:"pinned,omitempty"`
}

// Post is one post of a topic. Record.Votes are its likes.
type Post struct {
	Number     int    `json:"number"`             // within its topic, from 1
	ReplyTo    int    `json:"reply_to,omitempty"` // number of the post it replies to
	Role       string `json:"role,omitempty"`     // of the author: admin, moderator, staff
	Reads      int    `json:"reads,omitempty"`
	CodeBlocks int    `json:"code_blocks,omitempty"` // pre or code blocks in its HTML
	Accepted   bool   `json:"accepted,omitempty"`    // the topic's accepted answer
}

// MailThread is a mailing-list thread, keyed group-number. Record.Container
// is its group; its messages are child records.
type MailThread struct {
	Messages     int      `json:"messages"`
	Participants []string `json:"participants"` // display names, in order of appearance
	Proposals    []string `json:"proposals"`    // keys it is about: CIP-0056
}

// MailMessage is one message of a thread.
type MailMessage struct {
	Number      int      `json:"number"`               // within its thread, oldest first, from 1
	MessageID   string   `json:"message_id,omitempty"` // salted hash
	InReplyTo   string   `json:"in_reply_to,omitempty"`
	Sender      string   `json:"sender,omitempty"` // salted hash of the address
	Attachments []string `json:"attachments"`      // file names
}

// Discussion is a discussion on the forge, keyed by its node id.
// Record.Votes are its upvotes, Record.Replies its comments, Record.Container
// its repository; its comments are child records.
type Discussion struct {
	Number     int      `json:"number"`
	Labels     []string `json:"labels"`
	Answered   bool     `json:"answered"`
	AnswerURL  string   `json:"answer_url,omitempty"`
	AnsweredBy string   `json:"answered_by,omitempty"`
	ClosedAt   string   `json:"closed_at,omitempty"` // RFC 3339
}

// Comment is a comment on an issue, a pull request or a discussion.
// Record.Votes are its reactions or upvotes.
type Comment struct {
	ReplyTo     string `json:"reply_to,omitempty"`    // key of the comment it replies to
	Association string `json:"association,omitempty"` // of the author: owner, member, contributor
	Answer      bool   `json:"answer,omitempty"`      // the accepted answer of its discussion
	Review      bool   `json:"review,omitempty"`      // part of a code review
	File        string `json:"file,omitempty"`        // the reviewed file
}

// Project is an ecosystem project, keyed by slug. Its description is
// Record.Summary, its website Record.URL.
type Project struct {
	Organisation string       `json:"organisation,omitempty"`
	Repos        []string     `json:"repos"` // owner/name
	Packages     []string     `json:"packages"`
	SDKs         []Dependency `json:"sdks"`  // libraries it builds on
	Apps         []string     `json:"apps"`  // keys of its featured apps
	Seeks        []string     `json:"seeks"` // tags or categories it looks for in partners
	Links        []NamedLink  `json:"links"`
	Verified     string       `json:"verified,omitempty"` // date the entry was last checked
}

// ProjectRetired is the state of a project that is over.
const ProjectRetired = "retired"

// Dependency is a version of a library or SDK.
type Dependency struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // as written, may be a range
	Repo    string `json:"repo,omitempty"`    // where it was found
}

// App is a featured application, keyed by its contract id. Record.StartsAt is
// when it was first featured, Record.LastActivityAt its last activity.
type App struct {
	Provider    string   `json:"provider"` // party id
	Beneficiary string   `json:"beneficiary,omitempty"`
	Project     string   `json:"project,omitempty"` // key of its project
	TVL         *float64 `json:"tvl"`               // USD; nil if unknown
	Volume24h   *float64 `json:"volume_24h"`        // USD
	Users       *int64   `json:"users"`
	Rewards     *float64 `json:"rewards"`              // in the network's coin, cumulative
	MetricsAt   string   `json:"metrics_at,omitempty"` // RFC 3339
	MetricsOf   string   `json:"metrics_of,omitempty"` // who reported them
}

// Asset is an asset whose supply is tracked, keyed by symbol.
type Asset struct {
	Issuer     string   `json:"issuer,omitempty"`
	Native     bool     `json:"native"` // the network's own coin
	Supply     *float64 `json:"supply"` // in units; nil if unknown
	Provenance string   `json:"provenance"`
	Holders    *int64   `json:"holders"`  // nil if not disclosed
	Decimals   *int     `json:"decimals"` // decimal places of a unit
	PriceUSD   *float64 `json:"price_usd"`
	PriceAsOf  string   `json:"price_as_of,omitempty"` // RFC 3339, as stated by the source of the price
	AsOf       string   `json:"as_of,omitempty"`       // RFC 3339, as stated by the source of the supply
}

// Provenances of a supply.
const (
	ChainDerived   = "chain_derived"
	IssuerReported = "issuer_reported"
)

// Pool is a pool of a venue, which is Record.Container. Record.Title is its
// pair.
type Pool struct {
	Base      string    `json:"base"`
	Quote     string    `json:"quote"`
	TVL       *float64  `json:"tvl"`      // USD; nil if unknown
	FeeRate   *float64  `json:"fee_rate"` // fraction: 0.003 is 0.3 %
	APY       *float64  `json:"apy"`      // fraction
	Volume24h *float64  `json:"volume_24h"`
	Reserves  []Reserve `json:"reserves"`
	AsOf      string    `json:"as_of,omitempty"` // RFC 3339
}

// Reserve is a pool's holding of one asset.
type Reserve struct {
	Asset  string   `json:"asset"`
	Amount *float64 `json:"amount"` // in units; nil if unknown
}

// ToolServer is a known tool-call server, keyed by slug. Record.Summary says
// what it is for.
type ToolServer struct {
	Endpoint  string   `json:"endpoint,omitempty"` // address to call; empty for local ones
	Transport string   `json:"transport"`          // http, sse, stdio
	Connect   string   `json:"connect"`            // how to connect, for people
	Hosted    bool     `json:"hosted"`
	Free      bool     `json:"free"`
	Auth      string   `json:"auth,omitempty"` // none, key, oauth
	Tools     []string `json:"tools"`
	Operator  string   `json:"operator,omitempty"`
}

// Callable reports whether calls can be forwarded: free, hosted, reachable over
// HTTP and open to everyone.
func (s ToolServer) Callable() bool { return s.Obstacle() == "" }

// Obstacle says why calls cannot be forwarded; "" if they can.
func (s ToolServer) Obstacle() string {
	switch {
	case !s.Hosted || s.Endpoint == "":
		return "it is not hosted: it runs on a machine of yours"
	case s.Auth != "" && s.Auth != "none":
		return "it asks for credentials"
	case !s.Free:
		return "it is not free"
	case s.Transport != "http":
		return "it is not reached over streamable HTTP"
	}
	return ""
}

// Foundation is a page of the foundation's website.
type Foundation struct {
	Section string `json:"section,omitempty"`
	Facts   []Fact `json:"facts"`
}

// Partner is reference data of a partner's product, keyed by slug.
type Partner struct {
	Product   string      `json:"product,omitempty"`
	Facts     []Fact      `json:"facts"`
	Endpoints []Endpoint  `json:"endpoints"`
	Packages  []string    `json:"packages"`
	Links     []NamedLink `json:"links"`
}

// Fact is a stated value, which may drift from the live one.
type Fact struct {
	Category string `json:"category"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	AsOf     string `json:"as_of,omitempty"` // date or RFC 3339
}

// Issue is an issue of a repository. Record.Replies are its comments,
// Record.Votes its reactions, Record.Container its repository.
type Issue struct {
	Number      int      `json:"number"`
	Labels      []string `json:"labels"`
	StateReason string   `json:"state_reason,omitempty"` // completed, not_planned, …
	Milestone   string   `json:"milestone,omitempty"`
	Assignees   []string `json:"assignees"`
	Association string   `json:"association,omitempty"` // of the author
	ClosedAt    string   `json:"closed_at,omitempty"`   // RFC 3339
}

// Pull is a pull request. Columns have the same meaning as for Issue;
// Record.State is open, merged or closed.
type Pull struct {
	Number      int      `json:"number"`
	MergedAt    string   `json:"merged_at,omitempty"` // RFC 3339
	MergeCommit string   `json:"merge_commit,omitempty"`
	Head        string   `json:"head,omitempty"` // source branch
	Draft       bool     `json:"draft,omitempty"`
	Base        string   `json:"base,omitempty"` // target branch
	Labels      []string `json:"labels"`
	Milestone   string   `json:"milestone,omitempty"`
	Assignees   []string `json:"assignees"`
	Association string   `json:"association,omitempty"` // of the author
	ClosedAt    string   `json:"closed_at,omitempty"`   // RFC 3339
	Files       []string `json:"files"`
	Additions   int      `json:"additions,omitempty"` // lines
	Deletions   int      `json:"deletions,omitempty"`
}

// VersionDeprecated is the state of a package version that its registry marks so.
const VersionDeprecated = "deprecated"

// PackageVersion is one published version of a package, keyed
// registry:name@version. Record.Container is its registry, Record.CreatedAt
// when it was published, Record.State deprecated if the registry marks it so.
type PackageVersion struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description,omitempty"`
	DistTags     []string          `json:"dist_tags"` // latest, next, …; an image's further tags
	Prerelease   bool              `json:"prerelease,omitempty"`
	Deprecated   string            `json:"deprecated,omitempty"` // the registry's deprecation message
	Licence      string            `json:"licence,omitempty"`
	Repository   string            `json:"repository,omitempty"` // address of its source
	Digest       string            `json:"digest,omitempty"`
	Platforms    []string          `json:"platforms,omitempty"` // of an image: linux/amd64
	Bytes        *int64            `json:"bytes"`               // unpacked; nil unknown
	Downloads    *int64            `json:"downloads"`
	Dependencies map[string]string `json:"dependencies,omitempty"` // name → range
}

// Doc is a documentation page. Record.Container is its repository.
type Doc struct {
	Format      string   `json:"format"` // markdown, mdx, rst, html, text
	Section     string   `json:"section,omitempty"`
	Version     string   `json:"version,omitempty"` // of the documented product
	Description string   `json:"description,omitempty"`
	Commit      string   `json:"commit,omitempty"`
	Licence     string   `json:"licence,omitempty"`
	Includes    []string `json:"includes,omitempty"` // files whose text was included
	Stub        bool     `json:"stub,omitempty"`     // has hardly any text of its own
}

// Release is one release of a repository. Record.Container is the repository.
type Release struct {
	Version    string `json:"version"`
	Tag        string `json:"tag,omitempty"`
	Format     string `json:"format,omitempty"`
	Prerelease bool   `json:"prerelease,omitempty"`
	Commit     string `json:"commit,omitempty"`
	Licence    string `json:"licence,omitempty"`
}

// Repo is an indexed repository; its readme is Record.Body.
type Repo struct {
	FullName    string `json:"full_name"` // owner/name
	Description string `json:"description,omitempty"`
	Issues      int    `json:"issues"`
	Pulls       int    `json:"pulls"`
	Commit      string `json:"commit,omitempty"`
	Licence     string `json:"licence,omitempty"`
}

// Whitepaper is a paper, keyed by slug. Its extracted text is Record.Body,
// its description Record.Summary, its tag Record.Category.
type Whitepaper struct {
	Authors   []string `json:"authors"`
	Pages     int      `json:"pages"`
	PDF       string   `json:"pdf"` // address of the file
	Bytes     int64    `json:"bytes,omitempty"`
	Published string   `json:"published,omitempty"` // as written; also Record.CreatedAt if it is a date
	TextLayer bool     `json:"text_layer"`          // false: scanned, Record.Body is empty
}

// Blog is a blog post or news item. Record.Container is its site.
type Blog struct {
	GUID     string   `json:"guid,omitempty"` // of the feed's item
	Feed     string   `json:"feed,omitempty"` // address the feed was read from
	Authors  []string `json:"authors"`
	Image    string   `json:"image,omitempty"`
	Language string   `json:"language,omitempty"` // BCP 47
}

// Video is a talk or recording, keyed by its id on the platform.
// Record.Container is its channel, Record.CreatedAt when it was published,
// Record.Summary its description and Record.Body its transcript.
type Video struct {
	HasTranscript bool   `json:"has_transcript"`
	Transcript    string `json:"transcript,omitempty"` // origin: manual, automatic
	Language      string `json:"language,omitempty"`   // of the transcript, BCP 47
	Seconds       *int   `json:"seconds"`              // length; nil unknown
	Thumbnail     string `json:"thumbnail,omitempty"`
	Cues          []Cue  `json:"cues"`
}

// Cue maps a position in a transcript to its time in the recording.
type Cue struct {
	Seconds float64 `json:"seconds"`
	Offset  int     `json:"offset"` // byte offset in Record.Body
}

// APIEndpoint is an operation of an API, read from a description of it (OpenAPI),
// keyed by file, path and method. Record.Title is method and path, Record.Category the
// name of the API, Record.Path the file, Record.State EndpointDeprecated or "".
type APIEndpoint struct {
	Method     string         `json:"method"`            // in capitals
	Route      string         `json:"route"`             // path below the base, with {parameters}
	Base       string         `json:"base,omitempty"`    // path of the servers
	Servers    []string       `json:"servers"`           // their addresses
	Version    string         `json:"version,omitempty"` // of the API
	Operation  string         `json:"operation_id,omitempty"`
	Groups     []string       `json:"groups"` // tags of its API
	Parameters []APIParameter `json:"parameters"`
	Request    *APIContent    `json:"request,omitempty"`
	Responses  []APIContent   `json:"responses"`
	Line       int            `json:"line"` // of the file
	Commit     string         `json:"commit,omitempty"`
	Licence    string         `json:"licence,omitempty"`
}

// EndpointDeprecated is the state of an endpoint that should not be used any more.
const EndpointDeprecated = "deprecated"

// Names are what clients call the endpoint by: its path with and without the base, and
// its operation id.
func (e APIEndpoint) Names() []string {
	names := []string{e.Route}
	if e.Base != "" {
		names = append(names, e.Base+e.Route)
	}
	if e.Operation != "" {
		names = append(names, e.Operation)
	}
	return names
}

// APIParameter is a parameter of an endpoint, or a field of its request.
type APIParameter struct {
	Name        string `json:"name"`
	In          string `json:"in"` // path, query, header, cookie, body
	Required    bool   `json:"required,omitempty"`
	Type        string `json:"type,omitempty"` // in words: array of string
	Description string `json:"description,omitempty"`
}

// APIContent is the body of a request or of a response.
type APIContent struct {
	Status      string   `json:"status,omitempty"` // of a response: 200, 4XX, default
	Required    bool     `json:"required,omitempty"`
	Media       []string `json:"media"`
	Type        string   `json:"type,omitempty"` // in words, of the first of them
	Description string   `json:"description,omitempty"`
}

// Radar is a breaking change or deadline to be aware of. Record.Category is its
// level (critical, important, ecosystem), Record.EndsAt the deadline,
// Record.URL where it is announced.
type Radar struct {
	Affected []string `json:"affected"`           // components
	Action   string   `json:"action,omitempty"`   // what to do
	Deadline string   `json:"deadline,omitempty"` // as written; also Record.EndsAt if it is a date
	Versions []string `json:"versions"`
}

// Deprecation is a toolchain item and what replaces it. Record.Title is its
// name, Record.Category one of the deprecation categories, Record.Summary
// the note, Record.State deprecated or current.
type Deprecation struct {
	Replacement string   `json:"replacement,omitempty"`
	Since       string   `json:"since,omitempty"` // version
	Removed     string   `json:"removed,omitempty"`
	Install     string   `json:"install,omitempty"` // of the replacement
	Patterns    []string `json:"patterns"`          // spellings that indicate its use in text
}

// States of a deprecation record.
const (
	ItemDeprecated = "deprecated"
	ItemCurrent    = "current"
)

// FAQ is a frequent question: Record.Title is the question, Record.Body the
// answer.
type FAQ struct {
	Order   int         `json:"order,omitempty"` // in the source, from 1
	Related []NamedLink `json:"related"`
}

// EVMMapping maps a concept of EVM chains, Record.Title, to the network's.
// Record.Body explains it.
type EVMMapping struct {
	Equivalent  string      `json:"equivalent"`
	Differences []string    `json:"differences"`
	EVMExample  string      `json:"evm_example,omitempty"` // code
	Example     string      `json:"example,omitempty"`
	Related     []NamedLink `json:"related"`
}

// APIReference is one of the network's APIs, keyed by slug.
type APIReference struct {
	Protocol  string      `json:"protocol,omitempty"` // http, grpc, library
	Version   string      `json:"version,omitempty"`
	Auth      string      `json:"auth,omitempty"`
	Ports     []Port      `json:"ports"`
	Endpoints []Endpoint  `json:"endpoints"`
	Services  []Service   `json:"services"`
	Links     []NamedLink `json:"links"`
}

// Port is a port that an API listens on.
type Port struct {
	Number  int    `json:"number"`
	Purpose string `json:"purpose,omitempty"`
}

// Endpoint is one address of an API.
type Endpoint struct {
	Method      string `json:"method,omitempty"`
	Path        string `json:"path"`
	Description string `json:"description,omitempty"`
}

// Service is a service of an RPC API.
type Service struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Methods     []string `json:"methods"`
}

// Onboarding is a path for newcomers of one background, keyed by its slug.
// Record.Title is the background, Record.Body the introduction.
type Onboarding struct {
	Steps []Step `json:"steps"`
}

// Step is one step of an onboarding path. It links to a record, an external
// address or neither.
type Step struct {
	Title   string `json:"title"`
	Text    string `json:"text,omitempty"`
	URL     string `json:"url,omitempty"`
	Kind    Kind   `json:"kind,omitempty"` // with Key: the record to read
	Key     string `json:"key,omitempty"`
	Minutes int    `json:"minutes,omitempty"` // approximate duration
}

// NamedLink is an address with a label.
type NamedLink struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// DerivedSource is the source of records derived from other records. No
// connector fills it.
const DerivedSource = "derived"

// Levels of a radar item, most urgent first.
const (
	RadarCritical  = "critical"
	RadarImportant = "important"
	RadarEcosystem = "ecosystem"
)

// DriftRule counts the results of one rule. Facts that are not drifted, missing
// or unreadable agree with the live value.
type DriftRule struct {
	Category   string `json:"category"`
	Key        string `json:"key" doc:"*: the fact's key names its subject"`
	Facts      int    `json:"facts"`
	Drifted    int    `json:"drifted"`
	Missing    int    `json:"missing" doc:"without a live value"`
	Unreadable int    `json:"unreadable" doc:"stated values that cannot be compared"`
}
