package look

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"almanac/catalog/network"
	"almanac/text/dates"
	"almanac/text/webaddress"
)

// funcs are what every template may call.
func (s *Site) funcs() template.FuncMap {
	return template.FuncMap{
		"asset": s.Asset, "href": s.Local, "at": s.At, "absolute": s.Absolute,
		"day": day, "moment": moment, "iso": iso,
		"number": number, "usd": usd, "percent": percent, "bytes": size, "duration": duration,
		"status": s.status, "marked": Marked, "quoted": Quoted, "short": short, "host": host, "words": Words, "plural": plural,
		"plain": Plain, "title": Title,
		"markdown": func(text, base, prefix string) template.HTML {
			out, _ := Markdown(Text{Markdown: text, Base: base, Prefix: prefix})
			return out
		},
		"list": func(v ...any) []any { return v }, "dict": dict, "json": ld,
		"bars": Bars, "share": share, "query": url.QueryEscape,
		"join": strings.Join, "safe": safeURL,
	}
}

// timeOf reads a time in any of the forms that answers have; zero for none.
func timeOf(v any) time.Time {
	switch t := v.(type) {
	case time.Time:
		return t
	case *time.Time:
		if t != nil {
			return *t
		}
	case string:
		return dates.At(t, dates.Day|dates.Instant)
	}
	return time.Time{}
}

func iso(v any) string { return dates.Format(timeOf(v)) }

// day writes the date of a time; the script writes it in the reader's zone.
func day(v any) template.HTML {
	t := timeOf(v).UTC()
	if t.IsZero() {
		return ""
	}
	if t.Equal(t.Truncate(24 * time.Hour)) { // a calendar day, the same everywhere
		return template.HTML(`<time datetime="` + t.Format(time.DateOnly) + `">` + t.Format("2 Jan 2006") + "</time>")
	}
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `" title="` + t.Format("2 Jan 2006, 15:04 UTC") +
		`" data-day>` + t.Format("2 Jan 2006") + "</time>")
}

// moment writes date and time.
func moment(v any) template.HTML {
	t := timeOf(v).UTC()
	if t.IsZero() {
		return ""
	}
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `" data-moment>` +
		t.Format("2 Jan 2006, 15:04") + " UTC</time>")
}

// floatOf reads a number, or a pointer to one; false for none.
func floatOf(v any) (float64, bool) {
	r := reflect.ValueOf(v)
	for r.IsValid() && r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	switch {
	case !r.IsValid():
		return 0, false
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}

// number writes a number with groups of three, and as many decimals as it
// takes to read it.
func number(v any) string {
	x, ok := floatOf(v)
	if !ok {
		return "–"
	}
	decimals := 0
	if x != math.Trunc(x) && math.Abs(x) < 1000 {
		decimals = 2
		if math.Abs(x) < 1 {
			decimals = 4
		}
	}
	text := strconv.FormatFloat(math.Abs(x), 'f', decimals, 64)
	whole, fraction, cut := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if cut {
		whole += "." + fraction
	}
	if x < 0 {
		whole = "−" + whole
	}
	return whole
}

// usd writes an amount of money: $1.24 bn.
func usd(v any) string {
	x, ok := floatOf(v)
	if !ok {
		return "–"
	}
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, " bn"}, {1e6, " m"}} {
		if math.Abs(x) >= unit.size {
			return "$" + strconv.FormatFloat(x/unit.size, 'f', 2, 64) + unit.name
		}
	}
	return "$" + number(x)
}

// percent writes a share: 0.125 is 12.5 %.
func percent(v any) string {
	x, ok := floatOf(v)
	if !ok {
		return "–"
	}
	text := strconv.FormatFloat(100*x, 'f', 1, 64) + " %"
	return strings.Replace(text, "-", "−", 1)
}

// share is a whole number of hundredths, for the width of a bar.
func share(part, all any) int {
	x, _ := floatOf(part)
	y, _ := floatOf(all)
	if y <= 0 {
		return 0
	}
	return int(math.Round(100 * min(1, max(0, x/y))))
}

func size(v any) string {
	x, ok := floatOf(v)
	switch {
	case !ok || x <= 0:
		return ""
	case x >= 1<<20:
		return strconv.FormatFloat(x/(1<<20), 'f', 1, 64) + " MB"
	case x >= 1<<10:
		return strconv.FormatFloat(x/(1<<10), 'f', 0, 64) + " kB"
	}
	return strconv.Itoa(int(x)) + " bytes"
}

// duration writes seconds as minutes.
func duration(v any) string {
	x, ok := floatOf(v)
	if !ok || x <= 0 {
		return ""
	}
	n := int(x)
	if n >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%d:%02d", n/60, n%60)
}

// tones are the colours of words that say how something stands.
var tones = map[string]string{
	"accepted": "good", "merged": "good", "completed": "good", "answered": "good", "in_favour": "good",
	"current": "good", "active": "good", "solved": "good", "resolved": "good",
	"review": "warn", "important": "warn", "scheduled": "warn", "warn": "warn", "running": "warn",
	"upcoming": "warn", "tentative": "warn", "ongoing": "warn", "planned": "warn", "prerelease": "warn",
	"rejected": "bad", "critical": "bad", "expired": "bad", "against": "bad", "deprecated": "bad", "stale": "bad",
	"failed": "bad", "empty": "bad", "removed": "bad", "done": "good", "stopping": "warn",
}

// status writes a state with its colour, in a network's own word if there is one.
func (s *Site) status(v any, own ...any) template.HTML {
	state, word := fmt.Sprint(v), ""
	if v == nil || state == "" {
		return ""
	}
	for _, own := range own {
		if text, _ := own.(string); text != "" {
			word = text
		}
	}
	said := cmp.Or(word, strings.ReplaceAll(state, "_", " "))
	return template.HTML(`<span class="status ` + s.Tone(state, word) + `">` + template.HTMLEscapeString(said) + "</span>")
}

// Tone is the colour of a state. That of a proposal, whose state is one of
// network.Statuses, is good if the network has decided it, which its own word says.
func (s *Site) Tone(state, word string) string {
	if slices.Contains(network.Statuses, state) && s.Proposals.IsDecided(state, word) {
		return "good"
	}
	return cmp.Or(tones[strings.ToLower(state)], "calm")
}

// Marked writes a text with the byte ranges of matches in it marked. Ranges
// that do not fit the text are left out.
func Marked(text string, spans [][2]int) template.HTML {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s[0] < at || s[1] <= s[0] || s[1] > len(text) || !utf8.RuneStart(text[s[0]]) ||
			s[1] < len(text) && !utf8.RuneStart(text[s[1]]) {
			continue
		}
		b.WriteString(template.HTMLEscapeString(text[at:s[0]]))
		b.WriteString("<mark>" + template.HTMLEscapeString(text[s[0]:s[1]]) + "</mark>")
		at = s[1]
	}
	b.WriteString(template.HTMLEscapeString(text[at:]))
	return template.HTML(b.String())
}

// short cuts a text after n characters.
func short(n int, text string) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	cut := string([]rune(text)[:n])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,.;:") + "…"
}

// Title writes the title of a stranger's text: what is in backticks is code.
func Title(text string) template.HTML {
	parts := strings.Split(template.HTMLEscapeString(text), "`")
	for i := 1; i+1 < len(parts); i += 2 {
		parts[i] = "<code>" + parts[i] + "</code>"
	}
	if len(parts)%2 == 0 { // the last begins nothing
		parts[len(parts)-2] += "`"
	}
	return template.HTML(strings.Join(parts, "")) //nolint:gosec // escaped above
}

// host is what people call the server of an address.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

// safeURL returns an address if a link may lead there, else "".
func safeURL(address string) string {
	if webaddress.Check(address) != nil {
		return ""
	}
	return address
}

// Words writes a name of a field as people do: last_activity is Last activity.
func Words(name string) string {
	name = strings.NewReplacer("_", " ", "-", " ", "bm25", "BM25", "sdk", "SDK").Replace(name)
	if name == "" {
		return ""
	}
	r, n := utf8.DecodeRuneInString(name)
	return strings.ToUpper(string(r)) + name[n:]
}

// plural writes a number with its noun: 1 reply, 2 replies.
func plural(v any, one, many string) string {
	x, _ := floatOf(v)
	if x == 1 {
		return "1 " + one
	}
	return number(x) + " " + many
}

func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: a name without a value")
	}
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		out[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out, nil
}

// ld writes linked data. Go escapes <, > and & in it, so that it cannot end the
// element it stands in.
func ld(v any) (template.JS, error) {
	raw, err := json.Marshal(v)
	return template.JS(raw), err //nolint:gosec // encoded above
}
