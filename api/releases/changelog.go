package releases

import (
	"context"
	"reflect"

	"almanac/api/kb"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/api/versions"
	"almanac/catalog/derive"
)

// Changelog are the release notes of one version.
type Changelog struct {
	Edition
	Title        string    `json:"title"`
	Content      string    `json:"content"`
	Truncated    bool      `json:"truncated" doc:"whether there is more: get_doc with the id reads it in parts"`
	Alternatives []Edition `json:"alternatives" doc:"the same version of others: name one with repo"`
	Hint         string    `json:"hint,omitempty" doc:"if there is more, or no notes: what to do"`

	part read.Text
}

// Shorten implements op.Shortener.
func (c *Changelog) Shorten(tokens int) {
	c.part.Shorten(tokens)
	c.show()
}

// show sets what follows from the part of the notes.
func (c *Changelog) show() {
	c.Content, c.Truncated = c.part.Content, c.part.Truncated
	switch {
	case c.part.Truncated:
		c.Hint = "the notes go on: get_doc with id " + c.ID + " and cursor " + c.part.NextCursor
	case c.part.Content == "":
		c.Hint = "the release has no notes here: see url"
	}
}

// Number is a version number as clients write it.
type Number string

// Constraints implements op.Constrained.
func (Number) Constraints() reflect.StructTag { return `maxLength:"100" doc:"version, such as 1.2.3"` }

func (n Number) parse() (derive.Version, error) {
	v, ok := derive.ParseVersion(string(n))
	if !ok {
		return v, op.InvalidField("version", "must be a version, such as 1.2.3")
	}
	return v, nil
}

type changelogIn struct {
	Version Number `json:"version" required:"true"`
	Repo    string `json:"repo" maxLength:"200" doc:"repository, if several have it: short name or owner/name"`
}

var changelog = kb.New(op.Spec{
	ID: "get_sdk_changelog", Tool: "get_sdk_changelog", MayFail: notFound, Kinds: versions.PublishedKinds,
	Doc: `
Release notes of a version
The release notes of one version, with a link to the release.

Returns the release notes of one version; if several repositories have it, of the network's own toolchain, and names
the others. To find the version of a change use search_release_notes.
`,
}, func(ctx context.Context, b kb.Base, in changelogIn) (out Changelog, err error) {
	v, err := in.Version.parse()
	if err != nil {
		return out, err
	}
	all, err := products(ctx, b)
	if err != nil {
		return out, err
	}
	among := versions.Programs(all)
	if in.Repo != "" {
		known := versions.Names(among, in.Repo)
		if among = versions.Named(among, in.Repo); len(among) == 0 {
			return out, op.NotFound("%s", kb.NoSuch("repository", in.Repo, known))
		}
	}
	var own []string
	for _, p := range b.Network.Toolchain.Programs() {
		own = append(own, p.Name)
	}
	with := versions.WithVersion(among, v, own)
	if len(with) == 0 {
		return out, op.NotFound("%s", kb.NoSuch("version", string(in.Version), versions.Versions(among)))
	}
	for _, p := range with {
		out.Alternatives = append(out.Alternatives, edition(b, p, *p.Edition(v)))
	}
	out.Edition, out.Alternatives = out.Alternatives[0], out.Alternatives[1:]
	r, err := b.Catalog.ByID(ctx, with[0].Edition(v).Record.ID)
	if err != nil {
		return out, err
	}
	out.part, err = read.Record(r, "")
	out.Title = r.Title
	out.show()
	return out, err
})
