package form

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"almanac/api/edge"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/workbench"
)

// again is a form that failed: its page is shown again with what was typed and
// why it failed beside it.
type again struct {
	Method string
	Action string     // of the form
	Typed  url.Values // what was sent
	Fresh  bool       // hidden fields are those of the page: what they name has changed
	Field  string     // the one that is wrong; "" = none in particular
	Text   string
	Near   []catalog.Record // that may be meant
}

// answer answers a request. If that is a form and fails, it is the page that has
// it again.
func (route Route) answer(r *http.Request) (Reply, error) {
	got, err := route.do(r)
	a, ok := failed(r, err)
	if !ok || route.page == nil {
		return got, err
	}
	shown, bad := route.page(r)
	if bad != nil || shown.Template == "" {
		return got, err
	}
	shown.Status, shown.again = failureOf(r.Context(), err).Status, a
	return shown, nil
}

// failed returns what is to be said of an error to whoever sent a form; false if
// it is not theirs to mend.
func failed(r *http.Request, err error) (*again, bool) {
	if err == nil {
		return nil, false
	}
	f := failureOf(r.Context(), err)
	if f.Status == http.StatusInternalServerError {
		return nil, false
	}
	a := &again{Method: r.Method, Action: r.URL.Path, Typed: r.PostForm, Fresh: f.Conflict != nil}
	if r.Method == http.MethodGet {
		a.Typed = r.Form
	}
	if none, ok := errors.AsType[unfound](err); ok {
		a.Field, a.Near, f.Text = none.field, none.near, none.said()
	}
	a.Text = f.Heading + ": " + strings.TrimSuffix(f.Text, ".")
	if len(a.Near) == 0 {
		a.Text += "."
	}
	if wrong, ok := errors.AsType[fieldError](err); ok {
		a.Field = wrong.field
	}
	if f.Conflict != nil {
		a.Text += " Nothing of yours is stored. What you typed is here again, over what is there now; " +
			"sending it once more puts it in place of theirs."
	}
	return a, true
}

// headings are those of what others refuse too: operations, and the catalog.
var headings = map[int]string{
	http.StatusBadRequest: "That cannot be done", http.StatusNotFound: "There is no such thing",
	http.StatusServiceUnavailable: "There is no answer now", http.StatusGatewayTimeout: "There was no answer in time",
	http.StatusInternalServerError: "Something went wrong here"}

// failureOf is what a page says of an error.
func failureOf(ctx context.Context, err error) failure {
	told := edge.Explain(ctx, err)
	f := failure{Status: told.Status, Heading: headings[told.Status], Text: told.Message}
	if f.Status == http.StatusInternalServerError {
		f.Text = err.Error()
	}
	if _, ok := errors.AsType[*edge.Refusal](err); ok {
		f.Heading, f.Stranger = "This was refused", true
	}
	if conflict, ok := errors.AsType[*catalog.ConflictError](err); ok {
		f.Conflict, f.Status, f.Heading = conflict, http.StatusConflict, "Somebody else was faster"
	}
	_, wrong := errors.AsType[Invalid](err)
	_, file := errors.AsType[workbench.InvalidError](err)
	if wrong || file || errors.Is(err, retrieval.ErrBadQuery) {
		f.Status, f.Heading = http.StatusBadRequest, headings[http.StatusBadRequest]
	}
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		f.Status, f.Heading = http.StatusNotFound, headings[http.StatusNotFound]
	case errors.Is(err, retrieval.ErrNotReady):
		f.Status, f.Heading = http.StatusServiceUnavailable, "The index is loading"
	}
	return f
}

// faultID names the message for the field that it is about.
const faultID = "fault"

// fill writes what was typed into the form of a page, and the message beside it.
func (a *again) fill(page []byte) ([]byte, error) {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, err
	}
	message := &html.Node{Type: html.ElementNode, Data: "p", Attr: []html.Attribute{
		{Key: "class", Val: "fault"}, {Key: "id", Val: faultID}, {Key: "role", Val: "alert"}}}
	say := func(to *html.Node, text string) { to.AppendChild(&html.Node{Type: html.TextNode, Data: text}) }
	say(message, a.Text)
	for i, r := range a.Near {
		say(message, nearest(i))
		name := r.Ref().Name()
		if a.Method == http.MethodGet {
			to := maps.Clone(a.Typed)
			to.Set(a.Field, name)
			link := &html.Node{Type: html.ElementNode, Data: "a", Attr: []html.Attribute{
				{Key: "href", Val: a.Action + "?" + to.Encode()}}}
			say(link, titled(r))
			message.AppendChild(link)
		} else {
			say(message, titled(r))
		}
		say(message, " ("+name+")")
	}
	if len(a.Near) > 0 {
		say(message, ".")
	}
	form := a.formIn(doc)
	if form == nil {
		if main := first(doc, func(n *html.Node) bool { return n.Data == "main" }); main != nil {
			main.InsertBefore(message, main.FirstChild)
		}
	} else {
		a.fillForm(form)
		a.place(message, form)
	}
	var out bytes.Buffer
	err = html.Render(&out, doc)
	return out.Bytes(), err
}

// formIn finds the form that was sent: of several with its address the one whose
// hidden fields and buttons are most like what was sent.
func (a *again) formIn(doc *html.Node) (best *html.Node) {
	most := -1
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" || attr(n, "action") != a.Action ||
			!strings.EqualFold(cmp.Or(attr(n, "method"), http.MethodGet), a.Method) {
			continue
		}
		like := 0
		for c := range n.Descendants() {
			name := attr(c, "name")
			if fixed := c.Data == "button" || attr(c, "type") == "hidden"; fixed && name != "" &&
				slices.Contains(a.Typed[name], attr(c, "value")) {
				like++
			}
		}
		if like > most {
			most, best = like, n
		}
	}
	return best
}

// fillForm sets the fields of a form. Fields of one name take what was typed in
// their order.
func (a *again) fillForm(form *html.Node) {
	taken := map[string]int{}
	for n := range form.Descendants() {
		name := attr(n, "name")
		kind := attr(n, "type")
		if n.Type != html.ElementNode || name == "" || n.Data == "button" || kind == "file" ||
			kind == "hidden" && a.Fresh {
			continue
		}
		if kind == "checkbox" || kind == "radio" {
			mark(n, "checked", slices.Contains(a.Typed[name], attr(n, "value")))
			continue
		}
		if taken[name] >= len(a.Typed[name]) {
			continue
		}
		value := a.Typed[name][taken[name]]
		taken[name]++
		switch n.Data {
		case "input":
			set(n, "value", value)
		case "textarea":
			for n.FirstChild != nil {
				n.RemoveChild(n.FirstChild)
			}
			n.AppendChild(&html.Node{Type: html.TextNode, Data: strings.ReplaceAll(value, "\r\n", "\n")})
		case "select":
			choose(n, value)
		}
	}
}

// place puts the message after the field that is wrong, or at the beginning of
// the form, and opens what hides it.
func (a *again) place(message, form *html.Node) {
	field := first(form, func(n *html.Node) bool { return a.Field != "" && attr(n, "name") == a.Field })
	if field == nil {
		form.InsertBefore(message, form.FirstChild)
	} else {
		set(field, "aria-invalid", "true")
		set(field, "aria-describedby", faultID)
		set(field, "autofocus", "")
		after := field
		if field.Parent.Data == "label" {
			after = field.Parent
		}
		after.Parent.InsertBefore(message, after.NextSibling)
	}
	for n := range message.Ancestors() {
		if n.Data == "details" {
			set(n, "open", "")
		}
	}
}

// choose selects the option of a list that has a value, if there is one.
func choose(list *html.Node, value string) {
	is := func(n *html.Node) bool {
		if n.Type != html.ElementNode || n.Data != "option" {
			return false
		}
		if has(n, "value") {
			return attr(n, "value") == value
		}
		return n.FirstChild != nil && strings.TrimSpace(n.FirstChild.Data) == value
	}
	if first(list, is) == nil {
		return
	}
	for n := range list.Descendants() {
		if n.Data == "option" {
			mark(n, "selected", is(n))
		}
	}
}

// first returns the first element below a node that is so; nil if none is.
func first(in *html.Node, is func(*html.Node) bool) *html.Node {
	for n := range in.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			return n
		}
	}
	return nil
}

// attr is an attribute of an element; "" if it has none.
func attr(n *html.Node, name string) string {
	for _, x := range n.Attr {
		if x.Key == name {
			return x.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(x html.Attribute) bool { return x.Key == name })
}

// set gives an element an attribute.
func set(n *html.Node, name, value string) {
	mark(n, name, false)
	n.Attr = append(n.Attr, html.Attribute{Key: name, Val: value})
}

// mark gives an element an attribute without a value, or takes it away.
func mark(n *html.Node, name string, on bool) {
	n.Attr = slices.DeleteFunc(n.Attr, func(x html.Attribute) bool { return x.Key == name })
	if on {
		n.Attr = append(n.Attr, html.Attribute{Key: name})
	}
}
