package api_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
)

// operations are all of them; none is run.
func operations() []op.Operation {
	return api.Operations(kb.Base{Network: network.Network{Proposals: network.Proposals{Prefix: "CIP"}}})
}

func TestTools(t *testing.T) {
	groups := []string{"cips", "devfund", "operations", "search", "library", "ecosystem", "community",
		"onboarding", "releases"}
	ids, names := map[string]bool{}, map[string]bool{}
	sentenceEnd := regexp.MustCompile(`[.!?]( |$)`)
	for _, o := range operations() {
		if ids[o.ID] {
			t.Errorf("%s: the id is taken", o.ID)
		}
		ids[o.ID] = true
		if o.Summary == "" || strings.Contains(o.Summary, "\n") {
			t.Errorf("%s: summary %q", o.ID, o.Summary)
		}
		for _, p := range o.Params {
			if p.Doc == "" {
				t.Errorf("%s: %s is not documented", o.ID, p.Name)
			}
		}
		if o.Tool == "" {
			continue
		}
		if names[o.Tool] {
			t.Errorf("%s: the name is taken", o.Tool)
		}
		names[o.Tool] = true
		if n := len(sentenceEnd.FindAllString(o.Text(), -1)); n < 1 || n > 2 || !strings.HasSuffix(o.Text(), ".") {
			t.Errorf("%s: %d sentences: %s", o.Tool, n, o.Text())
		}
		if o.Title == "" || !slices.Contains(groups, o.Group) {
			t.Errorf("%s: title %q, group %q", o.Tool, o.Title, o.Group)
		}
	}
	for tool, group := range map[string]string{"search_release_notes": "search", "get_network_stats": "operations",
		"get_doc": "library", "get_recent_changes": "community", "get_proposals": "devfund"} {
		if i := slices.IndexFunc(operations(), func(o op.Operation) bool { return o.Tool == tool }); i < 0 ||
			operations()[i].Group != group {
			t.Errorf("%s is not in group %s", tool, group)
		}
	}
}

// maxList is what all tools of the default set may take of a model's context,
// in bytes of JSON.
const maxList = 50_000

// TestTheListOfToolsIsShort holds and prints the size of tools/list, in all and
// by what takes it.
func TestTheListOfToolsIsShort(t *testing.T) {
	l := open(t)
	body := do(l.public, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Body.Bytes()
	var list struct {
		Result struct{ Tools []map[string]json.RawMessage }
	}
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	members := map[string]int{}
	largest, name := 0, ""
	for _, tool := range list.Result.Tools {
		size := 0
		for member, raw := range tool {
			members[member] += len(raw)
			size += len(raw)
		}
		if size > largest {
			largest, name = size, string(tool["name"])
		}
	}
	n := max(1, len(list.Result.Tools))
	t.Logf("%d tools in %d bytes, %d each; the largest is %s with %d; %v", n, len(body), len(body)/n, name, largest,
		members)
	if len(body) > maxList {
		t.Errorf("tools/list has %d bytes, more than %d", len(body), maxList)
	}
}

// parameter is what clients rely on of one parameter or argument.
type parameter struct {
	Type         string // as JSON Schema has it; "enum" is a string with values
	Required     bool
	Minimum, Max float64 // 0 = none
	Default      string  // "" = none
	Values       string  // of an enumeration, joined by commas
}

func parameterOf(s *jsonschema.Schema, required bool) parameter {
	p := parameter{Type: s.Type, Required: required, Default: strings.Trim(string(s.Default), `"`)}
	if slices.Contains(s.Types, "integer") { // an id, which may also name a section
		p.Type = "integer"
	}
	item := s
	if s.Items != nil {
		item = s.Items
	}
	if s.Minimum != nil {
		p.Minimum = *s.Minimum
	}
	if s.Maximum != nil {
		p.Max = *s.Maximum
	}
	var values []string
	for _, v := range item.Enum {
		values = append(values, v.(string))
	}
	p.Values = strings.Join(values, ",")
	return p
}

// enumerations by the words that documents name them with.
var enumerations = map[string]string{
	"Search type": strings.Join(arg.SearchTypes, ","),
	"status":      "Draft,Review,Final,Withdrawn,Rejected,Superseded",
	"kind":        kindNames(),
	"level":       "all,critical,important,ecosystem",
	"category":    "cli,package,tool,api,workflow",
	"background":  "EVM,Solana,Sui/Move,Web,Enterprise,New to Blockchain",
}

func kindNames() string {
	var names []string
	for _, k := range catalog.Kinds {
		names = append(names, string(k.Kind))
	}
	return strings.Join(names, ",")
}

// TestToolArguments compares the arguments of the tools with the shared table
// that clients of such services already send.
func TestToolArguments(t *testing.T) {
	shared := os.Getenv("ALMANAC_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	table, err := os.ReadFile(filepath.Join(shared, "tool-arguments.md"))
	if err != nil {
		t.Skipf("needs tool-arguments.md beside the repository or in ALMANAC_SHARED: %v", err)
	}
	rows := map[string]map[string]parameter{}
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, "|")
		if name := ""; len(cells) == 4 {
			if name = strings.TrimSpace(cells[1]); name != "tool" && !strings.HasPrefix(name, "-") {
				rows[name] = argumentsOf(cells[2])
			}
		}
	}
	for _, o := range operations() {
		if o.Tool == "" || o.Extra {
			continue
		}
		got := map[string]parameter{}
		for name, s := range o.ToolIn.Properties {
			ours := slices.Contains([]string{"cursor", "fields", "limit"}, name) // of long texts, and of lists
			if !ours || rows[o.Tool][name].Type != "" {
				got[name] = parameterOf(s, slices.Contains(o.ToolIn.Required, name))
			}
		}
		if diff := cmp.Diff(rows[o.Tool], got); diff != "" {
			t.Errorf("%s (-table +ours):\n%s", o.Tool, diff)
		}
	}
}

var (
	remark  = regexp.MustCompile(`\([^)]*\)`)
	limits  = regexp.MustCompile(`(\d+)\.\.(\d+)`)
	preset  = regexp.MustCompile(`= *(\S+)`)
	ofTypes = map[string]string{"int": "integer", "string": "string", "bool": "boolean", "array": "array",
		"enum": "string", "date": "string", "object": "object"}
)

// argumentsOf reads a cell such as "query* string; limit int 1..50 = 10; offset".
func argumentsOf(cell string) map[string]parameter {
	out := map[string]parameter{}
	for part := range strings.SplitSeq(remark.ReplaceAllString(cell, ""), ";") {
		words := strings.Fields(part)
		if len(words) == 0 || words[0] == "none" {
			continue
		}
		name, required := strings.CutSuffix(words[0], "*")
		p := parameter{Required: required}
		if name == "offset" {
			p.Type, p.Default = "integer", "0"
		}
		if len(words) > 1 {
			p.Type = ofTypes[strings.Trim(words[1], ",")]
		}
		if m := limits.FindStringSubmatch(part); m != nil {
			p.Minimum, p.Max = number(m[1]), number(m[2])
		}
		if m := preset.FindStringSubmatch(part); m != nil {
			p.Default = m[1]
		}
		switch {
		case strings.Contains(part, "Search type"):
			p.Values = enumerations["Search type"]
		case len(words) > 2 && words[1] == "enum" && words[2] != "=":
			p.Values = words[2]
		case len(words) > 1 && words[1] == "enum":
			p.Values = enumerations[name]
		}
		out[name] = p
	}
	return out
}

func number(s string) float64 {
	var n float64
	_ = json.Unmarshal([]byte(s), &n)
	return n
}
