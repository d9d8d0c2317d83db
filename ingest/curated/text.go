package curated

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"almanac/catalog"
	"almanac/text/dates"
	"almanac/text/webaddress"
)

// slug returns the slug of an entry: the given one, or one made from its title.
func slug(given, title string) (string, error) {
	if given != "" {
		return given, nil
	}
	made := webaddress.Slug(title)
	if made == "" {
		return "", errors.New("no slug can be made from its title; add one")
	}
	if len(made) > maxSlug {
		made = strings.Trim(made[:maxSlug], "-")
	}
	return made, nil
}

const maxSlug = 80 // bytes of a slug made from a title

// paragraphs joins the parts of a text that are not empty.
func paragraphs(parts ...string) string { return joined("\n\n", parts) }

func joined(between string, parts []string) string {
	parts = each(parts, strings.TrimSpace)
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), between)
}

// each returns what a function makes of the items of a list.
func each[T any](list []T, text func(T) string) []string {
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = text(item)
	}
	return out
}

// line returns a field as text; "" for an empty one.
func line(label string, values ...string) string {
	text := strings.Join(values, ", ")
	if text == "" {
		return ""
	}
	return label + ": " + text + "."
}

// lines joins the results of line.
func lines(list ...string) string { return joined("\n", list) }

// section is a heading with the items below it; "" without any.
func section(heading string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "## " + heading + "\n\n- " + strings.Join(items, "\n- ")
}

// code puts an example in a code fence.
func code(heading, example string) string {
	if example == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(example, fence) {
		fence += "`"
	}
	return "## " + heading + "\n\n" + fence + "\n" + strings.TrimRight(example, "\n") + "\n" + fence
}

// factLine returns a fact as a list item.
func factLine(f catalog.Fact) string {
	text := strings.ReplaceAll(f.Key, "_", " ") + " (" + f.Category + "): " + f.Value
	if f.AsOf != "" {
		text += ", as of " + f.AsOf
	}
	return text
}

func linkLine(l catalog.NamedLink) string { return "[" + l.Title + "](" + l.URL + ")" }

func endpointLine(e catalog.Endpoint) string {
	return strings.TrimSpace(e.Method+" "+"`"+e.Path+"`") + described(e.Description)
}

func described(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// deadline reads a deadline: a time, or the last second of a day; zero for
// words.
func deadline(s string) time.Time {
	at, shape := dates.Parse(s, dates.Day|dates.Instant)
	if shape == dates.Day {
		at = at.AddDate(0, 0, 1).Add(-time.Second)
	}
	return at
}

// spellings returns the aliases of a name: itself and its lower-case form.
func spellings(list ...string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && !strings.ContainsFunc(s, unicode.IsControl) {
			out = append(out, s, strings.ToLower(s))
		}
	}
	return out
}
