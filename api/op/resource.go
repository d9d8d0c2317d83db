package op

import "context"

// Resource is a read-only snapshot for tool clients, at an address of its own.
type Resource struct {
	URI, Name, Title, Description string
	MIMEType                      string // "" = application/json
	// Read returns a string, which is served as it is, or a value that is
	// served as JSON.
	Read func(context.Context) (any, error)
}
