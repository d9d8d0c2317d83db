// Package releases holds the operations on packages and releases: what is
// current, what an upgrade needs, and what replaces what is deprecated.
package releases

import (
	"context"
	"reflect"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/api/versions"
	"almanac/catalog"
	"almanac/catalog/derive"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{
	sdkVersions, packages, current, latestRelease, changelog, upgradeStatus, deprecations, check, migrations, migrate,
	outdated, evm, diagnose,
}

// Version is one published version of a package.
type Version struct {
	kb.Item
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Registry   string     `json:"registry"`
	Prerelease bool       `json:"prerelease"`
	DistTags   []string   `json:"dist_tags"`
	Deprecated string     `json:"deprecated,omitempty" doc:"the registry's message"`
	Published  *time.Time `json:"published"`
}

func version(b kb.Base, r catalog.Record) (Version, error) {
	d, err := kb.Decode[catalog.PackageVersion](r)
	v := Version{
		b.Item(r), d.Name, d.Version, r.Container, d.Prerelease, d.DistTags, d.Deprecated, kb.Time(r.CreatedAt),
	}
	return v, err
}

var sdkVersions = kb.New(op.Spec{
	ID: "list_sdk_versions", Path: "/api/v1/sdk-versions",
	Doc: "Versions of packages and images, newest first.",
}, func(ctx context.Context, b kb.Base, in versionsIn) (kb.List[Version], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindPackageVersion}, Order: catalog.ByCreated,
		AllTags: catalog.Tags(catalog.TagPackage, in.Name), Containers: arg.Only(in.Registry, ""),
	}
	return kb.Rows(ctx, b, q, arg.Paging{Limit: in.Limit}, version)
})

type versionsIn struct {
	Registry string `json:"registry" enum:"npm,oci" doc:"only packages (npm) or container images (oci)"`
	Name     string `json:"name" maxLength:"200" doc:"only versions of this package"`
	Limit    int    `json:"limit" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
}

type packagesIn struct {
	Query string `json:"query" maxLength:"200" doc:"part of the package's name"`
	Limit int    `json:"limit" default:"25" minimum:"1" maximum:"100" doc:"how many to return"`
	arg.Skip
}

var packages = kb.New(op.Spec{
	ID: "get_npm_packages", Tool: "get_npm_packages", Kinds: []catalog.Kind{catalog.KindPackageVersion},
	Doc: `
Packages of the registry
Packages with their latest version, filtered by name.

Lists the indexed packages with their latest version, newest first; filter by a part of the name.
`,
}, func(ctx context.Context, b kb.Base, in packagesIn) (kb.List[Version], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindPackageVersion}, Containers: []string{"npm"}, Text: in.Query,
		AllTags: []string{catalog.Tag(catalog.TagDist, "latest")}, Order: catalog.ByCreated,
	}
	return kb.Rows(ctx, b, q, arg.Paging{Limit: in.Limit, Skip: in.Skip}, version)
})

var (
	notFound    = []error{op.ErrNotFound}
	unavailable = []error{op.ErrUnavailable}
)

// Edition is one version of what a repository or a registry publishes.
type Edition struct {
	ID         string     `json:"id" doc:"reads its notes with get_doc"`
	Name       string     `json:"name" doc:"repository, program of it, or package"`
	Registry   string     `json:"registry,omitempty" doc:"of a package: npm or oci"`
	Version    string     `json:"version"`
	Published  *time.Time `json:"published"`
	Prerelease bool       `json:"prerelease,omitempty"`
	Deprecated string     `json:"deprecated,omitempty" doc:"the registry's message"`
	URL        string     `json:"url"`
}

func edition(b kb.Base, p versions.Product, e versions.Edition) Edition {
	r := e.Record
	return Edition{b.ID(r), p.Name, p.Registry, e.Version, kb.Time(r.CreatedAt), e.Prerelease, e.Deprecated, b.URL(r)}
}

// Latest is the latest version of a program.
type Latest struct {
	Edition
	Next *Edition `json:"newer_prerelease,omitempty" doc:"a prerelease after it"`
}

func latest(b kb.Base, p versions.Product) Latest {
	l := Latest{Edition: edition(b, p, p.Latest)}
	if p.Next != nil {
		l.Next = new(edition(b, p, *p.Next))
	}
	return l
}

// products are all programs that are published.
func products(ctx context.Context, b kb.Base) ([]versions.Product, error) {
	q := catalog.ListQuery{Kinds: versions.PublishedKinds}
	all, _, err := kb.DerivedFrom(ctx, b, "products", 0, q, versions.Products)
	return all, err
}

// LatestRelease is the latest release of one package.
type LatestRelease struct {
	Latest
	Title   string   `json:"title"`
	Summary string   `json:"summary" doc:"the notes in a sentence or two"`
	Also    []Latest `json:"also" doc:"other repositories and packages of that name"`
}

type latestIn struct {
	Package string `json:"package" required:"true" maxLength:"200" doc:"repository or package: short name or owner/name"`
}

var latestRelease = kb.New(op.Spec{
	ID: "get_latest_release", Tool: "get_latest_release", MayFail: notFound, Kinds: versions.PublishedKinds,
	Doc: `
Latest release
The latest stable release of one repository or package, and a newer prerelease if there is one.

Returns the latest stable release of one repository or package, with a newer prerelease and others of the same name. For
all of them at once use get_current_versions, for the notes get_sdk_changelog.
`,
}, func(ctx context.Context, b kb.Base, in latestIn) (LatestRelease, error) {
	all, err := products(ctx, b)
	if err != nil {
		return LatestRelease{}, err
	}
	named := versions.Named(all, in.Package)
	if len(named) == 0 {
		return LatestRelease{}, op.NotFound("%s", kb.NoSuch("package", in.Package, versions.Names(all, in.Package)))
	}
	r := named[0].Latest.Record
	out := LatestRelease{Latest: latest(b, named[0]), Title: r.Title, Summary: r.Summary}
	for _, p := range named[1:] {
		out.Also = append(out.Also, latest(b, p))
	}
	return out, nil
})

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
