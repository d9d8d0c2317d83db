package meta

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/mcp"
	"almanac/api/op"
	"almanac/catalog"
)

// Resources returns the read-only snapshots for tool clients.
func Resources(b kb.Base, all []op.Operation) []mcp.Resource {
	s := service{Base: b}
	return []mcp.Resource{
		{URI: "kb://status", Name: "status", Title: "Status", Description: "Sync health, record counts by kind and the time of the last sync.", Read: func(ctx context.Context) (any, error) { return s.status(ctx, struct{}{}) }},
		mcp.ToolsResource(all),
		{URI: "kb://docs-index", Name: "docs-index", Title: "Documentation index", Description: "The documentation corpora that are indexed, by repository, with their pages' titles and ids.", Read: s.docsIndex},
	}
}

// Status is the content of kb://status, and of /status.
type Status struct {
	Network    string     `json:"network"`
	AsOf       time.Time  `json:"as_of"`
	Ready      bool       `json:"ready"`
	Healthy    bool       `json:"healthy" doc:"no source failed, none is stale, every engine answers"`
	Records    int        `json:"total_records"`
	LastSynced *time.Time `json:"last_synced"`
	Index      IndexState `json:"index"`
	Sources    []Source   `json:"sources"`
}

// IndexState tells how far the index is.
type IndexState struct {
	Records  int    `json:"records"`
	Passages int    `json:"passages"`
	Lag      int64  `json:"lag" doc:"changes not yet indexed"`
	Model    string `json:"model"`
	Down     []Down `json:"down" doc:"engines that do not answer, or hold only a part"`
}

// Down is such an engine.
type Down struct {
	Engine string `json:"engine" enum:"keyword,vector,embedder,reranker"`
	Reason string `json:"reason"`
}

func (s service) status(ctx context.Context, _ struct{}) (Status, error) {
	sources, err := s.sources(ctx, struct{}{})
	if err != nil {
		return Status{}, err
	}
	st := s.Search.Status(ctx)
	out := Status{Network: s.Network.Title, AsOf: s.Now().UTC(), Ready: st.Ready, Healthy: st.Ready && len(st.Down) == 0, Records: sources.TotalRecords,
		Index: IndexState{Records: st.Records, Passages: st.Passages, Lag: st.Lag, Model: st.Model, Down: []Down{}}, Sources: sources.Sources}
	for _, d := range st.Down {
		out.Index.Down = append(out.Index.Down, Down(d))
	}
	for _, row := range sources.Sources {
		if row.LastSynced != nil && (out.LastSynced == nil || row.LastSynced.After(*out.LastSynced)) {
			out.LastSynced = row.LastSynced
		}
		if row.Stale || row.Error != nil {
			out.Healthy = false
		}
	}
	return out, nil
}

// DocsIndex is the content of kb://docs-index.
type DocsIndex struct {
	Total   int      `json:"total"`
	Corpora []Corpus `json:"corpora"`
}

// Corpus is one repository of documentation.
type Corpus struct {
	Repository string    `json:"repository"`
	Pages      int       `json:"pages"`
	Docs       []DocPage `json:"docs"`
}

// DocPage is a page of a corpus.
type DocPage struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
	Path  string `json:"path,omitempty"`
}

func (s service) docsIndex(ctx context.Context) (any, error) {
	records, total, err := s.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}, Order: catalog.ByKey})
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	out := DocsIndex{Total: total}
	for _, r := range records {
		i, ok := at[r.Container]
		if !ok {
			i = len(out.Corpora)
			at[r.Container] = i
			out.Corpora = append(out.Corpora, Corpus{Repository: r.Container})
		}
		c := &out.Corpora[i]
		c.Pages++
		c.Docs = append(c.Docs, DocPage{r.ID, r.Title, r.Path})
	}
	return out, nil
}
