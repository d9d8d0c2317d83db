package cips

import (
	"slices"

	"almanac/api/kb"
	"almanac/catalog"
)

// citationSource is one source of citations.
type citationSource struct {
	Name    string
	Count   int
	Samples []kb.Linked // the first of them
}

// citing names the sources of citations in the order of the answer. The last
// holds every other kind.
var citing = []struct {
	name  string
	kinds []catalog.Kind
}{
	{"cips", []catalog.Kind{catalog.KindCIP, catalog.KindAttachment}},
	{"forum", []catalog.Kind{catalog.KindTopic, catalog.KindPost}},
	{"mail", []catalog.Kind{catalog.KindMailThread, catalog.KindMailMessage}},
	{"forge", []catalog.Kind{
		catalog.KindIssue, catalog.KindPull, catalog.KindDiscussion, catalog.KindComment, catalog.KindRelease,
		catalog.KindRepo,
	}},
	{"blog", []catalog.Kind{catalog.KindBlog}},
	{"videos", []catalog.Kind{catalog.KindVideo}},
	{"proposals", []catalog.Kind{catalog.KindGrant}},
	{"docs", nil},
}

// citationsBySource counts what cites a proposal by source, with at most some
// samples of each, in the order of the list. Every source is in the answer.
func citationsBySource(linked []kb.Linked, samples int) []citationSource {
	out := make([]citationSource, len(citing))
	for i, source := range citing {
		out[i].Name = source.name
	}
	for _, l := range linked {
		at := len(citing) - 1
		for i, source := range citing {
			if slices.Contains(source.kinds, l.Record.Kind) {
				at = i
			}
		}
		source := &out[at]
		source.Count++
		if len(source.Samples) < samples {
			source.Samples = append(source.Samples, l)
		}
	}
	return out
}
