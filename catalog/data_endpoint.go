package catalog

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
