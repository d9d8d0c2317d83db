package catalog

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
