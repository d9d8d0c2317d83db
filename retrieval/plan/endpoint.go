package plan

import (
	"regexp"
	"strings"
)

// Endpoint is an endpoint of an API as a query or a title names it.
type Endpoint struct {
	Method string // in capitals; "" = any
	path   []string
}

var endpointForm = regexp.MustCompile(
	`^(?:(?i:(get|put|post|delete|options|head|patch|trace|query))\s+)?(/[^\s?#]*[\pL{][^\s?#]*)(?:[?#]\S*)?$`)

// ReadEndpoint reads a method and a path, or a path alone.
func ReadEndpoint(text string) (e Endpoint, ok bool) {
	m := endpointForm.FindStringSubmatch(strings.Trim(text, " \"'`"))
	if m == nil {
		return e, false
	}
	return Endpoint{strings.ToUpper(m[1]), strings.Split(strings.Trim(m[2], "/"), "/")}, true
}

// Endpoint is the endpoint that the query names and asks for nothing else.
func (p *Plan) Endpoint() (Endpoint, bool) { return ReadEndpoint(p.Query.Text) }

// How an endpoint is named.
const (
	Exactly    = iota // as its API describes it
	BelowABase        // behind the path of its server
	ByExample         // with values in place of {parameters}
	NotNamed
)

// Names says how an endpoint is named by another one, which a query has.
func (e Endpoint) Names(described Endpoint) int {
	further := len(e.path) - len(described.path)
	if further < 0 || e.Method != "" && e.Method != described.Method {
		return NotNamed
	}
	how := Exactly
	if further > 0 {
		how = BelowABase
	}
	same := 0 // segments besides parameters
	for i, want := range described.path {
		switch got := e.path[further+i]; {
		case got == want:
			if !strings.HasPrefix(want, "{") {
				same++
			}
		case strings.HasPrefix(want, "{") && strings.HasSuffix(want, "}"):
			how = ByExample
		default:
			return NotNamed
		}
	}
	if how != Exactly && same < 2 { // any path ends in one like it
		return NotNamed
	}
	return how
}
