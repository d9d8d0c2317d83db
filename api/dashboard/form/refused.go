package form

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"almanac/api/look"
	"almanac/api/server"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/workbench"
)

// Invalid is an error in what a person sent; its text is for them.
type Invalid string

// Error implements error.
func (e Invalid) Error() string { return string(e) }

// In names the field of the form that the error is about.
func (e Invalid) In(field string) error { return fieldError{e, field} }

// fieldError is an error in a field of a form.
type fieldError struct {
	Invalid
	field string
}

// Unwrap makes it an Invalid.
func (e fieldError) Unwrap() error { return e.Invalid }

// failure is a page about an error.
type failure struct {
	Status   int
	Heading  string
	Text     string
	Conflict *catalog.ConflictError
	Back     look.Link // where to go from here; zero: nowhere
	Stranger bool      // see Reply
}

// headings are those of what others refuse too: operations, and the catalog.
var headings = map[int]string{
	http.StatusBadRequest: "That cannot be done", http.StatusNotFound: "There is no such thing",
	http.StatusServiceUnavailable: "There is no answer now", http.StatusGatewayTimeout: "There was no answer in time",
	http.StatusInternalServerError: "Something went wrong here"}

// failureOf is what a page says of an error.
func failureOf(ctx context.Context, err error) failure {
	told := server.Explain(ctx, err)
	f := failure{Status: told.Status, Heading: headings[told.Status], Text: told.Message}
	if f.Status == http.StatusInternalServerError {
		f.Text = err.Error()
	}
	if _, ok := errors.AsType[*server.Refusal](err); ok {
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

// Sent is a form that was sent and refused. Its page is shown again: templates ask it for
// what was typed and for what is wrong. nil: no form was refused.
type Sent struct {
	Text string           // why
	Near []catalog.Record // that may be meant

	err    error
	action string     // of the form
	typed  url.Values // what was sent
	get    bool
	fresh  bool   // what Kept fields name has changed: they are those of the page
	field  string // the one that is wrong; "" = none in particular
	said   bool   // the page has the message
}

// answer answers a request. If that is a form and is refused, it is the page that has it
// again.
func (route Route) answer(r *http.Request) (Reply, error) {
	got, err := route.do(r)
	if err == nil || route.page == nil {
		return got, err
	}
	f := failureOf(r.Context(), err)
	if f.Status == http.StatusInternalServerError {
		return got, err // whoever sent the form cannot mend it
	}
	shown, bad := route.page(r)
	if bad != nil || shown.Template == "" {
		return got, err
	}
	shown.Status, shown.sent = f.Status, refused(r, f, err)
	return shown, nil
}

// refused is the form of a request, with what is to be said of an error to whoever sent it.
func refused(r *http.Request, f failure, err error) *Sent {
	s := &Sent{err: err, action: r.URL.Path, typed: r.PostForm, get: r.Method == http.MethodGet,
		fresh: f.Conflict != nil}
	if s.get {
		s.typed = r.Form
	}
	if wrong, ok := errors.AsType[fieldError](err); ok {
		s.field = wrong.field
	}
	if none, ok := errors.AsType[unfound](err); ok {
		s.field, s.Near, f.Text = none.field, none.near, none.said()
	}
	s.Text = f.Heading + ": " + strings.TrimSuffix(f.Text, ".")
	if len(s.Near) == 0 {
		s.Text += "."
	}
	if f.Conflict != nil {
		s.Text += " Nothing of yours is stored. What you typed is here again, over what is there now; " +
			"sending it once more puts it in place of theirs."
	}
	return s
}

// To returns the form if it is the one of an action; of several on a page the one whose
// hidden field has a value.
func (s *Sent) To(action string, hidden ...any) *Sent {
	if s == nil || s.action != action || len(hidden) == 2 && s.typed.Get(hidden[0].(string)) != fmt.Sprint(hidden[1]) {
		return nil
	}
	return s
}

// In returns the form if a field of it is wrong, for the template "fault", which says why.
func (s *Sent) In(field string) *Sent {
	if s == nil || s.field != field {
		return nil
	}
	s.said = true
	return s
}

// Value is what was typed into a field; what it has otherwise if the form was not refused.
func (s *Sent) Value(field string, otherwise any) string {
	if s == nil || !s.typed.Has(field) {
		return fmt.Sprint(otherwise)
	}
	return strings.ReplaceAll(s.typed.Get(field), "\r\n", "\n")
}

// Kept is the Value of a field that says what a form was filled from.
func (s *Sent) Kept(field string, otherwise any) string {
	if s != nil && s.fresh {
		s = nil
	}
	return s.Value(field, otherwise)
}

// Field is the name of a field, and its Value if it has any, as attributes.
func (s *Sent) Field(field string, otherwise any) template.HTMLAttr {
	out := attribute("name", field)
	if value := s.Value(field, otherwise); value != "" {
		out += " " + attribute("value", value)
	}
	return out + s.Wrong(field)
}

// Wrong says of the field that is wrong that it is.
func (s *Sent) Wrong(field string) template.HTMLAttr {
	if s == nil || s.field != field {
		return ""
	}
	return ` aria-invalid="true" aria-describedby="fault" autofocus`
}

func attribute(name, value string) template.HTMLAttr {
	return template.HTMLAttr(name + `="` + template.HTMLEscapeString(value) + `"`) //nolint:gosec // escaped
}

// Selected marks the option of a list that was chosen; otherwise says whether it is the one
// if the form was not refused.
func (s *Sent) Selected(field string, value any, otherwise bool) template.HTMLAttr {
	if s != nil && s.typed.Has(field) {
		otherwise = s.typed.Get(field) == fmt.Sprint(value)
	}
	if otherwise {
		return " selected"
	}
	return ""
}

// Checked marks a box that was ticked.
func (s *Sent) Checked(field string, value any, otherwise bool) template.HTMLAttr {
	if s != nil {
		otherwise = slices.Contains(s.typed[field], fmt.Sprint(value))
	}
	if otherwise {
		return " checked"
	}
	return ""
}

// Meaning is the address of a form that is sent by GET with a record in the field that is wrong;
// "" of another.
func (s *Sent) Meaning(record catalog.Record) string {
	if !s.get {
		return ""
	}
	return Address(s.action, s.field, record.Ref().Name())
}
