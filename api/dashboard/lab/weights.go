package lab

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"almanac/api/dashboard/form"
	"almanac/retrieval/ranking"
)

// slider is a weight that can be drawn.
type slider struct {
	Feature  string
	Value    float64
	Low, Top float64
}

// weightField begins the names of the sliders.
const weightField = "weight "

// slidersOf are those of the weights of a profile, by name.
func slidersOf(weights map[string]float64) (out []slider) {
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		w := weights[name]
		out = append(out, slider{name, w, min(-.5, math.Floor(2*w)), max(1.5, math.Ceil(2*w))})
	}
	return out
}

// Field is the name of the slider.
func (s slider) Field() string { return weightField + s.Feature }

// slide takes over the weights that were drawn: those that are not as the page had them.
func (s *labSide) slide(r *http.Request) {
	was, err := ranking.Parse([]byte(typed(r, "was-"+s.Letter)))
	if err != nil {
		return // the page had no sliders
	}
	drawn := map[string]float64{}
	for name, before := range was.Weights {
		if w, err := strconv.ParseFloat(r.Form.Get(weightField+name), 64); err == nil && w != before && !math.IsInf(w, 0) &&
			!math.IsNaN(w) {
			drawn[name] = w
		}
	}
	if len(drawn) == 0 {
		return
	}
	p, err := ranking.Parse([]byte(s.YAML))
	if err != nil {
		return // the text is shown with what is wrong with it
	}
	if p.Weights == nil {
		p.Weights = map[string]float64{}
	}
	maps.Copy(p.Weights, drawn)
	if data, err := yaml.Marshal(p); err == nil {
		s.YAML, s.Choice = string(data), form.Edited
	}
}
