// Package meta holds the operations on the service itself: its endpoints, its
// sources and its health, and the resources that describe it.
package meta

import (
	"cmp"
	"context"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{sources, status, popular, zero, violations}

// SourcesResponse lists the sources, one row per kind of content. The name is
// published in OpenAPI.
type SourcesResponse struct {
	TotalRecords int      `json:"total_records"`
	SourceCount  int      `json:"source_count"`
	Sources      []Source `json:"sources"`
}

// Source is one kind of content. If several sources feed a kind, the row has
// their oldest last success and largest age.
type Source struct {
	Type  string `json:"type"`
	Desc  string `json:"desc"`
	Count int    `json:"count"`
	kb.Freshness
	Names []string `json:"names" doc:"sources that feed it: values of search's source"`
}

var sources = kb.New(op.Spec{
	ID: "list_sources", Path: "/api/v1/sources",
	Doc: "What is indexed, by kind, and how fresh it is.",
}, runSources)

func runSources(ctx context.Context, b kb.Base, _ struct{}) (SourcesResponse, error) {
	counts, err := b.Counts(ctx)
	if err != nil {
		return SourcesResponse{}, err
	}
	states, err := b.Catalog.Sources(ctx)
	if err != nil {
		return SourcesResponse{}, err
	}
	out := SourcesResponse{Sources: fed(counts, states, b.Now())}
	for i := range out.Sources {
		row := &out.Sources[i]
		row.Desc = cmp.Or(b.Network.Descriptions[row.Type], row.Desc)
		out.TotalRecords += row.Count
	}
	out.SourceCount = len(out.Sources)
	return out, nil
}

// fed returns the kinds that have records, in the catalog's order. Derived
// records come from release notes: they are as fresh as the releases.
func fed(counts []catalog.Count, states []catalog.SourceState, now time.Time) (out []Source) {
	for _, info := range catalog.Kinds {
		row := Source{Type: string(info.Kind), Desc: info.Description}
		row.Names, row.Count = feeding(counts, info.Kind)
		origins := slices.Clone(row.Names)
		if slices.Contains(origins, catalog.DerivedSource) {
			releases, _ := feeding(counts, catalog.KindRelease)
			origins = append(origins, releases...)
		}
		for _, st := range states {
			if slices.Contains(origins, st.Name) {
				row.Add(st, now)
			}
		}
		if row.Count > 0 {
			out = append(out, row)
		}
	}
	return out
}

// feeding returns the sources of a kind, and how many records it has.
func feeding(counts []catalog.Count, kind catalog.Kind) (names []string, n int) {
	for _, c := range counts {
		if c.Kind != kind {
			continue
		}
		n += c.N
		if !slices.Contains(names, c.Source) {
			names = append(names, c.Source)
		}
	}
	return names, n
}

// Status is the content of kb://status, and of /status.
type Status struct {
	Network    string     `json:"network"`
	AsOf       time.Time  `json:"as_of" doc:"to the second"`
	Ready      bool       `json:"ready"`
	Healthy    bool       `json:"healthy" doc:"no source failed, none is stale or empty, every engine answers"`
	Records    int        `json:"total_records"`
	LastSynced *time.Time `json:"last_synced"`
	Index      IndexState `json:"index"`
	Sources    []Source   `json:"sources"`
	Unread     []Unread   `json:"unread" doc:"configured sources that have given no record, unless they work"`
	Failed     int        `json:"failed_sources" doc:"how many configured sources could not be read in their last run"`
	Configured int        `json:"configured_sources" doc:"how many sources the network has"`
}

// Unread is a source that has given no record.
type Unread struct {
	Name  string `json:"name"`
	State string `json:"state" enum:"failed,not_read_yet,stale,empty" doc:"empty: nothing of it can be read"`
	kb.Freshness
}

// IndexState is the progress of the index.
type IndexState struct {
	Records  int    `json:"records"`
	Passages int    `json:"passages"`
	Lag      int64  `json:"lag" doc:"changes not yet indexed"`
	Model    string `json:"model"`
	Down     []Down `json:"down" doc:"engines that do not answer or are incomplete"`
	Next     *Next  `json:"next" doc:"the index of another model that is built meanwhile and takes over when complete"`
	Remark   string `json:"remark,omitempty" doc:"why the index is not of the better model"`
}

// Next is how far the index of another model is.
type Next struct {
	Model       string  `json:"model"`
	Embedded    int     `json:"embedded" doc:"passages"`
	Passages    int     `json:"passages"`
	Share       float64 `json:"share" doc:"from 0 to 1"`
	SecondsLeft *int    `json:"seconds_left" doc:"estimated"`
}

// Down is an engine that does not answer or is incomplete.
type Down struct {
	Engine string `json:"engine" enum:"keyword,vector,embedder,reranker"`
	Reason string `json:"reason" doc:"does not answer, or is being filled"`
}

var status = kb.New(op.Spec{
	ID: "get_status", Path: "/status", BeforeReady: true,
	Doc: "What works: index, engines and sources.",
}, runStatus)

func runStatus(ctx context.Context, b kb.Base, _ struct{}) (Status, error) {
	sources, err := runSources(ctx, b, struct{}{})
	if err != nil {
		return Status{}, err
	}
	states, err := b.SourceStates(ctx)
	if err != nil {
		return Status{}, err
	}
	st := b.Search.Status(ctx)
	out := Status{
		Network: b.Network.Title, AsOf: b.Now().UTC().Truncate(time.Second), Ready: st.Ready,
		Healthy: st.Ready && len(st.Down) == 0, Records: sources.TotalRecords,
		Index:   IndexState{Records: st.Records, Passages: st.Passages, Lag: st.Lag, Model: st.Model},
		Sources: sources.Sources, Configured: len(states),
	}
	out.Index.Remark = st.Remark
	if f := st.Next; f != nil {
		out.Index.Next = &Next{Model: f.Model, Embedded: f.Vectors, Passages: f.Passages, Share: f.Share()}
		if left := int(f.Left.Seconds()); f.Left > 0 {
			out.Index.Next.SecondsLeft = &left
		}
	}
	for _, d := range st.Down {
		out.Index.Down = append(out.Index.Down, Down{d.Engine, d.Public()})
	}
	for _, row := range sources.Sources {
		if row.LastSynced != nil && (out.LastSynced == nil || row.LastSynced.After(*out.LastSynced)) {
			out.LastSynced = row.LastSynced
		}
		if row.Stale || row.Error != nil {
			out.Healthy = false
		}
	}
	for _, st := range states {
		standing := st.Standing(b.Now())
		switch standing {
		case catalog.SourceFailed:
			out.Failed++
			out.Healthy = false
		case catalog.SourceStale, catalog.SourceEmpty:
			out.Healthy = false
		}
		gave := slices.ContainsFunc(out.Sources, func(row Source) bool { return slices.Contains(row.Names, st.Name) })
		if !gave && standing != catalog.SourceCurrent {
			row := Unread{Name: st.Name, State: standing}
			row.Add(st, b.Now())
			out.Unread = append(out.Unread, row)
		}
	}
	return out, nil
}

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
