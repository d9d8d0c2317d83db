package catalog

// Doc is a documentation page. Record.Container is its repository.
type Doc struct {
	Format      string   `json:"format"` // markdown, mdx, rst, html, text
	Section     string   `json:"section,omitempty"`
	Version     string   `json:"version,omitempty"` // of the documented product
	Description string   `json:"description,omitempty"`
	Commit      string   `json:"commit,omitempty"`
	Licence     string   `json:"licence,omitempty"`
	Includes    []string `json:"includes,omitempty"` // files whose text was included
	Stub        bool     `json:"stub,omitempty"`     // has hardly any text of its own
}

// Release is one release of a repository. Record.Container is the repository.
type Release struct {
	Version    string `json:"version"`
	Tag        string `json:"tag,omitempty"`
	Format     string `json:"format,omitempty"`
	Prerelease bool   `json:"prerelease,omitempty"`
	Commit     string `json:"commit,omitempty"`
	Licence    string `json:"licence,omitempty"`
}

// Repo is an indexed repository; its readme is Record.Body.
type Repo struct {
	FullName    string `json:"full_name"` // owner/name
	Description string `json:"description,omitempty"`
	Issues      int    `json:"issues"`
	Pulls       int    `json:"pulls"`
	Commit      string `json:"commit,omitempty"`
	Licence     string `json:"licence,omitempty"`
}
