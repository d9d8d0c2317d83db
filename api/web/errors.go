package web

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"almanac/api/guard"
	"almanac/api/look"
	"almanac/api/op"
)

// statusOf maps the kinds of failure; anything else is 500.
var statusOf = map[error]int{
	op.ErrInvalid: http.StatusBadRequest, op.ErrNotFound: http.StatusNotFound,
	op.ErrUnavailable: http.StatusServiceUnavailable, context.DeadlineExceeded: http.StatusGatewayTimeout,
}

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

// fail answers with a page about an error.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client left
	}
	f := op.Explain(err)
	status, ok := statusOf[f.Kind]
	if !ok {
		status = http.StatusInternalServerError
		h.cfg.Log.Error("page failed", "path", r.Pattern, "error", err)
	}
	m := message{Status: status, Heading: headings[status], Text: f.Message, Progress: -1}
	if errors.Is(err, op.ErrUnavailable) {
		m.Wait = max(1, int(math.Ceil(f.RetryAfter.Seconds())))
		w.Header().Set("Retry-After", strconv.Itoa(m.Wait))
		if ready, progress := h.cfg.Ready(); !ready {
			m.Heading, m.Text, m.Progress, m.Wait = "The knowledge base is loading", "", int(100*progress), 2
		}
	}
	h.tell(w, r, m)
}

// NotFound answers with a page that helps to find another.
func (h *Handler) NotFound(w http.ResponseWriter, r *http.Request) {
	if !h.passes(w, r) {
		return
	}
	h.fail(w, r, op.NotFound("Nothing is at this address. It may have moved: search for its words."))
}

// passes counts a call. It answers a client that has used up its calls, and
// returns false.
func (h *Handler) passes(w http.ResponseWriter, r *http.Request) bool {
	const status = http.StatusTooManyRequests
	refusal := h.cfg.Limit.Refusal(w, r)
	switch {
	case refusal == "":
		return true
	case Prefers(r):
		wait, _ := strconv.Atoi(w.Header().Get("Retry-After"))
		h.tell(w, r, message{Status: status, Heading: headings[status], Text: refusal, Progress: -1, Wait: wait})
	default:
		guard.Refuse(w, status, refusal)
	}
	return false
}

func (h *Handler) tell(w http.ResponseWriter, r *http.Request, m message) {
	page := look.Page{Title: m.Heading, NoIndex: true}
	if m.Progress >= 0 {
		page.Refresh = 2
	}
	part := ""
	if wantsMarkdown(r) {
		h.reply(w, r, m.Status, "text/markdown; charset=utf-8", []byte("# "+m.Heading+"\n\n"+m.Text+"\n"))
		return
	}
	body, err := h.pages.Render("message", part, page, m)
	if err != nil {
		h.cfg.Log.Error("page failed", "error", err)
		http.Error(w, m.Heading, m.Status)
		return
	}
	h.reply(w, r, m.Status, "text/html; charset=utf-8", body)
}
