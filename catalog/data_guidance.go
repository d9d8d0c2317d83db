package catalog

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
