package proposals

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"almanac/catalog"
	"almanac/ingest/gitrepo"
	"almanac/text/pdf"
)

// maxAttachmentText is the maximum text kept of an attachment, in characters.
const maxAttachmentText = 500_000

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
func (s *syncRun) beside(numbering Numbering) []attached {
	var list []attached
	for _, file := range sortedKeys(s.files) {
		if !s.isAttachment(numbering, file) {
			continue
		}
		number := numbering.Of(file)
		own := numbering.Files[number]
		text, ok := s.version(own, s.files[own])
		if !ok {
			s.out.Keep(catalog.Ref{Kind: catalog.KindAttachment, Key: file})
			continue
		}
		list = append(list, attached{
			file: file, parent: catalog.Ref{Kind: catalog.KindCIP, Key: s.reader.Key(number)},
			label: linkLabel(text, path.Base(file)),
		})
	}
	return list
}

// isAttachment reports whether a file is read as one that lies beside a
// proposal.
func (s *syncRun) isAttachment(numbering Numbering, file string) bool {
	return mediaType(file) != "" && s.numberOf[file] == "" && !s.exclude.Match(file) && numbering.Of(file) != ""
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
		return "figure"
	case voteLabel.MatchString(a.label), a.label == "" && voteName.MatchString(base):
		return "vote_record"
	case proposalText.MatchString(a.label), len(r.cited(base)) > 0:
		return "proposal"
	}
	return "other"
}

// attached yields a file next to a proposal.
func (s *syncRun) attached(ctx context.Context, a attached) error {
	ref := catalog.Ref{Kind: catalog.KindAttachment, Key: a.file}
	return s.put(ctx, a.file, ref, func() (catalog.Entry, error) { return s.attachment(a) })
}

// attachment reads a file next to a proposal; the text of a PDF becomes its
// body.
func (s *syncRun) attachment(a attached) (catalog.Entry, error) {
	hash := s.files[a.file]
	data, err := s.repo.Blob(hash, gitrepo.MaxBlob)
	if err == nil {
		err = s.env.Hand.Take(data)
	}
	if err != nil {
		return catalog.Entry{}, err
	}
	info := catalog.Attachment{
		Filename: path.Base(a.file), MediaType: mediaType(a.file), Role: a.role(s.reader), Bytes: int64(len(data)),
		Blob: hash.String(),
	}
	rec := catalog.Record{
		Kind: catalog.KindAttachment, Key: a.file, Title: info.Filename,
		URL:  s.opts.URL.file(s.repo.Head.Hash.String(), a.file),
		Path: a.file, Container: s.opts.Name, Category: info.Role,
	}
	switch {
	case info.MediaType == "application/pdf":
		if rec.Body, info.Pages, err = pdf.Text(data, maxAttachmentText); err != nil {
			s.out.Warn(a.file, fmt.Sprintf("its text cannot be read: %v", err))
		}
	case strings.HasPrefix(info.MediaType, "text/"):
		rec.Body = cutBytes(asMarkdown(a.file, string(data)), maxAttachmentText)
	}
	info.TextLayer = rec.Body != ""
	if o := s.origins[a.file]; o.added.commit != nil {
		rec.CreatedAt = o.added.commit.Committer.When.UTC()
		rec.UpdatedAt = rec.CreatedAt
		if o.updated.commit != nil {
			rec.UpdatedAt = o.updated.commit.Committer.When.UTC()
		}
		rec.LastActivityAt = rec.UpdatedAt
	}
	e, err := entry(rec, info, nil)
	e.Parent = a.parent
	return e, err
}
