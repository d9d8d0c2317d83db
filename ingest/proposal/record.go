package proposal

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/catalog/mention"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/text/dates"
	"almanac/text/markdown"
)

// ErrNotProposal: the file has neither a number nor a pull request to key it by
// (a template, a readme).
var ErrNotProposal = errors.New("neither numbered nor a pull request")

// Reader makes catalog entries of proposal files.
type Reader struct {
	Network network.Network
	// Register, if not nil, collects the numbered proposals and resolves drafts
	// against them, so drafts must be read after them.
	Register *Register
	// Known are numbers of files from a better source than the files.
	Known map[string]string
	// Warn, if not nil, is called with oddities of a file that is still read.
	Warn func(locator, message string)
}

// File is a proposal's file and its metadata.
type File struct {
	Path       string // in its repository
	Text       string // as Markdown
	header     Header
	URL        string
	Repository string // Record.Container
	// Number is the proposal's number if known from a better source than the
	// file; empty = from the header, then from the path.
	Number string
	// Pull is the pull request of a draft (open or closed) or of a grant
	// proposal; nil otherwise.
	Pull *catalog.PullRequest
	// Forge is what a forge says of it; nil if none was asked.
	Forge *Forge
	// Amends says that the pull request changes a file of the branch instead of
	// adding one.
	Amends bool
	// Index is the proposal's row in the repository's index table. It fills
	// gaps in the header.
	Index     IndexRow
	CreatedAt time.Time // when the file first appeared; used if the header has no date
	UpdatedAt time.Time // of its last change
	// Files are all files of a grant's pull request; empty = Path alone.
	Files []string
}

func (r Reader) warn(locator, format string, args ...any) {
	if r.Warn != nil {
		r.Warn(locator, fmt.Sprintf(format, args...))
	}
}

// proposal makes the entry of an improvement proposal: keyed by its number
// (CIP-0056), or by its pull request (PR-203) if that is not merged.
// ErrNotProposal if it has neither.
func (r Reader) proposal(in File) (catalog.Entry, error) {
	h := in.header
	rec := catalog.Record{Kind: catalog.KindCIP, URL: in.URL, Path: in.Path, Container: in.Repository, Body: in.Text}
	data := catalog.CIP{
		RawStatus: r.statusWord(h.Status), Category: h.Category, Authors: notNil(h.Authors), Layer: h.Layer,
		Created: h.Created, Approved: h.Approved, License: h.License, Discussions: h.Discussions, Header: h.Fields,
		Pull: in.Pull,
	}
	draft, number := false, ""
	switch {
	case in.Pull != nil && in.Pull.State != "merged":
		rec.Key = network.DraftKey(in.Pull.Number)
		data.RawStatus = in.Pull.State
		rec.State = r.draftState(in.Pull.State)
		draft = true
	default:
		at := r.pathNumber(in.Path)
		if number = cmp.Or(Numeral(in.Number), h.Number, at); number == "" {
			return catalog.Entry{}, fmt.Errorf("proposal: %s: %w", in.Path, ErrNotProposal)
		}
		switch {
		case h.Number != "" && h.Number != number:
			r.warn(in.Path, "the header says number %s", h.Number)
		case h.Number != "" && at != "" && at != number:
			r.warn(in.Path, "the header says number %s, the path %s; the header counts", h.Number, at)
		}
		rec.Key = r.Key(number)
		data.Number = r.Network.Proposals.ID(rec.Key)
		data.RawStatus = cmp.Or(data.RawStatus, r.statusWord(in.Index.Status))
		rec.State = r.Status(in.Path, data.RawStatus)
	}
	data.Requires = r.keys(h.Fields["Requires"], rec.Key)
	data.Replaces = r.keys(h.Fields["Replaces"], rec.Key)
	data.SupersededBy = r.keys(h.Fields["Superseded-By"], rec.Key)
	rec.Title = r.title(h, in)
	var links []catalog.Link
	if draft {
		links = r.settle(&rec, &data, h, in)
	} else {
		r.Register.add(number, rec.Title)
	}
	rec.Category = cmp.Or(h.Type, in.Index.Type)
	rec.Tags = append(rec.Tags, catalog.Tag(catalog.TagStatus, data.RawStatus),
		catalog.Tag(catalog.TagType, rec.Category), catalog.Tag(catalog.TagType, h.Category))
	if len(data.Authors) == 0 {
		data.Authors = notNil(splitAuthors(in.Index.Author))
	}
	rec.Author = strings.Join(data.Authors, ", ")
	if rec.Author == "" && data.Number == "" {
		rec.Author = in.Pull.Author // for a numbered proposal, the one who merged it is not the author
	}
	rec.Summary = derive.TLDR(h.Body)
	r.date(&rec, in, h)
	if rec.Summary != "" {
		data.TLDRAt = dates.Format(rec.UpdatedAt)
	}
	if h.Created != "" && Date(h.Created).IsZero() {
		r.warn(in.Path, "created %q is not a date", h.Created)
	}
	if len(h.Duplicates) > 0 {
		r.warn(in.Path, "the header repeats %s", strings.Join(h.Duplicates, ", "))
	}
	links = append(links, linksTo(catalog.Requires, data.Requires, h.Fields["Requires"])...)
	links = append(links, linksTo(catalog.Supersedes, data.Replaces, h.Fields["Replaces"])...)
	var facts map[string]any
	if draft && in.Forge != nil {
		rec.Tags = append(rec.Tags, catalog.Tags(catalog.TagLabel, in.Forge.Labels...)...)
		// Whether a draft is superseded depends on its state.
		facts = map[string]any{"raw_status": data.RawStatus, "superseded_by": data.SupersededBy}
	}
	return entry(rec, data, links, in, facts)
}

// settle marks a draft as a stub or as a text of a numbered proposal. In the
// latter case the proposal supersedes the draft, unless the draft is still open
// and changes it.
func (r Reader) settle(rec *catalog.Record, data *catalog.CIP, h Header, in File) []catalog.Link {
	if r.isStub(h, in) {
		rec.Tags = append(rec.Tags, catalog.TagStub)
		return nil
	}
	number := r.Register.of(cmp.Or(h.Number, r.pathNumber(in.Path)), rec.Title)
	if number == "" {
		return nil
	}
	key := r.Key(number)
	if (in.Pull.State != "open" || !in.Amends) && !slices.Contains(data.SupersededBy, key) {
		data.SupersededBy = append(data.SupersededBy, key)
	}
	return linksTo(catalog.References, []string{key}, rec.Title)
}

// entry makes the entry of a file. If a forge was asked it has facts: state,
// labels, the time of the merge, which git does not know or can only guess, and
// the given members of the data.
func entry(rec catalog.Record, data any, links []catalog.Link, in File, facts map[string]any) (catalog.Entry, error) {
	e, err := rec.With(data)
	if err != nil {
		return e, fmt.Errorf("proposal: %s: %w", rec.Path, err)
	}
	e.Links = links
	if facts == nil || in.Forge == nil {
		return e, nil
	}
	p := in.Pull
	facts["pull"] = map[string]any{
		"state": p.State, "merged_at": orNull(p.MergedAt), "merge_commit": orNull(p.MergeCommit),
	}
	e.Facts = &catalog.Facts{State: rec.State, LastActivityAt: rec.LastActivityAt}
	for _, tag := range rec.Tags {
		switch name, _, _ := strings.Cut(tag, ":"); name {
		case catalog.TagLabel, catalog.TagStatus:
			e.Facts.Tags = append(e.Facts.Tags, tag)
		}
	}
	e.Facts.Data, err = catalog.Encode(facts)
	return e, err
}

// orNull returns nil, in JSON null, for an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// date sets the record's times: created from the header, else from the pull
// request, else from the file's history.
func (r Reader) date(rec *catalog.Record, in File, h Header) {
	rec.CreatedAt, rec.UpdatedAt = Date(h.Created), in.UpdatedAt.UTC()
	if in.Pull != nil {
		if rec.CreatedAt.IsZero() {
			rec.CreatedAt = dates.At(in.Pull.FirstCommit, dates.Instant)
		}
		if rec.UpdatedAt.IsZero() {
			rec.UpdatedAt = dates.At(cmp.Or(in.Pull.MergedAt, in.Pull.LastCommit), dates.Instant)
		}
	}
	if rec.CreatedAt.IsZero() {
		rec.CreatedAt = in.CreatedAt.UTC()
	}
	rec.LastActivityAt = rec.UpdatedAt
}

// version is a version of a file, as it is parsed.
type version struct {
	text   string // as Markdown
	header Header
}

// parse parses a version of a file. The error is ErrTooLarge, with no header.
func (r Reader) parse(file, text string) (v version, err error) {
	if err = tooLarge("text", len(text), ingest.MaxText); err == nil {
		v.text = asMarkdown(file, text)
		v.header, err = r.header(v.text)
	}
	if err != nil {
		err = fmt.Errorf("proposal: %s: %w", file, err)
	}
	return v, err
}

// header reads the header of a text. Its number may be in a field named like
// the network's prefix, in any case, as in "eip: 1559", and glued to that prefix, as in
// "EIP1559". The error is ErrTooLarge.
func (r Reader) header(text string) (Header, error) {
	if err := tooLarge("text", len(text), ingest.MaxText); err != nil {
		return Header{}, err
	}
	h, err := ParseHeader(text)
	for _, name := range h.Order {
		if prefix := r.Network.Proposals.Prefix; h.Number == "" && (name == "Number" || strings.EqualFold(name, prefix)) {
			value := plain(h.Fields[name])
			if hasFoldPrefix(value, prefix) {
				value = value[len(prefix):]
			}
			h.Number = parseNumber(value)
		}
	}
	return h, err
}

// Key returns the key of a proposal's number, padded or not.
func (r Reader) Key(number string) string { return r.Network.Proposals.Key(number) }

// Status maps a raw status to the network's enumeration. An unknown word or a
// blank yields the network's default, with a warning.
func (r Reader) Status(locator, raw string) string {
	mapped, known := r.Network.Proposals.Status(raw)
	switch {
	case known:
	case raw == "":
		r.warn(locator, "no status; taken for %s", mapped)
	default:
		r.warn(locator, "unknown status %q; taken for %s", raw, mapped)
	}
	return mapped
}

// statusMark is what may follow a status in a header: a link to its discussion,
// a date, a remark.
var statusMark = regexp.MustCompile(`^\s*(?:[(\[{,;:.*|/–—]|-\s)`)

// statusWord returns the status that a header's value begins with, as spelled
// there, or the whole value if it begins with none that is known.
func (r Reader) statusWord(raw string) string {
	p := r.Network.Proposals
	if _, known := p.Status(raw); known {
		return raw
	}
	word := ""
	for _, w := range slices.Concat(p.Words(), slices.Collect(maps.Keys(p.StatusMap))) {
		if hasFoldPrefix(raw, w) && statusMark.MatchString(raw[len(w):]) && len(w) > len(word) {
			word = raw[:len(w)]
		}
	}
	return cmp.Or(word, raw)
}

// draftState maps the state of an unmerged pull request: by the network's map
// if it has the word, else open is Draft and closed is Withdrawn.
func (r Reader) draftState(state string) string {
	if mapped, known := r.Network.Proposals.Status(state); known {
		return mapped
	}
	if state == "closed" {
		return "Withdrawn"
	}
	return "Draft"
}

var numberList = regexp.MustCompile(`^[\d\s,;]+$`)

// keys finds the proposals that a field names, without repeats. Numbers without
// the network's prefix count only if the field consists of them; proposals of
// other networks and the one it belongs to are left out.
func (r Reader) keys(value, self string) []string {
	value = plain(value)
	named := mention.Cited(r.Network.Proposals, value)
	if numberList.MatchString(value) {
		for n := range strings.FieldsFuncSeq(value, func(r rune) bool { return !unicode.IsDigit(r) }) {
			if n = Numeral(n); n != "" {
				named = append(named, r.Key(n))
			}
		}
	}
	keys := []string{}
	for _, key := range named {
		if key != self && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// names are the network's own words in titles.
func (r Reader) names() map[string]bool {
	return wordSet(strings.ToLower(r.Network.Name + " " + r.Network.Title + " " + r.Network.Proposals.Prefix))
}

// pathNumber returns the number that the path of a proposal says: of its name,
// else of a folder, however the file is named.
func (r Reader) pathNumber(file string) string {
	return cmp.Or(r.place(file).number, NumberFromPath(file))
}

var pathNumber = regexp.MustCompile(`(?i)^[a-z]+[-_ ]?(\d{1,6})$`)

// NumberFromPath returns the number of a proposal in a path: from the last
// directory with a number ("cip-0056/images/x.png"), else from the file name. A
// directory wins over a different file name. Empty if there is none.
func NumberFromPath(p string) string {
	dirs := strings.Split(path.Dir(p), "/")
	for _, dir := range slices.Backward(dirs) {
		if m := pathNumber.FindStringSubmatch(strings.TrimSpace(dir)); m != nil {
			return Numeral(m[1])
		}
	}
	base := strings.TrimSpace(strings.TrimSuffix(path.Base(p), path.Ext(p)))
	if m := pathNumber.FindStringSubmatch(base); m != nil {
		return Numeral(m[1])
	}
	return ""
}

func linksTo(relation catalog.Relation, keys []string, snippet string) []catalog.Link {
	var links []catalog.Link
	for _, key := range keys {
		links = append(links, catalog.Link{Relation: relation, To: catalog.Ref{Kind: catalog.KindCIP, Key: key},
			Snippet: cutBytes(snippet, 240)})
	}
	return links
}

func cutBytes(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

func notNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Register holds the numbered proposals of a repository, to tell a draft that
// is a text of one of them from a draft with a number that another proposal got
// in the end.
type Register struct {
	byNumber map[string]string   // number → title
	byTitle  map[string][]string // folded title → numbers
	words    map[string]int      // number of titles with the word
}

// add registers a numbered proposal.
func (r *Register) add(number, title string) {
	if r == nil {
		return
	}
	if r.byNumber == nil {
		r.byNumber, r.byTitle, r.words = map[string]string{}, map[string][]string{}, map[string]int{}
	}
	if _, ok := r.byNumber[number]; ok {
		return
	}
	r.byNumber[number] = title
	folded := strings.Join(markdown.Words(title), " ")
	r.byTitle[folded] = append(r.byTitle[folded], number)
	for w := range distinct(title) {
		r.words[w]++
	}
}

// of returns the numbered proposal that a draft with this title is a text of,
// or "": the one with the draft's own number if their titles are equal or share
// a word that no other numbered proposal has, else the only one with the title.
func (r *Register) of(number, title string) string {
	if r == nil {
		return ""
	}
	same := r.byTitle[strings.Join(markdown.Words(title), " ")]
	if slices.Contains(same, number) {
		return number
	}
	if numbered, ok := r.byNumber[number]; ok {
		words := distinct(numbered)
		for w := range distinct(title) {
			if words[w] && r.words[w] == 1 {
				return number
			}
		}
	}
	if len(same) == 1 {
		return same[0]
	}
	return ""
}

// distinct returns the set of a title's words.
func distinct(title string) map[string]bool {
	set := map[string]bool{}
	for _, w := range markdown.Words(title) {
		if strings.Trim(w, "0123456789") != "" {
			set[w] = true
		}
	}
	return set
}
