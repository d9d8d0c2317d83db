package sample

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const manifestName = "manifest.jsonl"

// origin says where the files below a directory come from.
type origin struct {
	dir         string // with a slash at its end
	repository  string
	trunk       string // put before the rest of the path
	contentType string
	licence     string
}

// origins are in order: the first whose directory holds a file is the file's.
var origins = []origin{
	{"cips/pull-requests/", "causeway-network/cips", "", "cip_draft", "CC0-1.0"},
	{"cips/attachments/", "causeway-network/cips", "attachments/", "cip_attachment", "CC0-1.0"},
	{"cips/cip-", "causeway-network/cips", "cip-", "cip", "CC0-1.0"},
	{"cips/", "causeway-network/cips", "", "cip_meta", "CC0-1.0"},
	{"grants/pull-requests/", "causeway-foundation/grants", "", "grant_proposal", "CC0-1.0"},
	{"grants/main/proposals/", "causeway-foundation/grants", "proposals/", "grant_proposal_merged", "CC0-1.0"},
	{"grants/", "causeway-foundation/grants", "", "grant_process_doc", "CC0-1.0"},
	{"docs/handbook/snippets/", "causeway-network/handbook", "docs/snippets/", "doc_snippet", "CC-BY-4.0"},
	{"docs/handbook/", "causeway-network/handbook", "docs/", "doc_page", "CC-BY-4.0"},
	{"docs/wallet/", "causeway-network/wallet", "docs/", "doc_page", "Apache-2.0"},
	{"docs/node", "causeway-network/node", "docs/node", "doc_page", "Apache-2.0"},
	{"release-notes/node/", "causeway-network/node", "release-notes/", "release_note", "Apache-2.0"},
	{"release-notes/wallet/", "causeway-network/wallet", "release-notes/", "release_note", "Apache-2.0"},
	{"ecosystem/readmes/", "", "", "ecosystem_readme", "Apache-2.0"},
}

// line is one file of the manifest, as package snapshot reads it.
type line struct {
	Path        string `json:"path"`
	Repository  string `json:"source_repo"`
	SourcePath  string `json:"source_path"`
	Commit      string `json:"commit"`
	Licence     string `json:"licence"`
	ContentType string `json:"content_type"`
	Bytes       int    `json:"bytes"`
	SHA256      string `json:"sha256"`
	CIP         string `json:"cip,omitempty"`
	Pull        int    `json:"pr,omitempty"`
}

// outside are the directories that no snapshot holds: what other connectors
// read, from files or as the answers of servers, and past states of them.
var outside = []string{"curated/", "calendar/", "web/", "past/"}

// manifest lists the files of the snapshot, sorted by path.
func manifest(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if slices.ContainsFunc(outside, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			continue
		}
		l, err := describe(name, files)
		if err != nil {
			return nil, err
		}
		row, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		out.Write(append(row, '\n'))
	}
	return out.Bytes(), nil
}

var (
	proposalFile = regexp.MustCompile(`^cip-(\d{4})/`)
	pullFile     = regexp.MustCompile(`^PR-(\d+)\.md$`)
)

func describe(name string, files map[string][]byte) (line, error) {
	i := slices.IndexFunc(origins, func(o origin) bool { return strings.HasPrefix(name, o.dir) })
	if i < 0 {
		return line{}, fmt.Errorf("%s: lies in no known directory", name)
	}
	o := origins[i]
	sum := sha256.Sum256(files[name])
	l := line{
		Path: name, Repository: o.repository, SourcePath: o.trunk + strings.TrimPrefix(name, o.dir),
		Licence: o.licence, ContentType: o.contentType, Bytes: len(files[name]), SHA256: hex.EncodeToString(sum[:]),
	}
	switch {
	case path.Ext(name) == ".jsonl":
		l.ContentType = "index"
	case path.Ext(name) == ".inc":
		l.ContentType = "doc_snippet"
	case o.contentType == "cip":
		m := proposalFile.FindStringSubmatch(l.SourcePath)
		if m == nil {
			return line{}, fmt.Errorf("%s: has no number in its path", name)
		}
		l.CIP = m[1]
	case o.contentType == "ecosystem_readme": // owner__name.md
		l.Repository = strings.Replace(strings.TrimSuffix(path.Base(name), ".md"), "__", "/", 1)
		l.SourcePath = "README.md"
	}
	if m := pullFile.FindStringSubmatch(path.Base(name)); m != nil {
		l.Pull, _ = strconv.Atoi(m[1]) // digits
		var err error
		if l.SourcePath, err = pullPath(files, path.Dir(name)+".jsonl", l.Pull); err != nil {
			return line{}, err
		}
	}
	commit := sha1.Sum([]byte(l.Repository))
	l.Commit = hex.EncodeToString(commit[:])
	return l, nil
}

// pullPath is the first file that a pull request changes: its proposal.
func pullPath(files map[string][]byte, index string, number int) (string, error) {
	for row := range bytes.Lines(files[index]) {
		var pull struct {
			Number int         `json:"number"`
			Files  [][2]string `json:"files"`
		}
		if err := json.Unmarshal(row, &pull); err != nil {
			return "", fmt.Errorf("%s: %w", index, err)
		}
		if pull.Number == number && len(pull.Files) > 0 {
			return pull.Files[0][1], nil
		}
	}
	return "", fmt.Errorf("%s: names no file of pull request %d", index, number)
}
