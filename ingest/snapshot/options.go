package snapshot

import (
	"strconv"

	"almanac/catalog"
	"almanac/text/webaddress"
)

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
