package lab

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// recordPage is what is known of how one record is found.
type recordPage struct {
	Record    catalog.Record
	Name      string // kind:key
	Page      string
	Sightings []workbench.Sighting
	Clicks    []opened
	Pins      []string // queries
}

// opened is how often people opened the record in the results of a query.
type opened struct {
	Query          string
	Shown, Clicked int
}

// record shows what happened to a record: which queries find it, where over the runs, and
// who said what of it.
func (h handler) record(r *http.Request) (form.Reply, error) {
	ctx := r.Context()
	found, err := h.Locate(ctx, r.FormValue("name"), "name")
	if err != nil {
		return form.Reply{}, err
	}
	p := recordPage{Record: found, Name: found.Ref().Name()}
	if h.Page != nil {
		p.Page = h.Page(found)
	}
	if p.Sightings, err = h.Bench.Sightings(ctx, found); err != nil {
		return form.Reply{}, err
	}
	clicks, err := h.Store.Clicks(ctx, h.Now().AddDate(0, 0, -catalog.CountDays))
	if err != nil {
		return form.Reply{}, err
	}
	for _, c := range clicks {
		if c.Record != found.ID {
			continue
		}
		if n := len(p.Clicks); n == 0 || p.Clicks[n-1].Query != c.Query {
			p.Clicks = append(p.Clicks, opened{Query: c.Query})
		}
		last := &p.Clicks[len(p.Clicks)-1]
		last.Shown, last.Clicked = last.Shown+c.Shown, last.Clicked+c.Clicked
	}
	p.Pins, err = h.pinned(ctx, p.Name)
	return form.Reply{Template: "record", Title: found.Title, Data: p}, err
}

// recordForm asks for a record.
func (h handler) recordForm(*http.Request) (form.Reply, error) {
	return form.Reply{Template: "record", Title: "How a record is found", Data: recordPage{}}, nil
}

// pinned are the queries whose live rules have a record.
func (h handler) pinned(ctx context.Context, record string) (queries []string, err error) {
	live, _, err := ranking.InForce(ctx, h.Store)
	if err != nil {
		return nil, err
	}
	pins, err := h.Store.Revision(ctx, catalog.PinsRevision, "", live.Of(catalog.PinsRevision).Number)
	if errors.Is(err, catalog.ErrNotFound) || live.Of(catalog.PinsRevision).Number == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rules, err := ranking.ParsePins([]byte(pins.Data))
	for _, rule := range rules {
		if slices.ContainsFunc(rule.Places, func(p ranking.Place) bool { return p.Record == record }) {
			queries = append(queries, rule.Query)
		}
	}
	return queries, err
}

// suggested is how many names a field offers.
const suggested = 8

// names lists the records that somebody may mean who is typing into a field: the one that
// is named so already, then what the text finds, of one kind if it begins with kind:.
func (h handler) names(r *http.Request) (form.Reply, error) {
	ctx, text := r.Context(), strings.TrimSpace(r.FormValue("q"))
	reply := form.Reply{Template: "lab", Part: "found-names"}
	if text == "" {
		return reply, nil
	}
	var list []catalog.Record
	if found, err := h.Find(ctx, text); err == nil {
		list = append(list, found)
	}
	near, err := h.Near(ctx, text, suggested)
	if err != nil {
		return reply, err
	}
	for _, head := range near {
		if len(list) == 0 || head.ID != list[0].ID {
			list = append(list, head)
		}
	}
	reply.Data = list
	return reply, nil
}
