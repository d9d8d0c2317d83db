package network

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"almanac/text/nearest"
	"almanac/text/options"
	"almanac/text/webaddress"
)

// namePattern is the form of the names of networks, sources and connectors:
// they are directory names, metric labels and command-line arguments.
const namePattern = `^[a-z0-9]+(-[a-z0-9]+)*$`

// prefixPattern is the form of a proposal prefix.
const prefixPattern = `^[A-Za-z][A-Za-z0-9]{0,15}$`

// publishedPattern is the form of what a program is published as: owner/name, a
// package, a package of a scope.
const publishedPattern = `^(@?[A-Za-z0-9._-]+/)?[A-Za-z0-9._-]+$`

// derivedName is the source of derived records (catalog.DerivedSource).
const derivedName = "derived"

// maxName is the maximum length of a name.
const maxName = 64

var (
	nameForm   = regexp.MustCompile(namePattern)
	prefixForm = regexp.MustCompile(prefixPattern)

	publishedForm = regexp.MustCompile(publishedPattern)
)

// validate checks what the types cannot express.
func (f *file) validate(n Network) {
	f.name64(n.Name, "name")
	if strings.TrimSpace(n.Title) == "" {
		f.report(f.at("title"), "title: the network's name as people write it is missing")
	}
	if err := webaddress.Check(n.Homepage); n.Homepage != "" && err != nil {
		f.report(f.at("homepage"), "homepage: %v", err)
	}
	for _, p := range n.Toolchain.Programs() {
		if !publishedForm.MatchString(p.Name) {
			f.report(f.at("toolchain", p.Role), "toolchain.%s: %q is neither a repository (owner/name) nor a package",
				p.Role, p.Name)
		}
	}
	f.proposals(n.Proposals)
	f.community(n.Community)
	if child(f.root, "partner") != nil {
		f.name64(n.Partner, "partner")
	}
	f.sources(n.Sources)
}

func (f *file) community(places []Place) {
	for i, p := range places {
		if !slices.Contains(PlaceKinds, p.Kind) {
			f.report(f.at("community", i, "kind"), "community: kind %q is not one of %s", p.Kind,
				strings.Join(PlaceKinds, ", "))
		}
		if strings.TrimSpace(p.Title) == "" {
			f.report(f.at("community", i, "title"), "community: a place has no title")
		}
		if err := webaddress.Check(p.URL); err != nil {
			f.report(f.at("community", i, "url"), "community: %v", err)
		}
	}
}

func (f *file) name64(name string, path ...any) {
	label := path[len(path)-1]
	switch {
	case name == "":
		f.report(f.at(path...), "%v: missing", label)
	case len(name) > maxName || !nameForm.MatchString(name):
		f.report(f.at(path...), "%v: %q must be at most %d lower-case letters, digits and single hyphens", label, name,
			maxName)
	}
}

func (f *file) proposals(p Proposals) {
	switch {
	case !prefixForm.MatchString(p.Prefix):
		f.report(f.at("proposals", "prefix"), "proposals.prefix: %q must be a letter and up to 15 letters and digits",
			p.Prefix)
	case strings.EqualFold(p.Prefix, draftPrefix):
		f.report(f.at("proposals", "prefix"), "proposals.prefix: %s begins the ids of drafts; choose another", p.Prefix)
	}
	if at := child(f.at("proposals"), "digits"); at != nil && (p.Digits < 1 || p.Digits > MaxDigits) {
		f.report(at, "proposals.digits: %d must be 1 (no padding) to %d", p.Digits, MaxDigits)
	}
	if len(p.Statuses) == 0 {
		f.report(f.at("proposals", "statuses"), "proposals.statuses: at least one status is needed")
	}
	f.statuses(p)
	f.statusMap(p)
	f.decided(p)
	if _, ok := p.meaning(p.Default); !ok {
		f.report(f.at("proposals", "default"), "proposals.default: %q is neither one of %s nor a word of status_map",
			p.Default, six())
	}
}

func (f *file) statuses(p Proposals) {
	seen := map[string]bool{}
	for i, s := range p.Statuses {
		at, folded := f.at("proposals", "statuses", i), fold(s)
		_, known := p.meaning(s)
		switch {
		case folded == "" || s != strings.TrimSpace(s):
			f.report(at, "proposals.statuses: %q is blank or has space around it", s)
		case seen[folded]:
			f.report(at, "proposals.statuses: %q appears twice", s)
		case !known:
			f.report(at, "proposals.statuses: %q has no meaning; map it in proposals.status_map to one of %s",
				s, six())
		}
		seen[folded] = true
	}
}

func (f *file) statusMap(p Proposals) {
	seen := map[string]string{}
	for _, raw := range slices.Sorted(maps.Keys(p.StatusMap)) {
		at, target := f.at("proposals", "status_map", raw), p.StatusMap[raw]
		if !slices.Contains(Statuses, target) {
			f.report(at, "proposals.status_map: %q maps to %q, which is not one of %s", raw, target, six())
		}
		folded := fold(raw)
		if folded == "" {
			f.report(at, "proposals.status_map: a blank word cannot be mapped; it is the default")
		}
		if status, ok := status(folded); ok && status != target {
			f.report(at, "proposals.status_map: %q is itself a status and cannot mean %q", raw, target)
		}
		if other, ok := seen[folded]; ok {
			f.report(at, "proposals.status_map: %q and %q are the same word", other, raw)
		}
		seen[folded] = raw
	}
}

func (f *file) decided(p Proposals) {
	if at := child(f.at("proposals"), "decided"); at != nil && len(p.Decided) == 0 {
		f.report(at, "proposals.decided: at least one status is needed; without the key, those that mean Final decide")
	}
	seen := map[string]bool{}
	for i, word := range p.Decided {
		at, folded := f.at("proposals", "decided", i), fold(word)
		if _, known := p.meaning(word); !known {
			f.report(at, "proposals.decided: %s", nearest.Unknown("status", word, p.spellings()))
		}
		if seen[folded] {
			f.report(at, "proposals.decided: %q appears twice", word)
		}
		seen[folded] = true
	}
}

// six names the statuses in messages.
func six() string { return strings.Join(Statuses, ", ") }

func (f *file) sources(sources []Source) {
	if len(sources) == 0 {
		f.report(f.at("sources"), "sources: at least one source is needed")
	}
	first := map[string]int{}
	for i, s := range sources {
		f.name64(s.Name, "sources", i, "name")
		f.name64(s.Kind, "sources", i, "kind")
		if s.Name == derivedName {
			f.report(f.at("sources", i, "name"), "source %q: the name is reserved for derived records; choose another",
				s.Name)
		}
		if line, ok := first[s.Name]; ok && s.Name != "" {
			f.report(f.at("sources", i, "name"), "source %q is already defined in line %d", s.Name, line)
			continue
		}
		first[s.Name] = f.at("sources", i, "name").Line
	}
}

// at finds the node of a path of keys and indexes, or its closest existing
// ancestor.
func (f *file) at(path ...any) *yaml.Node {
	node := f.root
	for _, step := range path {
		next := child(node, step)
		if next == nil {
			break
		}
		node = next
	}
	return node
}

func child(n *yaml.Node, step any) *yaml.Node {
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// Schema returns the JSON Schema of a network file, generated from Network, for
// editors and other tools. kinds are the schemas of the options of each
// kind of source. The schema accepts every file that Parse and the connectors
// accept; they also check what a schema cannot express (unique names, status
// targets).
func Schema(kinds map[string]*jsonschema.Schema) ([]byte, error) {
	s, err := jsonschema.For[Network](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Duration](): {Type: "string", Pattern: options.DurationPattern},
		reflect.TypeFor[options.Node]():  {Type: "object", AdditionalProperties: &jsonschema.Schema{}},
	}})
	if err != nil {
		return nil, fmt.Errorf("network: schema: %w", err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "almanac network file"
	s.Properties["name"].Pattern = namePattern
	s.Properties["partner"].Pattern = namePattern
	place := s.Properties["community"].Items.Properties["kind"]
	for _, kind := range PlaceKinds {
		place.Enum = append(place.Enum, kind)
	}
	s.Properties["proposals"].Properties["prefix"].Pattern = prefixPattern
	for _, role := range s.Properties["toolchain"].Properties {
		role.Pattern = publishedPattern
	}
	digits := s.Properties["proposals"].Properties["digits"]
	digits.Minimum, digits.Maximum = new(1.0), new(float64(MaxDigits))
	source := s.Properties["sources"].Items
	source.Properties["name"].Pattern = namePattern
	statuses := s.Properties["proposals"].Properties["status_map"].AdditionalProperties
	for _, status := range Statuses {
		statuses.Enum = append(statuses.Enum, status)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		source.Properties["kind"].Enum = append(source.Properties["kind"].Enum, kind)
		source.AllOf = append(source.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"kind": {Const: new(any(kind))}}},
			Then: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"options": kinds[kind]}},
		})
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("network: schema: %w", err)
	}
	return append(out, '\n'), nil
}

// Statuses are the statuses that a proposal of any network can have. The
// network maps its own words to them.
var Statuses = []string{"Draft", "Review", "Final", "Withdrawn", "Rejected", "Superseded"}

// Status maps a raw status word to one of Statuses, ignoring case and
// surrounding space. An unknown word gets the meaning of Default, and known is
// false so that the caller can warn.
func (p Proposals) Status(raw string) (mapped string, known bool) {
	if status, ok := p.meaning(raw); ok {
		return status, true
	}
	status, _ := p.meaning(p.Default)
	return status, false
}

// meaning returns the status that a word means.
func (p Proposals) meaning(word string) (string, bool) {
	word = fold(word)
	if status, ok := status(word); ok {
		return status, true
	}
	for from, target := range p.StatusMap {
		if fold(from) == word {
			return status(target)
		}
	}
	return "", false
}

// status returns the one of Statuses that equals a word, case-insensitively.
func status(word string) (string, bool) {
	for _, s := range Statuses {
		if strings.EqualFold(s, word) {
			return s, true
		}
	}
	return "", false
}

// IsDecided reports whether a proposal is decided that has one of the package's
// Statuses, and a word of the network for it; "" = none is known.
func (p Proposals) IsDecided(status, word string) bool {
	if len(p.Decided) == 0 {
		return status == "Final"
	}
	word = fold(cmp.Or(word, status))
	return slices.ContainsFunc(p.Decided, func(decided string) bool { return fold(decided) == word })
}

// Words returns the words that a status filter accepts: Statuses, then the
// network's own words in the order of its file.
func (p Proposals) Words() []string {
	words := slices.Clone(Statuses)
	for _, word := range p.Statuses {
		if _, ok := status(word); !ok {
			words = append(words, word)
		}
	}
	return words
}

// spellings are all words that have a meaning: Words, then those that only the
// status map has.
func (p Proposals) spellings() []string {
	words := p.Words()
	for _, word := range slices.Sorted(maps.Keys(p.StatusMap)) {
		if !slices.ContainsFunc(words, func(other string) bool { return fold(other) == fold(word) }) {
			words = append(words, word)
		}
	}
	return words
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
