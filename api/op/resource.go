package op

import "context"

// Resource is a read-only snapshot for tool clients, with its own URI.
type Resource struct {
	URI, Name, Title, Description string
	MIMEType                      string // "" = application/json
	// Read returns a string, served verbatim, or a value served as JSON.
	Read func(context.Context) (any, error)
}
