package web

import (
	"cmp"
	"slices"
	"time"

	"almanac/api/look"
)

// usagePage is a page only if the operator wants it.
var usagePage = row{
	path: "/usage", template: "usage", title: "Usage", early: true, prepare: prepareUsage,
	lede: "How often each tool is called, by agents and by programs.",
}

// usageView is what it shows.
type usageView struct {
	Since time.Time
	Chart look.Chart
	All   used
	Tools []used // the most called first
}

// used is a tool with how often it was called.
type used struct {
	Name      string
	Day, Week int
}

func prepareUsage(h *Handler, v *view) error {
	u := &usageView{Since: h.cfg.Calls.Since()}
	v.Extra = u
	u.Chart = look.Chart{Name: "Calls by the hour", Format: "number", Marks: []look.Mark{{At: u.Since, Name: "start"}}}
	tools := map[string]*used{}
	hours := h.cfg.Calls.Hours()
	for i, hour := range hours {
		ofDay, sum := i >= len(hours)-24, 0
		for name, n := range hour.Calls {
			if tools[name] == nil {
				tools[name] = &used{Name: name}
			}
			for _, x := range []*used{tools[name], &u.All} {
				if x.Week += n; ofDay {
					x.Day += n
				}
			}
			sum += n
		}
		if ofDay {
			u.Chart.Points = append(u.Chart.Points, look.Point{At: hour.At, Value: float64(sum)})
		}
	}
	for _, x := range tools {
		u.Tools = append(u.Tools, *x)
	}
	slices.SortFunc(u.Tools, func(a, b used) int {
		return cmp.Or(cmp.Compare(b.Week, a.Week), cmp.Compare(a.Name, b.Name))
	})
	return nil
}
