package web

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"almanac/api/op"
	"almanac/api/server"
	"almanac/api/tally"
)

// client is a program that uses tools, and how it is told of this server.
type client struct {
	Name  string
	Where string // the paste goes there
	Paste string
	Add   template.URL // that opens the program and has it ask whether to add the server; "" = none
}

// connection is what the page about clients shows.
type connection struct {
	MCP, OpenAPI, Search string // addresses
	Clients              []client
	Generators           []client
	Box                  string // the element that puts the search box on a page
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// prepareConnect makes the connections from the service's own address. What the clients
// read is from their documentation, as of 2026.
func prepareConnect(h *Handler, v *view) error {
	mcp := h.site.Absolute("/mcp")
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(h.cfg.Name), "-"), "-")
	typed, plain := map[string]string{"type": "http", "url": mcp}, map[string]string{"url": mcp}
	in := func(list string, server any) string {
		return written(map[string]any{list: map[string]any{name: server}}, "  ")
	}
	code := written(struct {
		Name string `json:"name"`
		Type string `json:"type"`
		URL  string `json:"url"`
	}{name, "http", mcp}, "")
	openAPI := h.site.Absolute("/api/v1/openapi.json")
	v.Extra = connection{
		MCP: mcp, OpenAPI: openAPI,
		Search: op.Shell("curl", h.site.Absolute("/api/v1/search?q=upgrade&limit=3")),
		Box:    `<script src="` + h.site.Absolute("/search-box.js") + `" defer></script>`,
		Clients: []client{
			{"VS Code", ".vscode/mcp.json", in("servers", typed),
				template.URL("vscode:mcp/install?" + url.PathEscape(code))},
			{"Cursor", "~/.cursor/mcp.json", in("mcpServers", plain),
				template.URL("cursor://anysphere.cursor-deeplink/mcp/install?" + url.Values{"name": {name},
					"config": {base64.StdEncoding.EncodeToString([]byte(written(plain, "")))}}.Encode())},
			{"Claude Code", "a terminal", op.Shell("claude", "mcp", "add", "--transport", "http", name, mcp), ""},
			{"Claude Desktop", "claude_desktop_config.json (Settings, Developer, Edit config); or without a file " +
				"the address alone, under Settings, Connectors, Add custom connector", in("mcpServers",
				map[string]any{"command": "npx", "args": []string{"-y", "mcp-remote", mcp}}), ""},
			{"Windsurf", "~/.codeium/windsurf/mcp_config.json",
				in("mcpServers", map[string]string{"serverUrl": mcp}), ""},
			{"Zed", "settings.json", in("context_servers", plain), ""},
			{"Codex", "a terminal", op.Shell("codex", "mcp", "add", name, "--url", mcp), ""},
		},
		Generators: []client{
			{Name: "TypeScript", Paste: op.Shell("npx", "openapi-typescript", openAPI, "-o", "api.d.ts")},
			{Name: "Python", Paste: op.Shell("openapi-python-client", "generate", "--url", openAPI)},
			{Name: "Go", Paste: op.Shell("curl", "-o", "openapi.json", openAPI) + "\n" +
				op.Shell("oapi-codegen", "-generate", "types,client", "-package", "api", "-o", "api.go", "openapi.json")},
		},
	}
	return nil
}

// written writes a value as JSON in which < and & stand as they are.
func written(v any, indent string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	_ = e.Encode(v) // maps and texts always encode
	return strings.TrimSpace(b.String())
}

// toConnect leads a person who opens the address of the tools to the page about it.
func (h *Handler) toConnect(*http.Request) (*server.Answer, error) {
	return &server.Answer{Status: http.StatusSeeOther, Goto: h.site.At("/connect")}, nil
}

//go:embed box/search-box.js
var searchBox []byte

func (h *Handler) searchBox(*http.Request) (*server.Answer, error) {
	return &server.Answer{Type: "text/javascript; charset=utf-8", Body: searchBox, Keep: server.Revalidate, Weak: true}, nil
}

// suggest answers browsers and the search box of other sites with suggestions, in the
// form of OpenSearch: the query, titles, what they are, addresses.
func (h *Handler) suggest(r *http.Request) (*server.Answer, error) {
	v := &view{Params: r.URL.Query(), ctx: tally.Uncounted(r.Context())}
	if err := h.cfg.Await(v.ctx, 0); err != nil {
		return nil, err
	}
	if err := prepareLive(h, v); err != nil {
		return nil, err
	}
	s := v.Extra.(*liveView)
	titles, about, addresses := []string{}, []string{}, []string{}
	add := func(title, what, address string) {
		titles, about, addresses = append(titles, title), append(about, what), append(addresses, address)
	}
	if s.Jump.Link != "" {
		add(s.Jump.Key+" "+s.Jump.Title, s.Jump.Status, h.site.Absolute(s.Jump.Link))
	}
	for _, x := range s.Hits {
		what := kinds[x.Kind].One
		if x.Container != "" {
			what += " · " + x.Container
		}
		add(x.Title, what, x.Link())
	}
	body := []byte(written([]any{s.Query, titles, about, addresses}, ""))
	return &server.Answer{Type: "application/x-suggestions+json; charset=utf-8", Body: body, Keep: server.Revalidate}, nil
}
