// Package cips holds the operations on improvement proposals: rows, texts,
// history, attachments, references, summaries and dependencies.
package cips

import (
	"context"
	"errors"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/dates"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{
	list, tldrs, batch, graph, get, history, attachments, tldr, mentions, citations, chain, implementation,
	voteRequests, getVoteRequest, voteOutcome, formalVotes, voters, outcomes,
}

var (
	kinds    = []catalog.Kind{catalog.KindCIP}
	notFound = []error{op.ErrNotFound}
)

type idIn struct {
	ID arg.CIPID `json:"id" required:"true"`
}

func isNotFound(err error) bool { return errors.Is(err, op.ErrNotFound) }

type listIn struct {
	Status string `json:"status" enum:"{{statuses}}" open:"true" doc:"only proposals in this status"`
	Type   string `json:"type" doc:"only proposals of this type, such as Governance" maxLength:"100"`
	arg.Paging
}

var list = kb.New(op.Spec{
	ID: "list_cips", Path: "/api/v1/cips", Tool: "list_cips",
	Kinds: []catalog.Kind{catalog.KindCIP}, Example: listIn{Status: "Final", Paging: arg.Paging{Limit: 5}},
	Doc: `
List improvement proposals
Improvement proposals with status, type and author, by number.

Lists improvement proposals (id, title, status, type, author), numbered ones and open drafts. Read one with
get_cip.
`,
}, runList)

func runList(ctx context.Context, b kb.Base, in listIn) (kb.List[kb.CIP], error) {
	q := kb.OfStatus(catalog.ListQuery{Kinds: kinds, Order: catalog.ByKey}, in.Status)
	if _, known := b.Network.Proposals.Status(in.Status); in.Status != "" && !known {
		used, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: kinds, AllTags: q.AllTags, Limit: 1})
		if err != nil {
			return kb.List[kb.CIP]{}, err
		}
		if len(used) == 0 { // no proposal uses the word either
			return kb.List[kb.CIP]{}, op.InvalidField("status", "must be one of %s",
				strings.Join(b.Network.Proposals.Words(), ", "))
		}
	}
	if in.Type != "" {
		q.AllTags = append(q.AllTags, catalog.Tag(catalog.TagType, in.Type))
	}
	return kb.Rows(ctx, b, q, in.Paging, kb.Base.CIPRow)
}

type getIn struct {
	ID     arg.CIPID  `json:"id" required:"true"`
	Cursor arg.Cursor `json:"cursor"`
}

// Full is a proposal with its text.
type Full struct {
	kb.CIP
	InForce bool `json:"in_force" doc:"its status says it is decided, and no other that is takes its place"`
	read.Text
	Header map[string]string `json:"header" doc:"every header field, as written"`
	Layer  string            `json:"layer,omitempty"`
}

var get = kb.New(op.Spec{
	ID: "get_cip", Path: "/api/v1/cips/{id}", Tool: "get_cip", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindCIP},
	Forms: []op.Form{read.Markdown(func(f Full) (title, url, text string) { return f.Title, f.URL, f.Content })},
	Doc: `
Read an improvement proposal
One proposal with its full text.

Reads one improvement proposal: its header fields and full markdown text, up to 50,000 characters at a time. Takes
{{label}}, {{short}} or a draft's PR-203.
`,
}, runGet)

func runGet(ctx context.Context, b kb.Base, in getIn) (Full, error) {
	r, err := b.CIP(ctx, in.ID)
	if err != nil {
		return Full{}, err
	}
	return fullOf(ctx, b, r, in.Cursor)
}

func fullOf(ctx context.Context, b kb.Base, r catalog.Record, cursor arg.Cursor) (f Full, err error) {
	if f.CIP, err = b.CIPRow(r); err != nil {
		return f, err
	}
	if f.Text, err = read.Cut(r.Body, cursor); err != nil {
		return f, err
	}
	d, err := kb.Decode[catalog.CIP](r)
	if err != nil {
		return f, err
	}
	f.Header, f.Layer = d.Header, d.Layer
	f.InForce, err = inForce(ctx, b, r, d)
	return f, err
}

// inForce reports whether a proposal is decided, and none that replaces it is.
func inForce(ctx context.Context, b kb.Base, r catalog.Record, d catalog.CIP) (bool, error) {
	if !b.IsDecided(r) {
		return false, nil
	}
	for _, key := range d.SupersededBy {
		next, err := b.Catalog.Get(ctx, catalog.Ref{Kind: catalog.KindCIP, Key: key})
		if err != nil && !errors.Is(err, catalog.ErrNotFound) {
			return false, err
		}
		if err == nil && b.IsDecided(next) {
			return false, nil
		}
	}
	return true, nil
}

var batch = kb.New(op.Spec{
	ID: "batch_cips", Method: "POST", Path: "/api/v1/cips/batch",
	Doc: "Several proposals with full text, in input order, null for misses.",
}, runBatch)

type batchIn struct {
	IDs []arg.CIPID `json:"ids" maxItems:"50" required:"true" doc:"ids such as {{short}}, {{key}} or PR-203, at most 50"`
}

// Batch is the answer of a batch lookup.
type Batch[T any] struct {
	Items []*T `json:"items" doc:"in input order; null for unknown ids"`
}

func runBatch(ctx context.Context, b kb.Base, in batchIn) (Batch[Full], error) {
	return each(ctx, b, in.IDs, func(b kb.Base, r catalog.Record) (Full, error) { return fullOf(ctx, b, r, "") })
}

// each looks ids up in order.
func each[T any](
	ctx context.Context, b kb.Base, ids []arg.CIPID, row func(kb.Base, catalog.Record) (T, error),
) (Batch[T], error) {
	out := Batch[T]{Items: make([]*T, len(ids))}
	for i, id := range ids {
		r, err := b.CIP(ctx, id)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return Batch[T]{}, err
		}
		v, err := row(b, r)
		if err != nil {
			return Batch[T]{}, err
		}
		out.Items[i] = &v
	}
	return out, nil
}

var tldr = kb.New(op.Spec{
	ID: "get_cip_tldr", Path: "/api/v1/cips/{id}/tldr", MayFail: notFound,
	Doc: "A short summary of one proposal, made from its abstract at ingest.",
}, runTldr)

var tldrs = kb.New(op.Spec{
	ID: "list_cip_tldrs", Path: "/api/v1/cips/tldrs", Post: true,
	Doc: "Short summaries of several proposals, in input order, null for misses.",
}, runTldrs)

// CipTldr is the short summary of a proposal. The name is published in OpenAPI.
type CipTldr struct {
	ID          string     `json:"id"`
	Title       string     `json:"title"`
	TLDR        *string    `json:"tldr" doc:"null when there is nothing to summarise"`
	Cached      bool       `json:"cached" doc:"whether there is a summary: all are made at ingest, none on request"`
	GeneratedAt *time.Time `json:"generated_at"`
	URL         string     `json:"url" format:"uri"`
	Status      string     `json:"status"`
	StatusRaw   string     `json:"status_raw" doc:"as the network spells it"`
}

func runTldr(ctx context.Context, b kb.Base, in idIn) (CipTldr, error) {
	r, err := b.CIPHead(ctx, in.ID)
	if err != nil {
		return CipTldr{}, err
	}
	return tldrOf(b, r)
}

func runTldrs(ctx context.Context, b kb.Base, in batchIn) (Batch[CipTldr], error) {
	return each(ctx, b, in.IDs, tldrOf)
}

func tldrOf(b kb.Base, r catalog.Record) (CipTldr, error) {
	d, err := kb.Decode[catalog.CIP](r)
	t := CipTldr{ID: b.ID(r), Title: r.Title, URL: b.URL(r), Status: r.State, StatusRaw: d.RawStatus}
	if r.Summary == "" {
		return t, err
	}
	t.TLDR, t.Cached = &r.Summary, true
	if at := dates.At(d.TLDRAt, dates.Instant); !at.IsZero() {
		t.GeneratedAt = kb.Time(at)
	}
	return t, err
}

// Attachments are the files beside a proposal.
type Attachments struct {
	ID    string       `json:"id"`
	Items []Attachment `json:"items"`
	Total int          `json:"total"`
}

// Attachment is one file.
type Attachment struct {
	RecordID  int64  `json:"record_id" doc:"reads the text with get_doc"`
	Filename  string `json:"filename"`
	URL       string `json:"url"`
	Bytes     int64  `json:"bytes"`
	Pages     int    `json:"pages,omitempty"`
	MediaType string `json:"media_type"`
	Role      string `json:"role" doc:"proposal, vote_record, figure or other"`
	TextLayer bool   `json:"text_layer" doc:"whether its text could be read; scanned files have none"`
	Path      string `json:"path,omitempty"`
}

var attachments = kb.New(op.Spec{
	ID: "get_cip_attachments", Path: "/api/v1/cips/{id}/attachments", Tool: "get_cip_attachments",
	Kinds: []catalog.Kind{catalog.KindAttachment}, MayFail: notFound,
	Doc: `
Attachments of a proposal
Files beside one proposal: documents, figures, signed votes.

Lists the files beside one improvement proposal: supporting documents, figures and signed-vote PDFs, with
their addresses.
`,
}, runAttachments)

func runAttachments(ctx context.Context, b kb.Base, in idIn) (Attachments, error) {
	r, err := b.CIPHead(ctx, in.ID)
	if err != nil {
		return Attachments{}, err
	}
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindAttachment}, Parent: r.ID, Order: catalog.ByTitle}
	all, err := kb.Rows(ctx, b, q, arg.Paging{}, func(b kb.Base, c catalog.Record) (Attachment, error) {
		d, err := kb.Decode[catalog.Attachment](c)
		return Attachment{
			RecordID: c.ID, Filename: d.Filename, URL: b.URL(c), MediaType: d.MediaType, Role: d.Role,
			Bytes: d.Bytes, Pages: d.Pages, TextLayer: d.TextLayer, Path: c.Path,
		}, err
	})
	return Attachments{b.ID(r), all.Items, all.Total}, err
}
