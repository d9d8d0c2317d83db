package op

import (
	"context"
	"time"
)

// Resource is a read-only snapshot for tool clients, with its own URI.
type Resource struct {
	URI, Name, Title, Description string
	MIMEType                      string // "" = application/json
	// Read returns a string, served verbatim, or a value served as JSON.
	Read func(context.Context) (any, error)
	// State describes the content for lists; nil = unknown.
	State func(context.Context) (ResourceState, error)
}

// ResourceState describes the content of a resource.
type ResourceState struct {
	Size     int64 // bytes
	Modified time.Time
}
