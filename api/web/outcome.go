package web

import (
	"cmp"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api/community"
	"almanac/api/look"
	"almanac/text/dates"
)

// outcome is an answer in short, whatever its operation: its figures, what it lists, and
// the records that it cites.
type outcome struct {
	Hint  string
	Facts []Fact
	Text  string
	Lists []rows
	Cited []cited
}

// rows are a list in an answer, cut.
type rows struct {
	Name  string // of the field
	Items []entry
	More  int
}

// entry is an element of a list: the record that it is, or what it is called, and what else
// it says.
type entry struct {
	cited
	State, Own string // how it stands, and in the network's own word
	Facts      []Fact
	Text, Code string
	Within     []cited // records in it
}

// cited is a record in an answer: where it can be read, what it is, and of when.
type cited struct {
	Title, Page, URL, Kind string
	Date                   time.Time
}

// Link is the address of its page, or of its source.
func (c cited) Link() string { return cmp.Or(c.Page, c.URL) }

// The bounds of an outcome, so that four of them fit on a page.
const (
	factsShown  = 8
	rowsShown   = 12 // of all lists
	rowsOfList  = 8
	valuesShown = 5
	withinShown = 3
	citedShown  = 10
	quoteSize   = 240  // characters of a text
	lineSize    = 80   // of a value that is no text
	readOfText  = 1500 // bytes of a text that are read for it
)

// Fields of answers by their names. What leads to a record, pages a list or says how an
// answer came about says nothing here.
var (
	silent = strings.Fields(`id record_id key url page path third_party kind title name date read type anchor parent_id
		limit offset next_cursor cursor truncated score weight took_ms budget tokens left_out method matches state status
		window_days label container hint source pdf also_at also status_raw raw_to raw_from heading commit thread rules
		compared alternatives outline created_at updated_at header identifiers searched authors draft deadline_raw all_day
		matched fresh section has_transcript as_of`)
	texts = strings.Fields(`snippet passage content text answer body transcript introduction note summary description
		reason why action statement`)
	headers = []string{"Title", "Name", "RawTo", "Voter", "Label", "Subject", "Environment", "Deprecated", "Source"}
	forms   = map[string]form{"price_usd": asUSD, "tvl": asUSD, "volume_24h": asUSD, "tvl_usd": asUSD,
		"market_cap_usd": asUSD, "volume_24h_usd": asUSD, "share": asShare, "fee_rate": asShare, "apy": asShare,
		"reply_ratio": asShare, "seconds": asLength, "bytes": asBytes, "install": asCode}
)

// enumerated is a value that programs read: in_progress.
var enumerated = regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)

// outcomeOf shortens an answer. The subject of the question is not said again; what has an
// address below site has its page there.
func outcomeOf(answer any, subject, site string) outcome {
	s := shortener{subject: subject, site: site}
	root := settled(reflect.ValueOf(answer))
	if root.Kind() != reflect.Struct {
		return s.out
	}
	s.out.Hint = sentence(textOf(root, "Hint"))
	s.cite(root)
	if state, own := stateOf(root); state != "" {
		s.fact(&s.out.Facts, Fact{"Status", "status", []Value{{Text: state, Title: own}}})
	}
	s.top(root)
	return s.out
}

// shortener makes an outcome.
type shortener struct {
	subject, site string
	rows          int // so far
	out           outcome
}

// top reads the fields of the answer itself.
func (s *shortener) top(v reflect.Value) {
	for name, f := range fieldsOf(v) {
		switch f.Kind() {
		case reflect.Slice:
			if items, all := s.entries(f); len(items) > 0 {
				s.list(name, items, all)
				continue
			}
		case reflect.Struct:
			if f.Type() == timeType {
				break
			}
			e := s.entry(f)
			switch {
			case e.Link() != "":
				s.list(name, []entry{e}, 1)
			case e.Title != "":
				s.fact(&s.out.Facts, Fact{look.Words(name), "", []Value{{Text: e.Title}}})
			default:
				for _, fact := range e.Facts {
					s.fact(&s.out.Facts, fact)
				}
			}
			continue
		}
		if f.Kind() == reflect.String && slices.Contains(texts, name) {
			if f.String() != s.subject {
				s.out.Text = cmp.Or(s.out.Text, quoted(name, f.String(), textOf(v, "Title")))
			}
		} else if fact, ok := s.factOf(name, f); ok {
			s.fact(&s.out.Facts, fact)
		}
	}
}

// list adds one. What everything in an answer is called is not said.
func (s *shortener) list(name string, items []entry, all int) {
	if name == "items" || name == "sources" {
		name = ""
	}
	s.rows += len(items)
	s.out.Lists = append(s.out.Lists, rows{look.Words(name), items, all - len(items)})
}

func (s *shortener) fact(facts *[]Fact, f Fact) {
	if len(*facts) < factsShown {
		*facts = append(*facts, f)
	}
}

// entries are those of a list of objects that say something, as far as there is room.
func (s *shortener) entries(list reflect.Value) (out []entry, all int) {
	for i := range min(list.Len(), rowsOfList, rowsShown-s.rows) {
		if v := settled(list.Index(i)); v.Kind() == reflect.Struct && v.Type() != timeType {
			e := s.entry(v)
			if says := e.Link() != "" || e.Text != "" || len(e.Facts)+len(e.Within) > 0; says && e.Title != "" {
				out = append(out, e)
			}
		}
	}
	return out, list.Len()
}

// entry reads an object in an answer.
func (s *shortener) entry(v reflect.Value) (e entry) {
	var ok bool
	if e.cited, ok = s.cite(v); !ok {
		e.Title = ""
		for _, header := range headers {
			e.Title = cmp.Or(e.Title, textOf(v, header))
		}
	}
	e.State, e.Own = stateOf(v)
	for name, f := range fieldsOf(v) {
		switch {
		case f.Kind() == reflect.String && name == "code":
			e.Code = cutBlock(f.String(), 2*quoteSize)
		case f.Kind() == reflect.String && slices.Contains(texts, name):
			e.Text = cmp.Or(e.Text, quoted(name, f.String(), e.Title))
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() != reflect.String:
			for i := range f.Len() {
				if c, ok := s.citedBy(settled(f.Index(i))); ok && len(e.Within) < withinShown {
					e.Within = append(e.Within, c)
					s.remember(c)
				}
			}
		case f.Kind() == reflect.Struct && f.Type() != timeType:
			if c, ok := s.cite(f); ok {
				e.Within = append(e.Within, c)
			} else if text := firstText(f); text != "" {
				e.Facts = append(e.Facts, Fact{look.Words(name), "", []Value{{Text: text}}})
			}
		default:
			fact, ok := s.factOf(name, f)
			switch {
			case !ok || fact.Values[0].Text == e.Title || fact.Values[0].Text == no:
			case e.Title == "" && fact.Form == "":
				e.Title = fact.Values[0].Text
			default:
				s.fact(&e.Facts, fact)
			}
		}
	}
	return e
}

// cite remembers the record that an object is.
func (s *shortener) cite(v reflect.Value) (cited, bool) {
	c, ok := s.citedBy(v)
	if ok {
		s.remember(c)
	}
	return c, ok
}

func (s *shortener) remember(c cited) {
	same := func(x cited) bool { return x.Link() == c.Link() }
	if len(s.out.Cited) < citedShown && !slices.ContainsFunc(s.out.Cited, same) {
		s.out.Cited = append(s.out.Cited, c)
	}
}

// citedBy is the record that an object is; false if it is none.
func (s *shortener) citedBy(v reflect.Value) (c cited, ok bool) {
	if v.Kind() != reflect.Struct {
		return c, false
	}
	c = cited{Title: textOf(v, "Title"), Page: textOf(v, "Page"), URL: textOf(v, "URL"), Kind: textOf(v, "Kind")}
	if version := textOf(v, "Version"); c.Title == "" && version != "" {
		c.Title = strings.TrimSpace(textOf(v, "Name") + " " + version)
	}
	for _, name := range []string{"Date", "When", "At", "UpdatedAt", "Published", "CreatedAt"} {
		if f := settled(fieldNamed(v, name)); c.Date.IsZero() && f.IsValid() && f.Type() == timeType {
			c.Date = f.Interface().(time.Time)
		}
	}
	if news, ok := v.Interface().(community.Activity); ok && news.ID != "" {
		c.Page = s.site + "/r/" + url.PathEscape(news.ID)
	} else if c.Page == "" && s.site != "" && strings.HasPrefix(c.URL, s.site+"/") {
		c.Page = c.URL
	}
	return c, c.Title != "" && c.Link() != ""
}

// factOf reads a plain value; false if it says nothing.
func (s *shortener) factOf(name string, v reflect.Value) (Fact, bool) {
	f := Fact{Name: look.Words(name), Form: string(forms[name])}
	var values []string
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String {
		for i := range min(v.Len(), valuesShown) {
			values = append(values, v.Index(i).String())
		}
	} else if text, form := plain(v); text != "" && text != s.subject {
		values, f.Form = []string{text}, cmp.Or(f.Form, string(form))
	}
	for _, text := range values {
		if len(text) <= lineSize {
			number, _ := strconv.ParseFloat(text, 64)
			f.Values = append(f.Values, Value{Text: text, Number: number})
		}
	}
	return f, len(f.Values) > 0
}

// no is what is false: of an answer it says something, of one row among many nothing.
const no = "no"

// plain writes a plain value and says how it is read; "" for what is empty, and for what is
// no such.
func plain(v reflect.Value) (string, form) {
	switch {
	case v.Type() == timeType:
		return dates.Format(v.Interface().(time.Time)), asDay
	case v.Kind() == reflect.String && enumerated.MatchString(v.String()):
		return v.String(), inWords
	case v.Kind() == reflect.String:
		return v.String(), ""
	case v.Kind() == reflect.Bool && v.Bool():
		return "yes", ""
	case v.Kind() == reflect.Bool:
		return no, ""
	case v.CanInt() && v.Int() != 0:
		return strconv.FormatInt(v.Int(), 10), asNumber
	case v.CanFloat() && v.Float() != 0:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64), asNumber
	}
	return "", ""
}

// quoted is how a text begins, in its words and without what heads it.
func quoted(name, text, title string) string {
	if name == "snippet" {
		return short(quoteSize, look.Legible(text))
	}
	text, _ = withoutHeader(withoutFrontMatter(text), "", title)
	return short(quoteSize, cmp.Or(openingOf(text), look.Plain(cutBlock(text, readOfText))))
}

// stateOf is how the record stands that an object is, and in the network's own word.
func stateOf(v reflect.Value) (state, own string) {
	return cmp.Or(textOf(v, "State"), textOf(v, "Status")), textOf(v, "StatusRaw")
}

// firstText is the first text of an object.
func firstText(v reflect.Value) string {
	for _, f := range fieldsOf(v) {
		if f.Kind() == reflect.String && f.String() != "" && len(f.String()) <= lineSize {
			return f.String()
		}
	}
	return ""
}

var timeType = reflect.TypeFor[time.Time]()

// fieldsOf are the fields of an answer by their names in JSON, in their order, those of
// embedded objects in their places. What is null or silent is left out.
func fieldsOf(v reflect.Value) func(yield func(string, reflect.Value) bool) {
	return func(yield func(string, reflect.Value) bool) {
		for _, f := range reflect.VisibleFields(v.Type()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" || !f.IsExported() || name == "-" {
				continue
			}
			got, err := v.FieldByIndexErr(f.Index)
			if got = settled(got); err != nil || !got.IsValid() ||
				(got.Kind() != reflect.Struct || got.Type() == timeType) && slices.Contains(silent, name) {
				continue
			}
			if !yield(name, got) {
				return
			}
		}
	}
}

// fieldNamed is a field by its name in Go; zero if there is none.
func fieldNamed(v reflect.Value, name string) (f reflect.Value) {
	if at, ok := v.Type().FieldByName(name); ok && at.IsExported() {
		f, _ = v.FieldByIndexErr(at.Index)
	}
	return f
}

// textOf is the text of such a field; "" if it has none.
func textOf(v reflect.Value, name string) string {
	if f := settled(fieldNamed(v, name)); f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

// settled follows pointers and interfaces; zero for nil.
func settled(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}
