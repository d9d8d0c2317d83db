package web

import (
	"html/template"
	"strings"

	"almanac/api/kb"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/catalog/mention"
)

// namesShown is the maximum of names in a text that become links.
const namesShown = 500

// Rendered is a text of the page's record.
func (v *view) Rendered(text string) template.HTML {
	html, _ := v.markdown(look.Text{Markdown: cutBlock(text, textSize), Prefix: sectionPrefix})
	return html
}

// markdown renders a text. What names another record in it is a link there.
func (v *view) markdown(t look.Text) (template.HTML, []look.Heading) {
	names := v.namesIn(t.Markdown)
	v.resolve(names)
	for _, n := range names {
		for _, ref := range n.Refs {
			if item := v.items[ref]; item.RecordID != 0 && item.RecordID != v.Record.RecordID {
				t.Names = append(t.Names, look.Name{
					Start: n.Start, End: n.End, Path: v.h.site.Local(item.Page), Title: titleOf(item),
				})
				break
			}
		}
	}
	return look.Markdown(t)
}

func (v *view) namesIn(text string) []mention.Name {
	names := mention.Names(v.h.cfg.Proposals, v.Record.Container, text)
	return names[:min(len(names), namesShown)]
}

// titleOf is what a link that stands for a record says of it: title and state.
func titleOf(item kb.Item) string {
	return strings.TrimSuffix(short(120, item.Title)+" · "+item.State, " · ")
}

// item is the record that a reference names.
func (v *view) item(ref catalog.Ref) (kb.Item, bool) {
	v.resolve([]mention.Name{{Refs: []catalog.Ref{ref}}})
	item := v.items[ref]
	return item, item.RecordID != 0
}

// resolveAll looks up what the texts of a thread name, so that each needs no query.
func (v *view) resolveAll(posts []Post) {
	var names []mention.Name
	for _, p := range posts {
		names = append(names, v.namesIn(p.Markdown)...)
	}
	v.resolve(names[:min(len(names), namesShown)])
}

// resolve looks up the records of names that are not known yet. A page without these
// links is complete.
func (v *view) resolve(names []mention.Name) {
	var refs []catalog.Ref
	for _, n := range names {
		for _, ref := range n.Refs {
			if _, known := v.items[ref]; !known {
				refs = append(refs, ref)
				v.items[ref] = kb.Item{}
			}
		}
	}
	if len(refs) == 0 || v.h.cfg.Items == nil {
		return
	}
	found, err := v.h.cfg.Items(v.ctx, refs)
	if err != nil {
		v.h.cfg.Log.Debug("a page has no links to what its text names", "error", err)
	}
	for ref, item := range found {
		v.items[ref] = item
	}
}
