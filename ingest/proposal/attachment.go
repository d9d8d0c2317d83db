package proposal

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/text/pdf"
)

const (
	maxAttachment     = 32 << 20 // bytes that are read of an attachment
	maxAttachmentText = 500_000  // characters that are kept of its text
)

// attached is a file next to a proposal.
type attached struct {
	file   string
	parent catalog.Ref
	label  string // text of the proposal's link to the file
}

// mediaTypes of the files that are attachments. Others (sources, schemas)
// belong to the repository, not to a proposal.
var mediaTypes = map[string]string{
	".pdf": "application/pdf", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
	".svg": "image/svg+xml", ".webp": "image/webp", ".md": "text/markdown", ".markdown": "text/markdown",
	".rst": "text/x-rst", ".mediawiki": "text/x-wiki", ".txt": "text/plain", ".csv": "text/csv",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

func mediaType(file string) string { return mediaTypes[strings.ToLower(path.Ext(file))] }

// beside lists the files in the directories of numbered proposals, except the
// proposals themselves.
func (r *reading) beside(ctx context.Context, numbering Numbering) []attached {
	var list []attached
	for _, file := range slices.Sorted(maps.Keys(r.repo.Files)) {
		if !r.repo.Whole || !r.isAttachment(numbering, file) {
			continue
		}
		number := numbering.Of(file)
		own := numbering.Files[number]
		v, err := r.version(ctx, own, r.repo.Files[own])
		if err != nil {
			r.skip(r.at(own), err)
			r.out.Keep(catalog.Ref{Kind: catalog.KindAttachment, Key: file})
			continue
		}
		list = append(list, attached{
			file: file, parent: catalog.Ref{Kind: catalog.KindCIP, Key: r.reader.Key(number)},
			label: linkLabel(v.text, path.Base(file)),
		})
	}
	return list
}

// isAttachment reports whether a file is one that lies beside a proposal.
func (r *reading) isAttachment(numbering Numbering, file string) bool {
	return mediaType(file) != "" && r.numberOf[file] == "" && !r.layout.exclude.Match(file) && numbering.Of(file) != ""
}

var linked = regexp.MustCompile(`\[([^\[\]]*)\]\(<?([^()<>]*(?:\([^()]*\)[^()<>]*)*)>?\)`)

// linkLabel returns the text of the link to a file in a proposal.
func linkLabel(text, base string) string {
	for _, m := range linked.FindAllStringSubmatch(text, -1) {
		target, err := url.PathUnescape(strings.TrimSpace(m[2]))
		if err == nil && path.Base(target) == base {
			return plain(m[1])
		}
	}
	return ""
}

var (
	voteName     = regexp.MustCompile(`(?i)^votes?\b|\bvotes?\b.*record|_votes?\b`)
	voteLabel    = regexp.MustCompile(`(?i)^votes?\b`)
	proposalText = regexp.MustCompile(`(?i)\b(?:text|proposal)\b`)
)

// role returns the role of an attachment by its type, its name and the text of
// the link to it.
func (a attached) role(r Reader) string {
	base := path.Base(a.file)
	switch kind := mediaType(a.file); {
	case strings.HasPrefix(kind, "image/"):
		return catalog.AttachmentFigure
	case voteLabel.MatchString(a.label), a.label == "" && voteName.MatchString(base):
		return "vote_record"
	case proposalText.MatchString(a.label), len(r.cited(base)) > 0:
		return "proposal"
	}
	return "other"
}

// attachment puts a file next to a proposal; the text of a PDF becomes its body.
func (r *reading) attachment(ctx context.Context, a attached) error {
	ref, blob := catalog.Ref{Kind: catalog.KindAttachment, Key: a.file}, r.repo.Files[a.file]
	return r.put(ctx, a.file, ref, blob, func() (catalog.Entry, error) {
		data, err := r.repo.Content(ctx, blob, maxAttachment)
		if err == nil {
			err = r.out.Begin(data)
		}
		if err != nil {
			return catalog.Entry{}, err
		}
		info := catalog.Attachment{
			Filename: path.Base(a.file), MediaType: mediaType(a.file), Role: a.role(r.reader), Bytes: int64(len(data)),
			Blob: blob,
		}
		o := r.origins[a.file]
		rec := catalog.Record{
			Kind: ref.Kind, Key: ref.Key, Title: info.Filename, URL: r.repo.URL(a.file, ""), Path: a.file,
			Container: r.repo.Name, Category: info.Role, CreatedAt: o.created.UTC(), UpdatedAt: o.updated.UTC(),
		}
		rec.LastActivityAt = rec.UpdatedAt
		switch {
		case info.MediaType == "application/pdf":
			if rec.Body, info.Pages, err = pdf.Text(data, maxAttachmentText); err != nil {
				r.out.Warn(a.file, fmt.Sprintf("its text cannot be read: %v", err))
			}
		case strings.HasPrefix(info.MediaType, "text/"):
			rec.Body = cutBytes(asMarkdown(a.file, string(data)), maxAttachmentText)
		}
		info.TextLayer = rec.Body != ""
		e, err := entry(rec, info, nil, File{}, nil)
		e.Parent = a.parent
		return e, err
	})
}
