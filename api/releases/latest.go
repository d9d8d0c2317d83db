package releases

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/api/versions"
	"almanac/catalog"
)

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
