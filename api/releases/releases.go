// Package releases holds the operations on packages and releases: what is
// current, what an upgrade needs, and what replaces what is deprecated.
package releases

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
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
