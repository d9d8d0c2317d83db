package snapshot

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"path"
	"strings"

	"almanac/catalog"
)

// attachmentLine is one line of the file that lists attachments.
type attachmentLine struct {
	CIP        string `json:"cip"`
	Filename   string `json:"filename"`
	SourcePath string `json:"source_path"`
	Blob       string `json:"blob"`
	Bytes      int64  `json:"bytes"`
	Kind       string `json:"kind"`
	URL        string `json:"url"`
	Stored     string `json:"stored"` // path of the file, if the snapshot has it
	TextLayer  bool   `json:"text_layer"`
	Text       string `json:"text"` // path of its extracted text
}

// attachments yields a record for each listed attachment, with or without text,
// as a child of its proposal. Stored files that are not listed are reported.
func (r *run) attachments(ctx context.Context, kind catalog.Kind, rows []row) error {
	listed := map[string]bool{}
	if r.options.Attachments != "" {
		repo := r.row(r.options.Attachments).Repo
		var lines []attachmentLine
		err := index(r.archive, r.options.Attachments, func(l attachmentLine) error {
			if l.CIP == "" || l.SourcePath == "" {
				return errors.New("lacks its proposal or its path")
			}
			lines = append(lines, l)
			return nil
		})
		if err != nil {
			return err
		}
		for _, l := range lines {
			listed[l.Stored], listed[l.Text] = true, true
			e, err := r.attachment(repo, l)
			ref := catalog.Ref{Kind: kind, Key: l.SourcePath}
			if err := r.put(ctx, l.SourcePath, ref, []catalog.Entry{e}, err); err != nil {
				return err
			}
		}
	}
	for _, row := range rows {
		if !listed[row.Path] {
			r.out.Warn(row.Path, "stored, but listed as an attachment of no proposal")
		}
	}
	r.step(len(rows))
	return nil
}

func (r *run) attachment(repo string, l attachmentLine) (catalog.Entry, error) {
	name := cmp.Or(l.Filename, path.Base(l.SourcePath))
	media, _, _ := strings.Cut(mime.TypeByExtension(strings.ToLower(path.Ext(name))), ";")
	data := catalog.Attachment{
		Filename: name, MediaType: cmp.Or(media, "application/octet-stream"), Role: attachmentRole(l.Kind),
		Bytes: l.Bytes, TextLayer: l.TextLayer, Blob: l.Blob,
	}
	rec := catalog.Record{
		Kind: catalog.KindAttachment, Key: l.SourcePath, Title: name, URL: l.URL, Path: cmp.Or(l.Stored, l.SourcePath),
		Container: repo, Category: data.Role,
	}
	if l.Text != "" {
		text, err := r.item(l.Text)
		if err != nil {
			return catalog.Entry{}, err
		}
		rec.Body = strings.TrimSpace(text)
	}
	e, err := rec.With(data)
	e.Parent = catalog.Ref{Kind: catalog.KindCIP, Key: r.network.Proposals.Key(l.CIP)}
	return e, err
}

func attachmentRole(kind string) string {
	switch kind {
	case "vote_record", catalog.AttachmentFigure:
		return kind
	case "proposal", "proposal_pdf":
		return "proposal"
	}
	return "other"
}
