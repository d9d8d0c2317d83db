package catalog

// Issue is an issue of a repository. Record.Replies are its comments,
// Record.Votes its reactions, Record.Container its repository.
type Issue struct {
	Number      int      `json:"number"`
	Labels      []string `json:"labels"`
	StateReason string   `json:"state_reason,omitempty"` // completed, not_planned, …
	Milestone   string   `json:"milestone,omitempty"`
	Assignees   []string `json:"assignees"`
	Association string   `json:"association,omitempty"` // of the author
	ClosedAt    string   `json:"closed_at,omitempty"`   // RFC 3339
}

// Pull is a pull request. Columns have the same meaning as for Issue;
// Record.State is open, merged or closed.
type Pull struct {
	Number      int      `json:"number"`
	MergedAt    string   `json:"merged_at,omitempty"` // RFC 3339
	MergeCommit string   `json:"merge_commit,omitempty"`
	Head        string   `json:"head,omitempty"` // source branch
	Draft       bool     `json:"draft,omitempty"`
	Base        string   `json:"base,omitempty"` // target branch
	Labels      []string `json:"labels"`
	Milestone   string   `json:"milestone,omitempty"`
	Assignees   []string `json:"assignees"`
	Association string   `json:"association,omitempty"` // of the author
	ClosedAt    string   `json:"closed_at,omitempty"`   // RFC 3339
	Files       []string `json:"files"`
	Additions   int      `json:"additions,omitempty"` // lines
	Deletions   int      `json:"deletions,omitempty"`
}

// VersionDeprecated is the state of a package version that its registry marks so.
const VersionDeprecated = "deprecated"

// PackageVersion is one published version of a package, keyed
// registry:name@version. Record.Container is its registry, Record.CreatedAt
// when it was published, Record.State deprecated if the registry marks it so.
type PackageVersion struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description,omitempty"`
	DistTags     []string          `json:"dist_tags"` // latest, next, …; an image's further tags
	Prerelease   bool              `json:"prerelease,omitempty"`
	Deprecated   string            `json:"deprecated,omitempty"` // the registry's deprecation message
	Licence      string            `json:"licence,omitempty"`
	Repository   string            `json:"repository,omitempty"` // address of its source
	Digest       string            `json:"digest,omitempty"`
	Platforms    []string          `json:"platforms,omitempty"` // of an image: linux/amd64
	Bytes        *int64            `json:"bytes"`               // unpacked; nil unknown
	Downloads    *int64            `json:"downloads"`
	Dependencies map[string]string `json:"dependencies,omitempty"` // name → range
}
