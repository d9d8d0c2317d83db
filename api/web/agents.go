package web

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"almanac/api/server"
	"almanac/skills"
	"almanac/text/prose"
)

// card describes the tools' server to programs that know only its host: a server card of
// the Model Context Protocol (SEP-2127, schema version 1).
type card struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"` // reverse DNS, a slash, the server
	Version     string   `json:"version"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Website     string   `json:"websiteUrl"`
	Remotes     []remote `json:"remotes"`
}

type remote struct {
	Type     string   `json:"type"`
	URL      string   `json:"url"`
	Versions []string `json:"supportedProtocolVersions"`
}

// cardPaths are where programs look for the card: where the proposal has it, then where
// they looked before.
var cardPaths = []string{"/mcp/server-card", "/.well-known/mcp/server-card.json", "/.well-known/mcp.json",
	"/.well-known/mcp"}

// forAgents are the addresses that tell agents of the tools and how to use them.
func (h *Handler) forAgents(add func(path string, serve func(*http.Request) (*server.Answer, error))) {
	for _, path := range cardPaths {
		add(path, h.card)
	}
	add("/.well-known/ai-catalog.json", h.aiCatalog)
	add("/skill.md", func(*http.Request) (*server.Answer, error) {
		return &server.Answer{Type: "text/markdown; charset=utf-8", Body: skills.Almanac, Keep: server.Revalidate}, nil
	})
}

const (
	cardType   = "application/mcp-server-card+json"
	mostOfCard = 100 // letters of a title and of a description
)

func (h *Handler) card(*http.Request) (*server.Answer, error) {
	about := cmp.Or(h.site.About, "Search and facts about "+h.cfg.Name+", with sources.")
	c := card{Schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
		Name: reversed(h.site.Absolute("/")) + "/almanac", Version: h.cfg.Version, Title: prose.First(h.cfg.Name, mostOfCard),
		Description: prose.First(about, mostOfCard), Website: h.site.Absolute("/connect"),
		Remotes: []remote{{"streamable-http", h.site.Absolute("/mcp"), h.cfg.Protocols}}}
	return &server.Answer{Type: cardType, Body: []byte(written(c, "  ")), Keep: server.Revalidate}, nil
}

// aiCatalog lists the card, as an AI catalog of version 1.0.
func (h *Handler) aiCatalog(*http.Request) (*server.Answer, error) {
	type entry struct {
		Identifier string `json:"identifier"`
		Type       string `json:"type"`
		URL        string `json:"url"`
	}
	body := written(struct {
		Version string  `json:"specVersion"`
		Entries []entry `json:"entries"`
	}{"1.0", []entry{{"urn:air:" + hostOf(h.site.Absolute("/")) + ":mcp:almanac", cardType,
		h.site.Absolute(cardPaths[0])}}}, "  ")
	return &server.Answer{Type: "application/ai-catalog+json", Body: []byte(body), Keep: server.Revalidate}, nil
}

// hostOf is the host of an address, without a port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // the configuration was checked
	}
	return u.Hostname()
}

// reversed is the host of an address as reverse DNS names it: org.example.kb. A number has
// no such name.
func reversed(address string) string {
	host := hostOf(address)
	if net.ParseIP(host) != nil {
		return "localhost"
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}
