package curated

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/text/dates"
	"almanac/text/nearest"
)

type radar struct {
	Slug      string   `json:"slug,omitempty" format:"slug" jsonschema:"its key; default from the title"`
	Title     string   `json:"title"`
	Level     string   `json:"level" enum:"critical|important|ecosystem"`
	Text      string   `json:"text" jsonschema:"what happens and who is affected, in Markdown"`
	Affected  []string `json:"affected" jsonschema:"components"`
	Action    string   `json:"action,omitempty" jsonschema:"what to do"`
	Deadline  string   `json:"deadline,omitempty" jsonschema:"a date, a time in RFC 3339 format, or words"`
	Announced string   `json:"announced,omitempty" format:"date"`
	Versions  []string `json:"versions"`
	Tags      []string `json:"tags"`
	URL       string   `json:"url,omitempty" jsonschema:"where it is announced"`
}

func readRadar(_ *reader, v radar) (catalog.Entry, error) {
	return catalog.Record{
		Kind: catalog.KindRadar, Key: v.Slug, Title: v.Title, URL: v.URL, Category: v.Level,
		CreatedAt: dates.At(v.Announced, dates.Day),
		EndsAt:    deadline(v.Deadline), Tags: catalog.Tags(catalog.TagLabel, v.Tags...),
		Body: paragraphs(v.Text, lines(line("What to do", strings.TrimSuffix(v.Action, ".")),
			line("Deadline", v.Deadline),
			line("Affected", v.Affected...), line("Versions", v.Versions...))),
	}.With(catalog.Radar{Affected: v.Affected, Action: v.Action, Deadline: v.Deadline, Versions: v.Versions})
}

type deprecation struct {
	Slug        string   `json:"slug,omitempty" format:"slug" jsonschema:"its key; default from the name"`
	Name        string   `json:"name" jsonschema:"of the item, as people write it"`
	Category    string   `json:"category" enum:"cli|package|tool|api|workflow|other"`
	State       string   `json:"state,omitempty" enum:"deprecated|current" jsonschema:"default deprecated"`
	Replacement string   `json:"replacement,omitempty"`
	Since       string   `json:"since,omitempty" jsonschema:"version"`
	Removed     string   `json:"removed,omitempty" jsonschema:"version in which it is gone"`
	Install     string   `json:"install,omitempty" jsonschema:"how to install the replacement"`
	Note        string   `json:"note,omitempty"`
	Aliases     []string `json:"aliases" jsonschema:"other names of the item"`
	Patterns    []string `json:"patterns" jsonschema:"spellings that betray its use in text; default the name"`
	URL         string   `json:"url,omitempty"`
	Tags        []string `json:"tags"`
}

func readDeprecation(_ *reader, d deprecation) (catalog.Entry, error) {
	state := cmp.Or(d.State, catalog.ItemDeprecated)
	if state == catalog.ItemCurrent && (d.Replacement != "" || d.Removed != "") {
		return catalog.Entry{}, errors.New("state: is current, but the item is replaced or removed")
	}
	patterns := d.Patterns
	if len(patterns) == 0 && state == catalog.ItemDeprecated {
		patterns = []string{d.Name}
	}
	sentence := "`" + d.Name + "` is current."
	if state == catalog.ItemDeprecated {
		sentence = "`" + d.Name + "` is deprecated."
		if d.Since != "" {
			sentence = "`" + d.Name + "` is deprecated since " + d.Since + "."
		}
	}
	e, err := catalog.Record{
		Kind: catalog.KindDeprecation, Key: d.Slug, Title: d.Name, URL: d.URL, State: state, Category: d.Category,
		Summary: d.Note, Tags: catalog.Tags(catalog.TagLabel, d.Tags...),
		Body: paragraphs(sentence, d.Note, lines(line("Use instead", d.Replacement), line("Removed in", d.Removed)),
			code("Install", d.Install)),
	}.With(catalog.Deprecation{
		Replacement: d.Replacement, Since: d.Since, Removed: d.Removed, Install: d.Install, Patterns: patterns,
	})
	e.Aliases = spellings(append(d.Aliases, d.Name)...)
	return e, err
}

type question struct {
	Slug     string              `json:"slug,omitempty" format:"slug" jsonschema:"its key; default from the question"`
	Question string              `json:"question"`
	Answer   string              `json:"answer" jsonschema:"in Markdown"`
	Category string              `json:"category,omitempty"`
	Order    int                 `json:"order,omitempty" jsonschema:"position in lists, from 1"`
	Tags     []string            `json:"tags"`
	Related  []catalog.NamedLink `json:"related"`
	URL      string              `json:"url,omitempty"`
}

func readQuestion(_ *reader, q question) (catalog.Entry, error) {
	return catalog.Record{
		Kind: catalog.KindFAQ, Key: q.Slug, Title: q.Question, URL: q.URL, Category: q.Category,
		Tags: catalog.Tags(catalog.TagLabel, q.Tags...), Body: q.Answer,
	}.With(catalog.FAQ{Order: q.Order, Related: q.Related})
}

type mapping struct {
	Slug        string              `json:"slug,omitempty" format:"slug" jsonschema:"its key; default from the concept"`
	Concept     string              `json:"concept" jsonschema:"its name on EVM chains"`
	Equivalent  string              `json:"equivalent" jsonschema:"what replaces it"`
	Text        string              `json:"text" jsonschema:"the explanation, in Markdown"`
	Differences []string            `json:"differences" jsonschema:"where habits mislead"`
	EVMExample  string              `json:"evm_example,omitempty" jsonschema:"code"`
	Example     string              `json:"example,omitempty" jsonschema:"code that does the same here"`
	Aliases     []string            `json:"aliases" jsonschema:"other words for the concept"`
	Category    string              `json:"category,omitempty"`
	Related     []catalog.NamedLink `json:"related"`
	URL         string              `json:"url,omitempty"`
}

func readMapping(_ *reader, m mapping) (catalog.Entry, error) {
	e, err := catalog.Record{
		Kind: catalog.KindEVMMapping, Key: m.Slug, Title: m.Concept, URL: m.URL, Category: m.Category,
		Summary: m.Equivalent,
		Body: paragraphs(
			lines(line("Equivalent", strings.TrimSuffix(m.Equivalent, ".")), line("Also called", m.Aliases...)),
			m.Text, section("Differences", m.Differences), code("EVM", m.EVMExample), code("Here", m.Example)),
	}.With(catalog.EVMMapping{
		Equivalent: m.Equivalent, Differences: m.Differences, EVMExample: m.EVMExample, Example: m.Example,
		Related: m.Related,
	})
	e.Aliases = spellings(append(m.Aliases, m.Concept)...)
	return e, err
}

type api struct {
	Slug        string              `json:"slug" format:"slug" jsonschema:"its key, such as json-ledger-api"`
	Title       string              `json:"title"`
	Description string              `json:"description" jsonschema:"what it is for, in one or two sentences"`
	Protocol    string              `json:"protocol,omitempty" enum:"http|grpc|library"`
	Version     string              `json:"version,omitempty"`
	Auth        string              `json:"auth,omitempty" jsonschema:"how callers identify themselves"`
	Ports       []catalog.Port      `json:"ports"`
	Endpoints   []catalog.Endpoint  `json:"endpoints"`
	Services    []catalog.Service   `json:"services"`
	Links       []catalog.NamedLink `json:"links"`
	Aliases     []string            `json:"aliases" jsonschema:"other names of it"`
	URL         string              `json:"url,omitempty" jsonschema:"its documentation"`
	Text        string              `json:"text,omitempty" jsonschema:"more about it, in Markdown"`
}

const maxPort = 65535

func readAPI(_ *reader, a api) (catalog.Entry, error) {
	for _, p := range a.Ports {
		if p.Number < 1 || p.Number > maxPort {
			return catalog.Entry{}, fmt.Errorf("ports: %d is not a port; want 1 to %d", p.Number, maxPort)
		}
	}
	port := func(p catalog.Port) string { return strconv.Itoa(p.Number) + described(p.Purpose) }
	service := func(s catalog.Service) string {
		text := "`" + s.Name + "`" + described(s.Description)
		if len(s.Methods) > 0 {
			text += " (" + strings.Join(s.Methods, ", ") + ")"
		}
		return text
	}
	e, err := catalog.Record{
		Kind: catalog.KindAPIReference, Key: a.Slug, Title: a.Title, URL: a.URL, Category: a.Protocol,
		Summary: a.Description,
		Body: paragraphs(a.Description, a.Text, line("Authentication", strings.TrimSuffix(a.Auth, ".")),
			section("Ports", each(a.Ports, port)), section("Services", each(a.Services, service)),
			section("Endpoints", each(a.Endpoints, endpointLine)), section("Links", each(a.Links, linkLine))),
	}.With(catalog.APIReference{
		Protocol: a.Protocol, Version: a.Version, Auth: a.Auth, Ports: a.Ports, Endpoints: a.Endpoints,
		Services: a.Services, Links: a.Links,
	})
	e.Aliases = spellings(append(a.Aliases, a.Title)...)
	return e, err
}

type learningPath struct {
	Slug       string         `json:"slug,omitempty" format:"slug" jsonschema:"its key; default from the background"`
	Background string         `json:"background" enum:"EVM|Solana|Sui/Move|Web|Enterprise|New to Blockchain"`
	Text       string         `json:"text" jsonschema:"the introduction, in Markdown"`
	Steps      []catalog.Step `json:"steps" jsonschema:"each may link to a record (kind and key) or an address"`
	URL        string         `json:"url,omitempty"`
}

func readPath(_ *reader, p learningPath) (catalog.Entry, error) {
	if len(p.Steps) == 0 {
		return catalog.Entry{}, errors.New("has no steps")
	}
	e, err := catalog.Record{
		Kind: catalog.KindOnboarding, Key: p.Slug, Title: p.Background, URL: p.URL, Body: paragraphs(p.Text,
			section("Steps", each(p.Steps, func(s catalog.Step) string { return s.Title + described(s.Text) }))),
	}.With(catalog.Onboarding{Steps: p.Steps})
	for i, s := range p.Steps {
		if err := checkStep(s); err != nil {
			return catalog.Entry{}, fmt.Errorf("steps[%d]: %w", i+1, err)
		}
		if s.Key != "" {
			e.Links = append(e.Links, reference(s.Kind, s.Key))
		}
	}
	return e, err
}

// checkStep validates the target of a step.
func checkStep(s catalog.Step) error {
	if (s.Kind == "") != (s.Key == "") {
		return errors.New("want both kind and key; they name the record to read")
	}
	if _, ok := catalog.InfoOf(s.Kind); s.Kind == "" || ok {
		return nil
	}
	var known []string
	for _, info := range catalog.Kinds {
		known = append(known, string(info.Kind))
	}
	return errors.New("kind: " + nearest.Unknown("kind", string(s.Kind), known))
}
