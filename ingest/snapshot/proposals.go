package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"mime"
	"path"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/ingest/proposal"
	"almanac/text/dates"
)

var errNoPull = errors.New("has no pull request number")

// readPulls reads the file of pull requests. Any state but open and merged
// counts as closed.
func (r *run) readPulls() error {
	r.pulls = map[int]proposal.Pull{}
	if r.options.Pulls == "" {
		return nil
	}
	type line struct {
		catalog.PullRequest
		StateFromGit string      `json:"state_from_git"` // derived if the forge was not queried
		MergedCommit string      `json:"merged_commit"`
		Files        [][2]string `json:"files"` // the action (A, M, R, D) and the path
	}
	return index(r.archive, r.options.Pulls, func(l line) error {
		if l.Number <= 0 {
			return errNoPull
		}
		p := proposal.Pull{PullRequest: l.PullRequest}
		p.MergeCommit = l.MergedCommit
		if p.State = strings.ToLower(l.State + l.StateFromGit); p.State != "open" && p.State != "merged" {
			p.State = "closed"
		}
		for _, f := range l.Files {
			change := gitrepo.Change{Old: f[1], New: f[1]}
			switch f[0] {
			case "A":
				change.Old = ""
			case "D":
				change.New = ""
			}
			p.Changes = append(p.Changes, change)
		}
		r.pulls[p.Number] = p
		return nil
	})
}

// proposals puts the proposals or grants that rows are copies of, by repository.
func (r *run) proposals(ctx context.Context, kind catalog.Kind, rows []row) error {
	byRepo := map[string][]row{}
	for _, row := range rows {
		byRepo[row.Repo] = append(byRepo[row.Repo], row)
	}
	for _, name := range slices.Sorted(maps.Keys(byRepo)) {
		c := r.copies(name, byRepo[name])
		fill, as := c.history, "cip"
		if kind == catalog.KindGrant {
			fill, as = c.mergedFiles, "grant"
		}
		index, err := fill()
		if err != nil {
			return err
		}
		layout, err := proposal.Options{
			Kind: as, Paths: []string{"**"}, Index: index, BulkPulls: r.options.BulkPulls}.Layout()
		if err != nil {
			return err
		}
		if _, err := proposal.Read(ctx, c.to, layout, r.network, quiet{r.out}); err != nil {
			return err
		}
	}
	r.step(len(rows))
	return nil
}

// quiet is a sink without progress: a snapshot's is counted in rows.
type quiet struct{ ingest.Sink }

func (quiet) Progress(int, int) {}

// copies fills a repository with the copies of its files.
type copies struct {
	*run
	to *proposal.Repository
}

func (r *run) copies(name string, rows []row) *copies {
	files := map[string]string{}
	c := &copies{run: r}
	c.to = &proposal.Repository{
		Name: name, Files: files, Pulls: map[int]*proposal.Pull{}, Numbers: map[string]string{}, Copies: true,
		URL: func(file, _ string) string { return r.options.fileURL(r.row(files[file])) },
		Content: func(_ context.Context, path string, limit int64) ([]byte, error) {
			text, err := r.text(path, limit)
			return []byte(text), err
		},
	}
	for n, p := range r.pulls {
		if r.about(r.options.Pulls, name) {
			p.URL, p.Changes = r.options.pullURL(name, n), slices.Clone(p.Changes)
			c.to.Pulls[n] = &p
		}
	}
	for _, row := range rows {
		if row.Pull == 0 {
			c.add(row)
			continue
		}
		p := c.pull(row.Pull, "open") // only its text is known
		p.URL = cmp.Or(p.URL, r.options.fileURL(row))
		at := slices.IndexFunc(p.Changes, func(c gitrepo.Change) bool { return c.New == row.SourcePath })
		if at < 0 {
			at = len(p.Changes)
			p.Changes = append(p.Changes, gitrepo.Change{New: row.SourcePath})
		}
		p.Changes[at].Blob = row.Path
	}
	return c
}

// about reports whether a listing is about a repository.
func (r *run) about(listing, name string) bool {
	of := r.row(listing).Repo
	return of == "" || of == name
}

// add adds a file of the branch.
func (c *copies) add(row row) {
	if before, twice := c.to.Files[row.SourcePath]; twice {
		c.out.Skip(row.Path, fmt.Errorf("%w: %s", errTwice, before))
		return
	}
	c.to.Files[row.SourcePath] = row.Path
	if n := proposal.Numeral(row.CIP); n != "" {
		c.to.Numbers[row.SourcePath] = n
	}
}

var errTwice = errors.New("is a copy of the same file as another one")

// pull returns a pull request, with a state if it is not listed.
func (c *copies) pull(number int, state string) *proposal.Pull {
	if c.to.Pulls[number] == nil {
		c.to.Pulls[number] = &proposal.Pull{
			PullRequest: catalog.PullRequest{Number: number, State: state}, URL: c.options.pullURL(c.to.Name, number)}
	}
	return c.to.Pulls[number]
}

// mergedFiles reads which pull request first added each file of the branch.
func (c *copies) mergedFiles() (table string, err error) {
	if c.options.MergedFiles == "" {
		return "", nil
	}
	type line struct {
		Path string `json:"path"`
		Pull int    `json:"pull_request"`
	}
	added := map[string]int{}
	err = index(c.archive, c.options.MergedFiles, func(l line) error {
		if l.Pull <= 0 {
			return errNoPull
		}
		added[l.Path] = l.Pull
		return nil
	})
	for file, stored := range c.to.Files {
		if n := added[stored]; n > 0 {
			p := c.pull(n, "merged")
			c.to.Steps = append(c.to.Steps, proposal.Step{Pull: n, At: dates.At(p.MergedAt, dates.Instant),
				Changes: []gitrepo.Change{{New: file}}})
		}
	}
	return "", err
}

// history reads the changes of status, and how the proposals came about. A change
// in a file that is not a proposal is one in the index table, which is in the
// snapshot perhaps.
func (c *copies) history() (table string, err error) {
	c.steps()
	if c.options.History == "" || !c.about(c.options.History, c.to.Name) {
		return "", nil
	}
	type line struct {
		CIP     string `json:"cip"`
		Date    string `json:"date"`
		To      string `json:"to"`
		Commit  string `json:"commit"`
		Source  string `json:"source"` // branch:path
		Subject string `json:"subject"`
	}
	err = index(c.archive, c.options.History, func(l line) error {
		at, number := dates.At(l.Date, dates.Instant), proposal.Numeral(l.CIP)
		if number == "" || at.IsZero() {
			return errors.New("lacks its proposal or its date")
		}
		_, file, _ := strings.Cut(l.Source, ":")
		via := proposal.ViaHeader
		if proposal.NumberFromPath(file) == "" {
			table, via = file, proposal.ViaIndex
		}
		c.to.Changes = append(c.to.Changes, catalog.Event{
			Ref: catalog.Ref{Kind: catalog.KindCIP, Key: c.network.Proposals.Key(number)}, At: at, RawTo: l.To, Via: via,
			Commit: l.Commit, Subject: l.Subject,
			URL: c.options.fileURL(row{Repo: c.to.Name, Commit: l.Commit, SourcePath: file}),
		})
		return nil
	})
	for _, row := range c.rows {
		if row.Repo == c.to.Name && row.SourcePath == table && table != "" {
			c.add(row)
			break
		}
	}
	return table, err
}

// steps finds what merged pull requests did to the proposals. Their files may
// have had other names, so they are known by their numbers.
func (c *copies) steps() {
	files := map[string]string{} // by number
	for file := range c.to.Files {
		files[cmp.Or(c.to.Numbers[file], proposal.NumberFromPath(file))] = file
	}
	added := map[string]bool{}
	for _, n := range slices.Sorted(maps.Keys(c.to.Pulls)) {
		p := c.to.Pulls[n]
		if p.State != "merged" {
			continue
		}
		step := proposal.Step{Pull: n, At: dates.At(p.MergedAt, dates.Instant)}
		for _, change := range p.Changes {
			file := files[proposal.NumberFromPath(change.New)]
			if file == "" || path.Ext(change.New) != ".md" {
				continue
			}
			now := gitrepo.Change{Old: file, New: file}
			if change.Old == "" && !added[file] {
				added[file], now.Old = true, ""
			}
			step.Changes = append(step.Changes, now)
		}
		c.to.Steps = append(c.to.Steps, step)
	}
	slices.SortStableFunc(c.to.Steps, func(a, b proposal.Step) int { return a.At.Compare(b.At) })
}

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
