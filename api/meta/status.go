package meta

import (
	"context"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

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
