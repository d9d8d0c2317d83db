// Package endpoint reads the operations of APIs from descriptions of them: OpenAPI 3
// and Swagger 2, in YAML or JSON.
//
// A description is read as far as it can be: what a reference does not lead to, or what
// is written in another way than the format wants, is left out and noted. Recursive
// schemas are named, not followed.
package endpoint

// The bounds of what is read.
const (
	maxNodes       = 600_000 // of the YAML tree of one file
	maxSteps       = 250_000 // keys and schemas that are looked at
	maxHops        = 16      // references in a row
	maxFiles       = 64      // that a description refers to
	maxNotes       = 10
	maxOperations  = 5_000
	maxParameters  = 100
	maxResponses   = 40
	maxDescription = 20_000 // characters
	maxLine        = 240    // characters of a description on one line
	maxNesting     = 4      // of types in words
)
