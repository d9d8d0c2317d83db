package web

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/api/look"
	"almanac/api/op"
	"almanac/api/server"
)

// message is a page that says why there is no other.
type message struct {
	Status   int
	Heading  string
	Text     string
	Progress int // hundredths of the first index; -1: this is not about it
	Wait     int // seconds until another try; 0: another try is no use
	Query    string
}

// headings are those of messages.
var headings = map[int]string{
	http.StatusBadRequest: "That cannot be asked", http.StatusNotFound: "There is no such page",
	http.StatusTooManyRequests: "That was a little fast", http.StatusServiceUnavailable: "Not available just now",
	http.StatusGatewayTimeout: "That took too long", http.StatusInternalServerError: "Something went wrong here",
}

// sentence is what an operation says to programs as people read it: without the addresses
// of the interface.
func sentence(s string) string {
	s, _, _ = strings.Cut(s, ": /api/")
	if s == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(s)
	if strings.ContainsRune(".?!", rune(s[len(s)-1])) {
		return string(unicode.ToUpper(r)) + s[size:]
	}
	return string(unicode.ToUpper(r)) + s[size:] + "."
}

// until is a time in words, rounded up.
func until(seconds int) string {
	if seconds <= 60 {
		return "a minute"
	}
	return strconv.Itoa((seconds+59)/60) + " minutes"
}

// refuse answers an error with a page; a program that has used up its calls, or asks
// for the wrong thing, with JSON.
func (h *Handler) refuse(r *http.Request, err error) *server.Answer {
	f := server.Explain(r.Context(), err)
	if _, ok := errors.AsType[*server.Refusal](err); ok && !Prefers(r) {
		return f.JSON()
	}
	m := message{Status: f.Status, Heading: cmp.Or(headings[f.Status], "This was refused"), Text: sentence(f.Message),
		Progress: -1, Wait: f.Wait}
	if m.Status == http.StatusTooManyRequests { // what the operator may change is none of a visitor's business
		m.Text = "Each visitor has a number of pages every few minutes, and yours are used up. There are more in " +
			until(m.Wait) + "."
	}
	if ready, progress := h.cfg.Ready(); !ready && errors.Is(err, op.ErrUnavailable) {
		m.Heading, m.Text, m.Progress, m.Wait = "The knowledge base is loading", "", int(100*progress), 2
	}
	page := look.Page{Title: m.Heading, NoIndex: true, Nav: h.nav(r.Context())}
	if m.Progress >= 0 {
		page.Refresh = 2
	}
	a := h.answer(markdownType, []byte("# "+m.Heading+"\n\n"+m.Text+"\n"))
	if !hasSuffix(r) && !asksForMarkdown(r) {
		body, err := h.pages.Render("message", "", page, m)
		if err != nil {
			h.cfg.Log.ErrorContext(r.Context(), "page failed", "error", err)
			return f.JSON()
		}
		a = h.answer(htmlType, body)
	}
	a.Status, a.Keep = m.Status, server.NoStore
	return a
}
