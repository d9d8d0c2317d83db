package meta

import (
	"context"
	"encoding/json"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// StatusResource is the content of kb://status.
func StatusResource(ctx context.Context, b kb.Base) (any, error) {
	return runStatus(ctx, b, struct{}{})
}

// Tools is the content of kb://tools.
type Tools struct {
	Total int    `json:"total"`
	Items []Tool `json:"items"`
}

// Tool is one of them.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Group       string          `json:"group"`
	Description string          `json:"description"`
	Arguments   []string        `json:"arguments"`
	Required    []string        `json:"required"`
	Example     json.RawMessage `json:"example,omitempty"`
}

// ToolsResource is the content of kb://tools.
func ToolsResource(all []op.Operation) Tools {
	t := Tools{}
	for _, o := range all {
		if o.Tool == "" {
			continue
		}
		tool := Tool{o.Tool, o.Title, o.Group, o.Text(), o.ToolIn.PropertyOrder, o.ToolIn.Required, nil}
		if in, ok := o.ExampleInput(); ok {
			tool.Example = o.Call(in)
		}
		t.Items = append(t.Items, tool)
	}
	t.Total = len(t.Items)
	return t
}

// DocsIndexResource is the content of kb://docs-index.
func DocsIndexResource(ctx context.Context, b kb.Base) (any, error) {
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}, Order: catalog.ByKey}
	records, _, err := b.Catalog.List(ctx, q)
	return indexDocs(records), err
}

// DocsIndex lists the pages of documentation by repository.
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

// indexDocs makes the index of pages, in their order.
func indexDocs(pages []catalog.Record) DocsIndex {
	at := map[string]int{}
	out := DocsIndex{Total: len(pages)}
	for _, r := range pages {
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
	return out
}
