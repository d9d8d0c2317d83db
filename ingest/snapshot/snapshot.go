// Package snapshot reads a portable corpus: a directory whose manifest.jsonl
// lists every file with the repository, path and commit it came from, its
// content type and its checksum. It needs no network access.
//
// The options map content types to kinds of records and files to public
// addresses; nothing here is specific to a corpus. Package proposal makes the
// records of proposals, package docs those of pages, releases, readmes and APIs.
// Files are read one at a time, so that memory use does not grow with the corpus.
package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/folder"
	"almanac/ingest/proposal"
	"almanac/text/markup"
	"almanac/text/webaddress"
)

// Kind is the kind of sources that network files call snapshot.
var Kind = ingest.Kind[settings, string]{
	Name: "snapshot",
	Summary: "Reads a portable corpus: a directory whose manifest.jsonl lists every file with the repository, " +
		"path and commit it came from, its content type and its checksum.",
	Example: `sources:
  - name: docs
    kind: snapshot
    options:
      dir: ${corpus}                     # directory that holds manifest.jsonl
      content_types: {doc_page: doc}     # content type of the manifest → kind of record; others are ignored
      url: {"*": "https://forge.example.org/{repo}/blob/{commit}/{path}"}   # of files, by repository
      pull: {"*": "https://forge.example.org/{repo}/pull/{number}"}         # of pull requests, by repository
      pulls: pulls.jsonl                 # file of pull requests: state, author, dates, changed files
      history: history.jsonl             # file of status changes
      attachments: attachments.jsonl     # file that lists the attachments of proposals
      merged_files: merged_files.jsonl   # file that names the pull request which first added a merged grant
      bulk_pulls: [17]                   # pull requests that edit many grants and are none themselves
      release_data: [releases.json]      # names of files among release notes that contain data
      split_releases: true               # one record for each release of a page that has many
`,
	Open: func(s settings, env ingest.Environment) (ingest.Connector[string], error) {
		return &connector{s, env}, nil
	},
}

type connector struct {
	options settings
	env     ingest.Environment
}

// Sync reads the whole snapshot, or nothing if its manifest did not change since the
// state, which is a digest of it: the manifest holds every file's checksum. Such a run
// does not claim a complete listing, and needs none: nothing can have been removed.
func (c *connector) Sync(ctx context.Context, known string, out ingest.Sink) (string, ingest.Outcome, error) {
	// The directory itself is opened: symbolic links cannot lead out of it.
	files, at := c.env.Place(c.env.Local(c.options.Dir))
	fsys, err := fs.Sub(files, at)
	if err != nil {
		return "", ingest.Outcome{}, err
	}
	state, err := c.state(fsys)
	if err != nil {
		return "", ingest.Outcome{}, fmt.Errorf("%s: %w", path.Join(c.options.Dir, manifestName), folder.Reason(err))
	}
	if state == known {
		return state, ingest.Outcome{}, nil
	}
	a, err := openArchive(fsys, out.Skip)
	if err != nil {
		return "", ingest.Outcome{}, err
	}
	r := &run{archive: a, options: c.options, out: out, network: c.env.Network}
	err = r.sync(ctx)
	return state, ingest.Outcome{Complete: !r.partial}, err
}

// state hashes what a run yields, besides the options.
func (c *connector) state(fsys fs.FS) (string, error) {
	f, err := fsys.Open(manifestName)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(c.env.Network.Proposals); err != nil {
		return "", err
	}
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// run is one pass over a snapshot.
type run struct {
	*archive
	options settings
	out     ingest.Sink
	network network.Network

	pulls   map[int]proposal.Pull // by number, without address
	partial bool                  // what could not be read may be several records
	done    int
	total   int
}

// order puts parents before their children.
var order = []catalog.Kind{
	catalog.KindRepo, catalog.KindCIP, catalog.KindAttachment, catalog.KindGrant, catalog.KindDoc,
	catalog.KindRelease, catalog.KindEndpoint,
}

func (r *run) sync(ctx context.Context) error {
	byKind := map[catalog.Kind][]row{}
	for _, row := range r.rows {
		if kind, ok := r.options.Types[row.Type]; ok {
			byKind[kind] = append(byKind[kind], row)
			r.total++
		}
	}
	if err := r.readPulls(); err != nil {
		return err
	}
	for _, kind := range order {
		read := r.files
		switch kind {
		case catalog.KindCIP, catalog.KindGrant:
			read = r.proposals
		case catalog.KindAttachment:
			read = r.attachments
		}
		if err := read(ctx, kind, byKind[kind]); err != nil {
			return err
		}
	}
	return nil
}

// put puts the records of a file. If they could not be made the file is skipped, and
// ref kept, because a damaged file was not removed from its source.
func (r *run) put(ctx context.Context, locator string, ref catalog.Ref, entries []catalog.Entry, damage error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if damage != nil {
		r.out.Skip(locator, damage)
		r.out.Keep(ref)
		return nil
	}
	for _, e := range entries {
		if err := r.out.Put(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) step(n int) {
	r.done += n
	r.out.Progress(r.done, r.total)
}

// text reads a file of at most limit bytes as clean text.
func (r *run) text(name string, limit int64) (string, error) {
	raw, err := r.read(name, limit)
	return markup.Clean(string(raw)), err
}

// item reads a file that a record is made of, which is parsed next.
func (r *run) item(name string) (string, error) {
	text, err := r.text(name, ingest.MaxText)
	if err == nil {
		err = r.out.Begin([]byte(text))
	}
	return text, err
}

// settings are a snapshot source's options in the network file. Paths of files
// are those of the manifest.
type settings struct {
	// Dir is the directory that holds manifest.jsonl.
	Dir string `yaml:"dir" format:"path" required:"true"`
	// Types maps content types of the manifest to kinds of records.
	// Other types are ignored.
	Types map[string]catalog.Kind `yaml:"content_types" required:"true" enum:"cip|proposal|attachment|doc|release|repo|endpoint"`
	// URL maps a repository to the address of its files; "*" is for all others.
	// {repo}, {commit} and {path} are replaced; {source_path} is an alias of
	// {path}.
	URL map[string]string `yaml:"url"`
	// Pull maps a repository to the address of its pull requests. {repo} and
	// {number} are replaced; {n} is an alias of {number}.
	Pull map[string]string `yaml:"pull"`
	// Pulls is the file of pull requests: state, author, dates, changed files.
	Pulls string `yaml:"pulls"`
	// History is the file of status changes.
	History string `yaml:"history"`
	// Attachments is the file that lists the attachments of proposals.
	Attachments string `yaml:"attachments"`
	// MergedFiles names, for each merged grant file, the pull request that
	// first added it.
	MergedFiles string `yaml:"merged_files"`
	// BulkPulls are pull requests that edit many grant proposals and are not
	// proposals themselves.
	BulkPulls []int `yaml:"bulk_pulls"`
	// ReleaseData are names of files among release notes that contain data.
	ReleaseData []string `yaml:"release_data"`
	// SplitReleases splits a page of many releases into one record for each,
	// keyed path#version, and one for the text above the first.
	SplitReleases bool `yaml:"split_releases"`
}

// fileURL returns the public address of a manifest row's file, or "".
func (o settings) fileURL(r row) string {
	return webaddress.Fill(template(o.URL, r.Repo), map[string]string{"{repo}": r.Repo, "{commit}": r.Commit,
		"{path}": r.SourcePath, "{source_path}": r.SourcePath})
}

// pullURL returns the public address of a pull request, or "".
func (o settings) pullURL(repo string, number int) string {
	n := strconv.Itoa(number)
	return webaddress.Fill(template(o.Pull, repo), map[string]string{"{repo}": repo, "{number}": n, "{n}": n})
}

func template(templates map[string]string, repo string) string {
	if t, ok := templates[repo]; ok {
		return t
	}
	return templates["*"]
}
