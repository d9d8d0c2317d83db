package packages

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/text/prose"
)

// entry makes the record of a version. Text describes it beyond its data.
func entry(
	registry string, d catalog.PackageVersion, published time.Time, address string, text []string,
) (catalog.Entry, error) {
	if d.Deprecated != "" {
		text = append([]string{"Deprecated: " + d.Deprecated}, text...)
	}
	if d.Licence != "" {
		text = append(text, fmt.Sprintf("Licence: %s.", d.Licence))
	}
	if d.Repository != "" {
		text = append(text, fmt.Sprintf("Source: %s.", d.Repository))
	}
	if names := slices.Sorted(maps.Keys(d.Dependencies)); len(names) > 0 {
		for i, name := range names {
			names[i] = strings.TrimSpace(name + " " + d.Dependencies[name])
		}
		text = append(text, fmt.Sprintf("It depends on %s.", strings.Join(names, ", ")))
	}
	text = slices.DeleteFunc(text, func(s string) bool { return s == "" })
	e, err := catalog.Record{
		Kind: catalog.KindPackageVersion, Key: keyOf(registry, d.Name, d.Version), Title: d.Name + " " + d.Version,
		URL: address, Container: registry, CreatedAt: published, Summary: d.Description,
		Body: strings.Join(text, "\n\n"),
	}.With(d)
	e.Record.Tags = append(catalog.Tags(catalog.TagPackage, d.Name), catalog.Tags(catalog.TagDist, d.DistTags...)...)
	if !d.Prerelease {
		e.Record.Tags = append(e.Record.Tags, catalog.TagStable)
	}
	if d.Deprecated != "" {
		e.Record.State = catalog.VersionDeprecated
	}
	if repo := ownerAndName(d.Repository); repo != "" {
		e.Links = []catalog.Link{{Relation: catalog.References, To: catalog.Ref{Kind: catalog.KindRepo, Key: repo},
			Snippet: prose.FirstBytes(cmp.Or(d.Description, e.Record.Title), 240)}}
	}
	return e, err
}

func keyOf(registry, name, version string) string { return registry + ":" + name + "@" + version }

// ownerAndName returns the key of a repository from its web address; "" if it
// is not of the form owner/name.
func ownerAndName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	path := strings.Trim(u.Path, "/")
	if owner, name, ok := strings.Cut(path, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return ""
	}
	return path
}
