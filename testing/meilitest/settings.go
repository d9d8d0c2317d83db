package meilitest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// defaults are the settings of a new index.
func defaults() map[string]any {
	return map[string]any{
		"rankingRules":         []any{"words", "typo", "proximity", "attribute", "sort", "exactness"},
		"searchableAttributes": []any{"*"},
		"displayedAttributes":  []any{"*"},
		"filterableAttributes": []any{},
		"sortableAttributes":   []any{},
		"stopWords":            []any{},
		"synonyms":             map[string]any{},
		"typoTolerance":        map[string]any{"enabled": true},
		"proximityPrecision":   "byWord",
		"facetSearch":          true,
		"distinctAttribute":    nil,
		"dictionary":           []any{},
		"separatorTokens":      []any{},
		"nonSeparatorTokens":   []any{},
		"prefixSearch":         "indexingTime",
	}
}

// patch sets several settings; the others stay.
func (s *Server) patch(r *http.Request, body []byte) error {
	x, err := s.find(r.PathValue("uid"))
	if err != nil {
		return err
	}
	return json.Unmarshal(body, &x.settings)
}

// put sets one setting.
func (s *Server) put(r *http.Request, body []byte) error {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return s.set(r, value)
}

func (s *Server) set(r *http.Request, value any) error {
	x, err := s.find(r.PathValue("uid"))
	if err == nil {
		x.settings[settingName(r)] = value
	}
	return err
}

// settingName returns the name of a setting by its part of the path ("stop-words").
func settingName(r *http.Request) string {
	words := strings.Split(r.PathValue("name"), "-")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:min(1, len(w))]) + w[min(1, len(w)):]
	}
	return strings.Join(words, "")
}

// words returns a setting that is a list.
func (x *index) words(setting string) []string {
	list, _ := x.settings[setting].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// lists reports whether a setting lists an attribute, or all.
func (x *index) lists(setting, attribute string) bool {
	list, _ := x.settings[setting].([]any)
	return slices.Contains(list, any(attribute)) || slices.Contains(list, any("*"))
}

// shown returns a document as in responses: of the displayed attributes those
// that are requested, nil for all.
func (x *index) shown(d document, asked []string) document {
	out := document{}
	for name, value := range d {
		if x.lists("displayedAttributes", name) && (asked == nil || slices.Contains(asked, name)) {
			out[name] = value
		}
	}
	return out
}
