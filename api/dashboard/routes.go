package dashboard

import (
	"html/template"
	"maps"
	"net/http"
)

// routes are the addresses by their patterns. Each section has a file of its
// own with a function that returns its part.
func (h *Handler) routes() map[string]answer {
	all := map[string]answer{
		"GET /{$}": func(*http.Request) (reply, error) { return reply{Goto: "/lab"}, nil },
	}
	for _, section := range []map[string]answer{} {
		maps.Copy(all, section)
	}
	return all
}

// funcs are what the templates may call besides those of package look.
func (h *Handler) funcs() template.FuncMap {
	return template.FuncMap{}
}
