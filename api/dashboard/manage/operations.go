package manage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/catalog/jobs"
	"almanac/retrieval"
)

// shownJobs is how many jobs the page lists that have ended.
const shownJobs = 20

// overview shows how everything is. With live=1 it is only what changes by itself.
func (h handler) overview(r *http.Request) (form.Reply, error) {
	sources, err := h.sources(r)
	if err != nil {
		return form.Reply{}, err
	}
	open, ended, err := h.jobs(r)
	if err != nil {
		return form.Reply{}, err
	}
	index, err := h.index(r, open)
	if err != nil {
		return form.Reply{}, err
	}
	data := map[string]any{"Sources": sources, "Open": open, "Ended": ended, "Index": index}
	got := form.Reply{Template: "operations", Title: "Operations", Data: data}
	if r.FormValue("live") != "" {
		got.Part = "live"
		return got, nil
	}
	live, _, err := h.Store.Published(r.Context())
	if err != nil {
		return form.Reply{}, err
	}
	slow, _, err := h.Store.Searches(r.Context(), catalog.SearchQuery{
		Since: h.Now().AddDate(0, 0, 1-slowDays), Order: catalog.Slowest, Limit: slowest})
	if err != nil {
		return form.Reply{}, err
	}
	blocked, err := h.Store.Violations(r.Context(), h.Now().AddDate(0, 0, 1-slowDays))
	if err != nil {
		return form.Reply{}, err
	}
	data["Published"], data["Slow"], data["SlowDays"] = live, slow, slowDays
	data["Blocked"] = blocked[:min(mostBlocked, len(blocked))]
	return got, nil
}

// The page lists the slowest queries of the last days, and what was blocked most.
const (
	slowest     = 5
	mostBlocked = 20
	slowDays    = 7
)

// settings shows the configuration with where each value comes from.
func (h handler) settings(*http.Request) (form.Reply, error) {
	return form.Reply{Template: "settings", Title: "Configuration", Data: h.Settings}, nil
}

// source is a source with what runs of it.
type source struct {
	catalog.SourceState
	State   string
	Records int
	Others  int       // records that it yields and another source owns
	Next    time.Time // zero: not planned, or not by this process
	Asked   bool      // a job is to sync it
}

// sources lists the sources with their records.
func (h handler) sources(r *http.Request) ([]source, error) {
	states, err := h.Store.Sources(r.Context())
	if err != nil {
		return nil, err
	}
	counts, err := h.Store.Counts(r.Context())
	if err != nil {
		return nil, err
	}
	others, err := h.Store.ForeignCounts(r.Context())
	if err != nil {
		return nil, err
	}
	open, err := h.Store.Requests(r.Context())
	if err != nil {
		return nil, err
	}
	records := map[string]int{}
	for _, c := range counts {
		records[c.Source] += c.N
	}
	list := make([]source, len(states))
	for i, st := range states {
		running, next := false, time.Time{}
		if h.Turn != nil {
			running, next = h.Turn(st.Name)
		}
		asked := func(r catalog.Request) bool { return r.Kind == "sync" && (r.Argument == st.Name || r.Argument == "") }
		s := source{SourceState: st, Records: records[st.Name], Others: others[st.Name], Next: next,
			State: st.Standing(h.Now()), Asked: slices.ContainsFunc(open, asked)}
		if running {
			s.State = "running"
		}
		list[i] = s
	}
	return list, nil
}

// job is a request as the page shows it.
type job struct {
	catalog.Request
	What string        // its argument, for people
	Took time.Duration // since it began
	Said string        // its result, for people
}

// jobOf is how a request stands at a moment.
func jobOf(r catalog.Request, now time.Time) job {
	j := job{Request: r, What: pairs(r.Argument), Said: pairs(r.Result)}
	if !r.StartedAt.IsZero() {
		j.Took = cmp.Or(r.DoneAt, now).Sub(r.StartedAt)
	}
	return j
}

// jobs returns the jobs that are open, oldest first, and the latest that ended.
func (h handler) jobs(r *http.Request) (open, ended []job, err error) {
	waiting, err := h.Store.Requests(r.Context())
	if err != nil {
		return nil, nil, err
	}
	latest, err := h.Store.Jobs(r.Context(), shownJobs+len(waiting))
	for _, r := range waiting {
		open = append(open, jobOf(r, h.Now()))
	}
	for _, r := range latest {
		if !r.DoneAt.IsZero() && len(ended) < shownJobs {
			ended = append(ended, jobOf(r, h.Now()))
		}
	}
	return open, ended, err
}

// pairs writes an object of JSON as its names and values, of those that are short;
// anything else as it is.
func pairs(text string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(text), &fields) != nil {
		return text
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch v := fields[name].(type) {
		case string, float64, bool:
			if v != "" {
				out = append(out, fmt.Sprintf("%s %v", strings.ReplaceAll(name, "_", " "), v))
			}
		}
	}
	return strings.Join(out, ", ")
}

// index is how the index is.
type index struct {
	retrieval.Status
	Engines     []engine
	Generations []catalog.Generation // newest first
	Head        int64                // of the change log
	Rebuilding  bool                 // a job is to build it again
	Cached      int                  // texts whose vectors the cache had
	Embedded    int                  // those that the model had to make
	Refused     map[string]int       // how often limits were reached
}

// engine is a part of the search.
type engine struct {
	Name, State, Why string
	Behind           int64 // changes
}

// index asks the searcher that serves.
func (h handler) index(r *http.Request, open []job) (x index, err error) {
	if h.Search != nil {
		x.Status = h.Search.Status(r.Context())
	}
	for _, name := range h.Engines {
		e := engine{Name: name, State: "current"}
		if x.Breakers[name] {
			e.State, e.Why = "left alone", "it failed too often and is tried again in a while"
		}
		for _, d := range x.Down {
			if d.Engine == name {
				e.State, e.Why, e.Behind = "failed", d.Reason, d.ToCome
				if d.ToCome > 0 {
					e.State = "filling"
				}
			}
		}
		x.Engines = append(x.Engines, e)
	}
	x.Rebuilding = slices.ContainsFunc(open, func(j job) bool { return j.Kind == "reindex" })
	if m := h.Metrics; m != nil {
		x.Cached, x.Embedded = m.EmbeddedTexts()
		x.Refused = m.Refused()
	}
	if x.Head, err = h.Store.LastChange(r.Context()); err != nil {
		return x, err
	}
	x.Generations, err = h.Store.Generations(r.Context())
	slices.Reverse(x.Generations)
	return x, err
}

// back is where every change of this section leads.
var back = form.Reply{Goto: "/operations"}

// syncNow asks for a run of a source, or of all, unless that is asked for already.
func (h handler) syncNow(r *http.Request) (form.Reply, error) {
	name := r.PostFormValue("source")
	if name != "" {
		states, err := h.Store.Sources(r.Context())
		if err != nil {
			return form.Reply{}, err
		}
		if !slices.ContainsFunc(states, func(s catalog.SourceState) bool { return s.Name == name }) {
			return form.Reply{}, fmt.Errorf("source %q: %w", name, catalog.ErrNotFound)
		}
	}
	return h.askFor(r, "sync", name)
}

// reindex asks for the index to be built again.
func (h handler) reindex(r *http.Request) (form.Reply, error) { return h.askFor(r, "reindex", "") }

// askFor asks for a job unless the same is open.
func (h handler) askFor(r *http.Request, kind, argument string) (form.Reply, error) {
	open, err := h.Store.Requests(r.Context())
	if err != nil {
		return form.Reply{}, err
	}
	same := func(o catalog.Request) bool { return o.Kind == kind && o.Argument == argument && !o.Cancelled }
	if slices.ContainsFunc(open, same) {
		return back, nil
	}
	_, err = jobs.Ask(r.Context(), h.Store, catalog.Request{Kind: kind, Argument: argument, By: admin.User(r.Context())})
	return back, err
}

// cancelJob asks for the end of a job. One that has ended meanwhile is no error.
func (h handler) cancelJob(r *http.Request) (form.Reply, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return form.Reply{}, form.Invalid("a job has a number")
	}
	if _, err := h.Store.Job(r.Context(), id); err != nil {
		return form.Reply{}, err
	}
	err = jobs.Cancel(r.Context(), h.Store, id, admin.User(r.Context()))
	if errors.Is(err, catalog.ErrNotFound) {
		err = nil
	}
	return back, err
}
