package api_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/mcp"
	"almanac/skills"
)

// TestGuidanceNamesToolsThatExist holds it for the prompts and the skill.
func TestGuidanceNamesToolsThatExist(t *testing.T) {
	var tools []string
	for _, o := range api.Operations(kb.Base{}) {
		tools = append(tools, o.Tool)
	}
	texts := map[string]string{"skill": string(skills.Almanac)}
	for _, p := range api.Prompts {
		texts["prompt "+p.Name] = p.Text
		for _, a := range p.Arguments {
			if !strings.Contains(p.Text, "{"+a.Name+"}") {
				t.Errorf("prompt %s does not use its argument %s", p.Name, a.Name)
			}
		}
	}
	called := regexp.MustCompile(`\b(?:search|[a-z]+(?:_[a-z]+)+)\b`)
	fields := []string{"third_party", "next_cursor", "updated_at"}
	for where, text := range texts {
		names := called.FindAllString(text, -1)
		if len(names) == 0 {
			t.Errorf("the %s names no tool", where)
		}
		for _, name := range names {
			if !slices.Contains(tools, name) && !slices.Contains(fields, name) {
				t.Errorf("the %s names %s, which is no tool", where, name)
			}
		}
	}
}

func TestInstructionsSayWhatTheNetworkHas(t *testing.T) {
	l := shoal(t)
	told := api.Instructions(l.base)(t.Context())
	for _, want := range []string{"Knowledge base of Shoal.", "proposals (2), grants (1)", "LIP-NUMBER", "Start with search"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in %s", want, told)
		}
	}
}

// TestAgentsFindTheToolsByTheHost holds that a program that knows only the host is led to
// the tools, by documents in the form of server cards and AI catalogs.
func TestAgentsFindTheToolsByTheHost(t *testing.T) {
	l := shoal(t)
	var catalog struct {
		SpecVersion string
		Entries     []struct{ Identifier, Type, URL string }
	}
	w := visit(l.public, "/.well-known/ai-catalog.json")
	if err := json.Unmarshal(w.Body.Bytes(), &catalog); err != nil || len(catalog.Entries) != 1 {
		t.Fatal(err, w.Body)
	}
	const card = "https://kb.example/mcp/server-card"
	if e := catalog.Entries[0]; e.URL != card || e.Type != "application/mcp-server-card+json" ||
		e.Identifier != "urn:air:kb.example:mcp:almanac" || w.Header().Get("Content-Type") != "application/ai-catalog+json" {
		t.Errorf("%+v, %s", e, w.Header().Get("Content-Type"))
	}
	for _, path := range []string{"/mcp/server-card", "/.well-known/mcp/server-card.json", "/.well-known/mcp.json",
		"/.well-known/mcp"} {
		var c struct {
			Schema                            string `json:"$schema"`
			Name, Version, Title, Description string
			Remotes                           []struct {
				Type, URL string
				Versions  []string `json:"supportedProtocolVersions"`
			}
		}
		w := visit(l.public, path)
		if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil || w.Code != 200 || len(c.Remotes) != 1 {
			t.Fatalf("%s: %v, %d %s", path, err, w.Code, w.Body)
		}
		if c.Schema != "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json" ||
			c.Name != "example.kb/almanac" || c.Title != "Shoal" || c.Version == "" || c.Description == "" ||
			len(c.Description) > 100 || w.Header().Get("Content-Type") != catalog.Entries[0].Type {
			t.Errorf("%s: %+v", path, c)
		}
		if r := c.Remotes[0]; r.Type != "streamable-http" || r.URL != "https://kb.example/mcp" ||
			!slices.Equal(r.Versions, mcp.Versions) {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if skill := visit(l.public, "/skill.md"); skill.Body.String() != string(skills.Almanac) ||
		!strings.HasPrefix(skill.Body.String(), "---\nname: almanac\ndescription: ") {
		t.Error(skill.Body)
	}
}
