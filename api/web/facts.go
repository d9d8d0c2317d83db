package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
)

// fact is a field that stands beside a text: where it is in the data, what people call
// it, and how they read it.
type fact struct {
	path, name string
	form       form
	kind       catalog.Kind // if it names records: of them
}

// form is how a value is written.
type form string

// The forms; none is the value as it is.
const (
	inWords  form = "words"
	asDay    form = "day"
	asCode   form = "code"
	asHash   form = "hash" // its beginning
	asNumber form = "number"
	asBytes  form = "bytes"
	asUSD    form = "usd"
	asShare  form = "percent"
	asLength form = "duration"
	asLink   form = "link"
	asRecord form = "record"
)

// told are the facts of each kind, in the order in which they stand. What the head or
// the text of a page says is not said again.
var told = map[catalog.Kind][]fact{
	catalog.KindCIP: {{path: "layer", name: "Layer"}, {path: "category", name: "Category"},
		{path: "approved", name: "Approved", form: asDay}, {path: "discussions", name: "Discussed at", form: asLink},
		{path: "replaces", name: "Replaces", form: asRecord, kind: catalog.KindCIP},
		{path: "superseded_by", name: "Superseded by", form: asRecord, kind: catalog.KindCIP},
		{path: "license", name: "Licence"}},
	catalog.KindAttachment: {{path: "role", name: "Is", form: inWords}, {path: "media_type", name: "Type"},
		{path: "pages", name: "Pages", form: asNumber}, {path: "bytes", name: "Size", form: asBytes}},
	catalog.KindVoteRequest: {{path: "proposals", name: "Cites", form: asRecord, kind: catalog.KindCIP},
		{path: "decided_at", name: "Decided", form: asDay}, {path: "reason_url", name: "Reason", form: asLink}},
	catalog.KindGrant: {{path: "raw_status", name: "Status"}, {path: "champion", name: "Champion"},
		{path: "board_status", name: "On the board"},
		{path: "labels", name: "Labels"}, {path: "cites", name: "Cites", form: asRecord, kind: catalog.KindCIP},
		{path: "pull.merged_at", name: "Merged", form: asDay},
		{path: "pull.merge_commit", name: "Commit", form: asHash}},
	catalog.KindDoc: {{path: "section", name: "Section"}, {path: "version", name: "Version"},
		{path: "commit", name: "Commit", form: asHash}, {path: "licence", name: "Licence"}},
	catalog.KindPost:        {{path: "role", name: "Author is", form: inWords}},
	catalog.KindMailMessage: {{path: "attachments", name: "Attached"}},
	catalog.KindWhitepaper: {{path: "pages", name: "Pages", form: asNumber},
		{path: "bytes", name: "Size", form: asBytes}},
	catalog.KindBlog: {{path: "language", name: "Language"}},
	catalog.KindVideo: {{path: "seconds", name: "Length", form: asLength}, {path: "language", name: "Language"},
		{path: "transcript", name: "Transcript", form: inWords}},
	catalog.KindIssue: {{path: "labels", name: "Labels"}, {path: "assignees", name: "Assigned to"},
		{path: "milestone", name: "Milestone"}, {path: "closed_at", name: "Closed", form: asDay},
		{path: "state_reason", name: "Closed as", form: inWords}, {path: "association", name: "Author is", form: inWords}},
	catalog.KindPull: {{path: "labels", name: "Labels"}, {path: "assignees", name: "Assigned to"},
		{path: "milestone", name: "Milestone"}, {path: "base", name: "Into", form: asCode},
		{path: "head", name: "From", form: asCode}, {path: "additions", name: "Lines added", form: asNumber},
		{path: "deletions", name: "Lines removed", form: asNumber}, {path: "merged_at", name: "Merged", form: asDay},
		{path: "merge_commit", name: "Commit", form: asHash}, {path: "association", name: "Author is", form: inWords}},
	catalog.KindRelease: {{path: "version", name: "Version"}, {path: "tag", name: "Tag", form: asCode},
		{path: "prerelease", name: "Prerelease"}, {path: "commit", name: "Commit", form: asHash},
		{path: "licence", name: "Licence"}},
	catalog.KindComment: {{path: "association", name: "Author is", form: inWords}},
	catalog.KindRepo: {{path: "issues", name: "Issues", form: asNumber},
		{path: "pulls", name: "Pull requests", form: asNumber}, {path: "commit", name: "Commit", form: asHash},
		{path: "licence", name: "Licence"}},
	catalog.KindPackageVersion: {{path: "dist_tags", name: "Tags"}, {path: "prerelease", name: "Prerelease"},
		{path: "deprecated", name: "Deprecated"}, {path: "licence", name: "Licence"},
		{path: "bytes", name: "Unpacked", form: asBytes}, {path: "downloads", name: "Downloads", form: asNumber},
		{path: "platforms", name: "Platforms"}, {path: "repository", name: "Source", form: asLink},
		{path: "digest", name: "Digest", form: asHash}},
	catalog.KindProject: {{path: "organisation", name: "By"},
		{path: "repos", name: "Repositories", form: asRecord, kind: catalog.KindRepo},
		{path: "apps", name: "Apps", form: asRecord, kind: catalog.KindApp},
		{path: "packages", name: "Packages", form: asCode}, {path: "seeks", name: "Seeks"},
		{path: "links", name: "Links", form: asLink},
		{path: "verified", name: "Checked", form: asDay}},
	catalog.KindApp: {{path: "project", name: "Project", form: asRecord, kind: catalog.KindProject},
		{path: "provider", name: "Provider", form: asHash}, {path: "beneficiary", name: "Beneficiary", form: asHash}},
	catalog.KindValidator: {{path: "sponsor", name: "Sponsor"}, {path: "super", name: "Super validator"},
		{path: "weight", name: "Weight", form: asNumber}, {path: "version", name: "Version"},
		{path: "version_reported_at", name: "Reported", form: asDay},
		{path: "first_round", name: "First round", form: asNumber}, {path: "last_round", name: "Last round", form: asNumber},
		{path: "collected_coupons", name: "Coupons collected", form: asNumber},
		{path: "missed_coupons", name: "Coupons missed", form: asNumber}, {path: "contact", name: "Contact", form: asLink}},
	catalog.KindAsset: {{path: "issuer", name: "Issuer"}, {path: "supply", name: "Supply", form: asNumber},
		{path: "provenance", name: "Supply is", form: inWords}, {path: "as_of", name: "Supply of", form: asDay},
		{path: "price_usd", name: "Price", form: asUSD}, {path: "price_as_of", name: "Price of", form: asDay},
		{path: "holders", name: "Holders", form: asNumber}, {path: "decimals", name: "Decimal places", form: asNumber}},
	catalog.KindPool: {{path: "tvl", name: "Value locked", form: asUSD},
		{path: "volume_24h", name: "Traded in 24 hours", form: asUSD},
		{path: "fee_rate", name: "Fee", form: asShare}, {path: "apy", name: "Yield a year", form: asShare},
		{path: "as_of", name: "Figures of", form: asDay}},
	catalog.KindOperation: {{path: "environments", name: "Environments"}, {path: "components", name: "Components"},
		{path: "version", name: "Version"}, {path: "minimum_version", name: "At least"},
		{path: "validators", name: "Validators act"}, {path: "tentative", name: "Tentative"},
		{path: "location", name: "Place"}},
	catalog.KindRadar: {{path: "deadline", name: "Until", form: asDay}, {path: "affected", name: "Affects"},
		{path: "versions", name: "Versions"}},
	catalog.KindAPIReference: {{path: "protocol", name: "Protocol"}, {path: "version", name: "Version"},
		{path: "links", name: "Links", form: asLink}},
	catalog.KindEndpoint: {{path: "route", name: "Path", form: asCode}, {path: "base", name: "Below", form: asCode},
		{path: "operation_id", name: "Operation", form: asCode}, {path: "version", name: "Version"},
		{path: "groups", name: "Tags"}, {path: "servers", name: "Served at", form: asCode},
		{path: "line", name: "Line", form: asNumber}, {path: "commit", name: "Commit", form: asHash},
		{path: "licence", name: "Licence"}},
	catalog.KindFAQ:        {{path: "related", name: "See also", form: asLink}},
	catalog.KindEVMMapping: {{path: "equivalent", name: "Here"}, {path: "related", name: "See also", form: asLink}},
	catalog.KindToolServer: {{path: "operator", name: "Run by"}, {path: "transport", name: "Transport"},
		{path: "endpoint", name: "Endpoint", form: asCode}, {path: "auth", name: "Credentials"}, {path: "free", name: "Free"},
		{path: "hosted", name: "Hosted"}, {path: "tools", name: "Tools", form: asCode}},
	catalog.KindFoundation: {{path: "section", name: "Section"}},
	catalog.KindPartner: {{path: "product", name: "Product"}, {path: "packages", name: "Packages", form: asCode},
		{path: "links", name: "Links", form: asLink}},
}

// untold are fields that a page shows elsewhere, that its text was made of, or that say
// nothing to people.
var untold = []string{
	"number", "format", "text_layer", "cues", "thumbnail", "image", "message_id", "sender", "slug", "raw_status", "stub",
	"has_transcript", "patterns", "header", "votes", "abstained", "participants", "steps", "funding", "milestones", "pdf",
	"ports", "endpoints", "services", "differences", "description", "published", "authors", "created", "requires",
	"metrics_at", "metrics_of", "tvl", "volume_24h", "users", "rewards", "required", "outcome", "failure",
	"method", "parameters", "request", "responses",
}

// Fact is one of a record's, with its values.
type Fact struct {
	Name   string
	Form   string
	Values []Value
}

// Value is one value of a fact.
type Value struct {
	Text   string
	Number float64
	Link   string // to another server
	Page   string // of the record that it names, on this server
	Title  string // of that
}

// Field is a field of the data that is no fact: its path, and what it says.
type Field struct{ Path, Value string }

// Facts are those of the page's record.
func (v *view) Facts() (out []Fact) {
	for _, f := range told[v.Kind.Kind] {
		values := f.values(dig(v.Record.Data, f.path))
		for i, x := range values {
			if f.form != asRecord {
				break
			}
			if item, ok := v.item(catalog.Ref{Kind: f.kind, Key: x.Text}); ok {
				values[i].Page, values[i].Title = v.h.site.Local(item.Page), titleOf(item)
			}
		}
		if len(values) > 0 {
			out = append(out, Fact{f.name, string(f.form), values})
		}
	}
	return out
}

// dig returns the value at a path of an object, nil for none.
func dig(data map[string]any, path string) any {
	name, rest, deeper := strings.Cut(path, ".")
	if inside, ok := data[name].(map[string]any); ok && deeper {
		return dig(inside, rest)
	}
	return data[name]
}

// factValues is the maximum of values of a fact.
const factValues = 12

// values are those of a fact that the data has: one, or those of a list. What is empty,
// zero or false says nothing.
func (f fact) values(data any) (out []Value) {
	if list, ok := data.([]any); ok {
		for _, e := range list[:min(len(list), factValues)] {
			out = append(out, f.values(e)...)
		}
		if more := len(list) - factValues; more > 0 {
			out = append(out, Value{Text: fmt.Sprintf("and %d more", more)})
		}
		return out
	}
	if named, ok := data.(map[string]any); ok { // a link with its title
		title, _ := named["title"].(string)
		address, _ := named["url"].(string)
		return []Value{{Text: cmp.Or(title, address), Link: address}}
	}
	text := valueOf(data)
	if text == "" {
		return nil
	}
	value := Value{Text: text}
	value.Number, _ = data.(float64)
	if f.form == asLink {
		value.Link = text
	}
	return []Value{value}
}

// The bounds of what else a page says of a record.
const (
	fieldsShown = 60
	fieldSize   = 300 // characters of a value
)

// Fields are the fields of the data that are neither facts nor said elsewhere.
func (v *view) Fields() (out []Field) {
	known := slices.Clone(untold)
	for _, f := range told[v.Kind.Kind] {
		known = append(known, f.path)
	}
	var add func(path string, data any)
	add = func(path string, data any) {
		if slices.Contains(known, path) || len(out) == fieldsShown {
			return
		}
		switch data := data.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(data)) {
				add(strings.TrimPrefix(path+"."+name, "."), data[name])
			}
		case []any:
			add(path, listed(data))
		default:
			if text := valueOf(data); text != "" {
				out = append(out, Field{path, short(fieldSize, text)})
			}
		}
	}
	add("", v.Record.Data)
	return out
}

// listed writes a list on one line, what is no plain value as JSON.
func listed(list []any) string {
	var all []string
	for _, e := range list {
		text := valueOf(e)
		if raw, err := json.Marshal(e); text == "" && err == nil {
			text = string(raw)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// valueOf writes a plain value of JSON; "" for one that says nothing.
func valueOf(v any) string {
	switch v := v.(type) {
	case string:
		return short(fieldSize, v)
	case bool:
		if v {
			return "yes"
		}
	case float64:
		if v != 0 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return ""
}
