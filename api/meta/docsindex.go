package meta

import "almanac/catalog"

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
