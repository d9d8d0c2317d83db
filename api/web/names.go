package web

import (
	"cmp"
	"html/template"
	"strconv"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/api/library"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/catalog/mention"
	"almanac/catalog/network"
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

// naming is the address of the place where what refers to a record names it, if its text
// does: what a header says is not shown there.
func (h *Handler) naming(x kb.Reference, of library.Record) string {
	prefix, page := sectionPrefix, h.site.Local(x.Page)
	if catalog.Kind(x.Kind).Role() == catalog.RoleThread {
		prefix = "p1-"
	}
	switch catalog.Relation(x.Relation) {
	case catalog.Mentions, catalog.References, catalog.Cites:
		return page + "#" + look.Naming(prefix, h.site.Local(of.Page))
	}
	return page
}

// titleOf is what a link that stands for a record says of it: title and state.
func titleOf(item kb.Item) string {
	return strings.TrimSuffix(short(120, item.Title)+" · "+cmp.Or(item.StatusRaw, item.State), " · ")
}

// numbered is the title of a record's page: with the number that people know it by, and
// the name of the tab if it is not the first. A comment is called as what it is on.
func numbered(r library.Record, tab string) string {
	title := r.Title
	number, _ := r.Data["number"].(float64)
	switch kind := catalog.Kind(r.Kind); {
	case kind == catalog.KindCIP:
		title = r.Key + " " + title
	case kind == catalog.KindComment && r.Parent != nil:
		title = "Re: " + r.Parent.Title
	case number > 0 && (kind.Role() == catalog.RoleWork || kind == catalog.KindDiscussion || kind == catalog.KindGrant):
		title += " #" + strconv.Itoa(int(number))
	}
	if tab != "" {
		title += ": " + tab
	}
	return title
}

// retitle calls comments as what they are on.
func (v *view) retitle(hits []hit) {
	for i := range hits {
		x := &hits[i]
		v.retitle(x.Folded)
		if x.Kind != string(catalog.KindComment) {
			continue
		}
		for _, n := range mention.Names(network.Proposals{}, "", x.Title) {
			for _, ref := range n.Refs {
				if item, ok := v.item(ref); ok {
					x.Title = "Re: " + item.Title
					if x.Matches != nil { // those of the title were in the other one
						x.Matches = &find.Matches{Snippet: x.Matches.Snippet}
					}
				}
			}
		}
	}
}

// threaded leaves out the messages of threads that are there themselves.
func threaded(items []kb.Reference) (out []kb.Reference) {
	name := func(x kb.Reference) string { return strings.TrimPrefix(x.Title, "Re: ") }
	threads := map[string]bool{}
	for _, x := range items {
		if catalog.Kind(x.Kind).IsThread() {
			threads[name(x)] = true
		}
	}
	for _, x := range items {
		if !catalog.Kind(x.Kind).InThread() || !threads[name(x)] {
			out = append(out, x)
		}
	}
	return out
}

// opening is how the text of the page begins.
func (v *view) opening() string {
	var source string
	switch extra := v.Extra.(type) {
	case []Post:
		if len(extra) > 0 {
			source = extra[0].Markdown
		}
	default:
		if v.Text != nil {
			source = v.Text.Markdown
		}
	}
	return openingOf(source)
}

// openingOf is how a text begins, without headings and code.
func openingOf(source string) string {
	for paragraph := range strings.SplitSeq(source[:min(len(source), 4000)], "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" && !strings.ContainsAny(paragraph[:1], "#`<|-=") {
			if words := look.Plain(paragraph); words != "" {
				return words
			}
		}
	}
	return ""
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
