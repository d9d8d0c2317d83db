// Package arg holds the types of arguments that operations of several groups take. Their constraints
// (op.Constrained) have {{placeholders}}, which Words replaces by a network's terms.
package arg

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
)

// CIPID is the id of an improvement proposal as clients write it.
type CIPID string

// Constraints implements op.Constrained.
func (CIPID) Constraints() reflect.StructTag {
	return `pattern:"{{id_pattern}}" toolpattern:"{{tool_id_pattern}}" ` +
		`doc:"{{label}}, {{short}}, {{id}}, or PR-203 for a draft"`
}

// RecordID names any record: by record id, by the id of a search result, or by
// the path of its file.
type RecordID string

// Constraints implements op.Constrained.
func (RecordID) Constraints() reflect.StructTag {
	return `maxLength:"1000" tooltype:"string,integer" doc:"read or id of a search result, or the path of a file" ` +
		`tooldoc:"read or id of a search result: 1000054#setup or {{id}}"`
}

// Status is one of the statuses that improvement proposals of every network
// have.
type Status string

// Constraints implements op.Constrained.
func (Status) Constraints() reflect.StructTag {
	return reflect.StructTag(`enum:"` + strings.Join(network.Statuses, ",") + `"`)
}

// SearchType is a kind of content as searches name it.
type SearchType string

// SearchTypes are the values of a SearchType, "all" first.
var SearchTypes = []string{
	"all", catalog.SearchCIP, catalog.SearchDoc, catalog.SearchDiscussion, catalog.SearchMail,
	catalog.SearchWhitepaper, catalog.SearchGrant, catalog.SearchBlog, catalog.SearchVideo, catalog.SearchForge,
}

// Constraints implements op.Constrained.
func (SearchType) Constraints() reflect.StructTag {
	return reflect.StructTag(`enum:"` + strings.Join(SearchTypes, ",") + `"`)
}

// TypeOf returns the search type of a kind.
func TypeOf(k catalog.Kind) string {
	if info, ok := catalog.InfoOf(k); ok {
		return info.SearchType
	}
	return catalog.SearchDoc
}

// Kinds returns the kinds of the type; nil for all.
func (t SearchType) Kinds() (kinds []catalog.Kind) {
	for _, info := range catalog.Kinds {
		if info.SearchType == string(t) {
			kinds = append(kinds, info.Kind)
		}
	}
	return kinds
}

// Kind is a kind of record.
type Kind string

// Constraints implements op.Constrained.
func (Kind) Constraints() reflect.StructTag {
	names := make([]string, len(catalog.Kinds))
	for i, k := range catalog.Kinds {
		names[i] = string(k.Kind)
	}
	return reflect.StructTag(`enum:"` + strings.Join(names, ",") + `"`)
}

// Environment is an environment of the network.
type Environment string

// Constraints implements op.Constrained.
func (Environment) Constraints() reflect.StructTag {
	return `maxLength:"100" doc:"only this environment of the network, such as mainnet"`
}

// GrantState is the filter of grant proposals, and of issues, by state.
type GrantState string

// Constraints implements op.Constrained.
func (GrantState) Constraints() reflect.StructTag { return `enum:"open,closed,all"` }

// Day is a calendar day of UTC, or a time.
type Day time.Time

// Time returns the moment, zero if none is given.
func (d Day) Time() time.Time { return time.Time(d) }

// Query is the text to search for.
type Query string

// Constraints implements op.Constrained.
func (Query) Constraints() reflect.StructTag {
	return `doc:"what to search for; \"quoted phrases\", -word, kind:doc and source:docs work"`
}

// Cursor is where a part of a long text begins.
type Cursor string

// Constraints implements op.Constrained.
func (Cursor) Constraints() reflect.StructTag {
	return `doc:"next_cursor of an answer" maxLength:"20"`
}

// Paging are the arguments of most lists.
type Paging struct {
	Limit int `json:"limit" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
	Skip
}

// Most is how many rows to return of a list that tools take a limit of although their
// schemas have no room to say so.
type Most struct {
	Limit int `json:"limit" unlisted:"true" default:"10" minimum:"1" maximum:"100" doc:"how many to return"`
}

// Skip is where a page of a list begins.
type Skip struct {
	Offset int `json:"offset" default:"0" minimum:"0" maximum:"2147483647" toolmaximum:"" doc:"how many to skip"`
}

// Only returns the filter for one value: none if the argument stands for all.
func Only[S ~string](value, all S) []string {
	if value == all {
		return nil
	}
	return []string{string(value)}
}

// Words replaces the placeholders of texts and tags by a network's terms.
func Words(n network.Network) *strings.Replacer {
	p := n.Proposals
	key := p.Key("56")
	return strings.NewReplacer(
		"{{label}}", p.Prefix+"-56", "{{short}}", "56", "{{id}}", p.ID(key), "{{key}}", key, "{{prefix}}", p.Prefix,
		"{{statuses}}", strings.Join(p.Words(), ","),
		"{{id_pattern}}", IDPattern(p.Prefix), "{{tool_id_pattern}}", ToolIDPattern(p.Prefix),
	)
}

// servicePrefix is the API's own prefix of improvement proposals. A network
// that uses it has the ids of the published interface; any other also has its
// own prefix, longer numbers, and those of parts (46-01).
const servicePrefix = "CIP"

// IDPattern is the form of a proposal's id on REST.
func IDPattern(prefix string) string {
	if prefix == servicePrefix {
		return `^(\d{1,4}|CIP-\d{1,4}|cip-\d{1,4}|PR-\d+)$`
	}
	return fmt.Sprintf(`^(((%[2]s|%[3]s|CIP|cip)-)?\d{1,%[1]d}(-\d{1,2})?|PR-\d+)$`,
		network.MaxDigits, prefix, strings.ToLower(prefix))
}

// ToolIDPattern also accepts the spellings that models write.
func ToolIDPattern(prefix string) string {
	number := fmt.Sprintf(`\d{1,%d}(-\d{1,2})?`, network.MaxDigits)
	if prefix == servicePrefix {
		number = `\d{1,4}`
	}
	return fmt.Sprintf(`^\s*(?i:((%s|cip)[-\s#]?)?%s|pr[-\s#]?\d+)\s*$`, prefix, number)
}
