package catalog

// VoteRequest is an on-chain governance vote request, keyed by its tracking
// contract id. Record.Category is its action, Record.State whether it is open
// or closed, Record.Author who asked, Record.Body the reason, Record.EndsAt
// the deadline of voting and Record.StartsAt when it takes effect.
type VoteRequest struct {
	Outcome   string            `json:"outcome,omitempty"` // accepted, rejected, expired; empty while open
	Details   map[string]string `json:"details,omitempty"` // of the action, flattened: path → value
	ReasonURL string            `json:"reason_url,omitempty"`
	Proposals []string          `json:"proposals"` // keys it cites: CIP-0056
	Required  *int              `json:"required"`  // votes needed; nil unknown
	Votes     []Ballot          `json:"votes"`
	Abstained []string          `json:"abstained"`            // members who cast none
	DecidedAt string            `json:"decided_at,omitempty"` // RFC 3339
}

// Ballot is one validator's vote on a vote request.
type Ballot struct {
	Voter     string `json:"voter"`           // name
	Party     string `json:"party,omitempty"` // party id
	Choice    string `json:"choice"`          // in_favour, against, abstain
	Reason    string `json:"reason,omitempty"`
	ReasonURL string `json:"reason_url,omitempty"`
	CastAt    string `json:"cast_at,omitempty"` // RFC 3339
}

// Validator is a validator, keyed by party id. Record.Title is its name,
// Record.LastActivityAt its last activity, Record.State approved, offboarded
// or empty.
type Validator struct {
	Sponsor           string `json:"sponsor,omitempty"`
	Super             bool   `json:"super"`                         // takes part in governance
	Weight            *int64 `json:"weight"`                        // voting weight of a super validator
	Version           string `json:"version,omitempty"`             // as it reports it
	VersionReportedAt string `json:"version_reported_at,omitempty"` // RFC 3339
	FirstRound        *int64 `json:"first_round"`                   // of rewards; nil unknown
	LastRound         *int64 `json:"last_round"`
	CollectedCoupons  *int64 `json:"collected_coupons"`
	MissedCoupons     *int64 `json:"missed_coupons"`
	Contact           string `json:"contact,omitempty"` // as published, never a mail address
}

// Operation is an entry of the operations calendar, keyed by its uid.
// Record.Category is its type (deploy, release, upgrade, governance, freeze,
// minimum_version, synchronizer_upgrade, other), Record.State scheduled,
// completed or cancelled, Record.Container its environment where it has just
// one; Record.StartsAt and EndsAt are its window.
type Operation struct {
	Environments   []string `json:"environments"` // empty: cannot be attributed
	AllDay         bool     `json:"all_day,omitempty"`
	Version        string   `json:"version,omitempty"` // the title names
	MinimumVersion string   `json:"minimum_version,omitempty"`
	Validators     bool     `json:"validators"` // validators have to act
	Components     []string `json:"components"`
	Location       string   `json:"location,omitempty"`
	Recurrence     string   `json:"recurrence,omitempty"` // RRULE
}

// Series of snapshots.
const (
	SeriesNetwork = "network" // NetworkState
	SeriesMarket  = "market"  // MarketState
	SeriesStats   = "stats"   // Stats
)

// NetworkState is a snapshot of the ledger network. A figure is nil where
// its endpoint does not answer.
type NetworkState struct {
	Validators       []string     `json:"validators"` // names
	ValidatorCount   *int         `json:"validator_count"`
	SuperValidators  *int         `json:"super_validators"`
	VotingThreshold  *int         `json:"voting_threshold"`
	SequencerCount   *int         `json:"sequencer_count"`
	LatestRound      *int64       `json:"latest_round"` // mining round
	FeaturedApps     *int         `json:"featured_apps"`
	AppRewards       *float64     `json:"app_rewards"` // in the network's coin, cumulative
	ValidatorRewards *float64     `json:"validator_rewards"`
	Deployments      []Deployment `json:"deployments"`
	Source           string       `json:"source,omitempty"` // address it was read at
}

// Deployment is what runs on one of the network's environments.
type Deployment struct {
	Environment    string            `json:"environment"`
	Version        string            `json:"version,omitempty"` // of the ledger software
	MinimumVersion string            `json:"minimum_version,omitempty"`
	MigrationID    *int              `json:"migration_id"`
	Components     map[string]string `json:"components,omitempty"` // component → version
	MinimumOf      map[string]string `json:"minimum_of,omitempty"` // package → minimum version
}

// MarketState is a snapshot of the coin's market. A figure is nil where its
// source does not give it.
type MarketState struct {
	PriceUSD     *float64      `json:"price_usd"`
	Change24h    *float64      `json:"change_24h"` // percent
	MarketCapUSD *float64      `json:"market_cap_usd"`
	Volume24hUSD *float64      `json:"volume_24h_usd"`
	TVLUSD       *float64      `json:"tvl_usd"`
	Protocols    []ProtocolTVL `json:"protocols"`
	Source       string        `json:"source,omitempty"`
}

// ProtocolTVL is the value locked in one protocol.
type ProtocolTVL struct {
	Protocol string   `json:"protocol"`
	TVLUSD   *float64 `json:"tvl_usd"`
}

// Stats is a snapshot of what the catalog holds.
type Stats struct {
	CIPs          int          `json:"cips"` // numbered ones
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
