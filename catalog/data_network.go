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
