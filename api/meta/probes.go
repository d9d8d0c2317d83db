package meta

import (
	"context"
	"time"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
)

// Health says that the program runs.
type Health struct {
	Status        string   `json:"status" enum:"ok,loading,degraded"`
	Ready         bool     `json:"ready"`
	Progress      float64  `json:"progress" doc:"of the first index, from 0 to 1"`
	Down          []string `json:"down" doc:"engines that do not answer or are incomplete, and the catalog"`
	Tools         int      `json:"tools" doc:"registered tools, without those listed only on request"`
	Version       string   `json:"version"`
	UptimeSeconds int      `json:"uptime_seconds"`
}

// Readiness says that questions are answered.
type Readiness struct {
	Status string   `json:"status" enum:"ready"`
	Down   []string `json:"down" doc:"engines that do not answer or are incomplete: answers do without them"`
	Notes  []string `json:"notes,omitempty" doc:"what is not as configured, and changes no answer"`
}

// Program is what probes look at.
type Program struct {
	op.Serving
	Version string
	// Down lists the engines that do not answer; nil = none.
	Down func() []retrieval.Down
	// Catalog is why the catalog does not answer; nil = it always does.
	Catalog func(context.Context) error
	// Notes are what /ready says besides of what is not as configured; nil = nothing.
	Notes func() []string
	// Draining reports that the program is about to stop: /ready says so, and
	// everything else goes on; nil = never.
	Draining func() bool
	// Behind is for how long the index has not had everything of the catalog: beyond a
	// minute /ready says so. nil = never.
	Behind func() time.Duration
}

// WithDefaults sets the fields that are nil.
func (p Program) WithDefaults() Program {
	p.Serving = p.Serving.WithDefaults()
	if p.Down == nil {
		p.Down = func() []retrieval.Down { return nil }
	}
	if p.Catalog == nil {
		p.Catalog = func(context.Context) error { return nil }
	}
	if p.Notes == nil {
		p.Notes = func() []string { return nil }
	}
	if p.Draining == nil {
		p.Draining = func() bool { return false }
	}
	if p.Behind == nil {
		p.Behind = func() time.Duration { return 0 }
	}
	return p
}

// public are what does not answer, or is incomplete, for anybody.
func (p Program) public() (list []string) {
	for _, d := range p.Down() {
		list = append(list, d.Engine+" "+d.Public())
	}
	return list
}

// mostBehind is how far behind the catalog a server may be that is sent questions.
const mostBehind = time.Minute

// Probes are the operations that tell whether the program runs, from the moment it
// listens, and whether it answers questions. They name the engines that do not answer in
// a form that anybody may read: the reasons, which may name hosts, are on the admin
// listener.
func Probes(p Program) []op.Operation {
	tools := 0
	for _, o := range p.Operations {
		if o.Tool != "" && !o.Extra {
			tools++
		}
	}
	start := time.Now()
	health := func(ctx context.Context, _ struct{}) (Health, error) {
		h := Health{Status: "ok", Down: p.public(), Tools: tools, Version: p.Version,
			UptimeSeconds: int(time.Since(start).Seconds())}
		if err := p.Catalog(ctx); err != nil {
			h.Down = append(h.Down, "catalog "+catalog.Public(err))
		}
		h.Ready, h.Progress = p.Ready()
		switch {
		case !h.Ready:
			h.Status = "loading"
		case len(h.Down) > 0:
			h.Status = "degraded"
		}
		return h, nil
	}
	ready := func(ctx context.Context, _ struct{}) (Readiness, error) {
		if p.Draining() {
			return Readiness{}, op.Unavailable(5*time.Second, "stopping")
		}
		if err := p.Catalog(ctx); err != nil {
			return Readiness{}, op.Unavailable(5*time.Second, "catalog %s", catalog.Public(err))
		}
		down := p.public()
		if ready, progress := p.Ready(); !ready {
			return Readiness{}, op.Loading(progress, down...)
		}
		if late := p.Behind(); late > mostBehind {
			return Readiness{}, op.Unavailable(5*time.Second, "the index is %v behind the catalog", late.Truncate(time.Second))
		}
		return Readiness{"ready", down, p.Notes()}, nil
	}
	return []op.Operation{
		op.New(op.Spec{ID: "get_health", Group: group, Path: "/health", Probe: true, BeforeReady: true,
			Summary: "Whether the service runs, and how many tools it has."}, health),
		op.New(op.Spec{ID: "get_readiness", Group: group, Path: "/ready", Probe: true, BeforeReady: true,
			MayFail: []error{op.ErrUnavailable},
			Summary: "Whether questions are answered: the catalog answers and the first index is complete."}, ready),
	}
}
