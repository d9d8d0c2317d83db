package versions

import (
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/testing/recordtest"
)

// published is a release if the container is a repository, else a package of
// the registry npm.
func published(id int64, container, tag, version string, hours int) catalog.Record {
	r := catalog.Record{ID: id, Container: container, CreatedAt: recordtest.Ago(hours)}
	if strings.Contains(container, "/") && !strings.HasPrefix(container, "@") {
		r.Kind, r.Title = catalog.KindRelease, container+" "+version
		r.Data = recordtest.Data(catalog.Release{Version: version, Tag: tag})
		return r
	}
	r.Kind, r.Container = catalog.KindPackageVersion, "npm"
	r.Data = recordtest.Data(catalog.PackageVersion{Name: container, Version: version, Deprecated: tag})
	return r
}

// describe writes products as "name latest" with " < next" and registry.
func describe(products []Product) string {
	var out []string
	for _, p := range products {
		s := strings.TrimSpace(p.Registry + " " + p.Name + " " + p.Latest.Version)
		if p.Next != nil {
			s += " < " + p.Next.Version
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestProducts(t *testing.T) {
	for name, c := range map[string]struct {
		records []catalog.Record
		want    string
	}{
		"nothing": {nil, ""},
		"the highest version, not the newest": {[]catalog.Record{
			published(1, "o/keel", "v2.0.0", "2.0.0", 9), published(2, "o/keel", "v1.9.1", "1.9.1", 1)},
			"o/keel 2.0.0"},
		"a prerelease after the latest": {[]catalog.Record{
			published(1, "o/keel", "v2.0.0", "2.0.0", 9), published(2, "o/keel", "v2.1.0-rc.1", "2.1.0-rc.1", 1)},
			"o/keel 2.0.0 < 2.1.0-rc.1"},
		"a prerelease before the latest": {[]catalog.Record{
			published(1, "o/keel", "v2.0.0", "2.0.0", 1), published(2, "o/keel", "v2.0.0-rc.1", "2.0.0-rc.1", 9)},
			"o/keel 2.0.0"},
		"only prereleases": {[]catalog.Record{
			published(1, "o/keel", "v0.1.0-rc1", "0.1.0-rc1", 9), published(2, "o/keel", "v0.1.0-rc2", "0.1.0-rc2", 1)},
			"o/keel 0.1.0-rc2"},
		"a deprecated version is not the latest": {[]catalog.Record{
			published(1, "helm", "broken", "2.0.1", 1), published(2, "helm", "", "2.0.0", 9)}, "npm helm 2.0.0"},
		"unless all are": {[]catalog.Record{
			published(1, "helm", "gone", "2.0.1", 1), published(2, "helm", "gone", "2.0.0", 9)}, "npm helm 2.0.1"},
		"programs of one repository": {[]catalog.Record{
			published(1, "o/fleet", "sdk-v1.0.0", "1.0.0", 9), published(2, "o/fleet", "@o/helm@3.0.0", "3.0.0", 5)},
			"@o/helm 3.0.0; sdk 1.0.0"},
		"releases before packages": {[]catalog.Record{
			published(1, "a", "", "1.0.0", 9), published(2, "o/z", "v1.0.0", "1.0.0", 9)}, "o/z 1.0.0; npm a 1.0.0"},
		"what has no version": {[]catalog.Record{published(1, "o/keel", "nightly", "nightly", 1)}, ""},
		"the same version from two sources": {[]catalog.Record{
			published(2, "o/keel", "v1.0.0", "1.0.0", 9), published(1, "o/keel", "v1.0.0", "1.0.0", 9)},
			"o/keel 1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			products := Products(c.records)
			if got := describe(products); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			for _, p := range products {
				if e := p.Editions; len(e) == 2 && e[0].Version == e[1].Version {
					t.Errorf("%s is listed twice", e[0].Version)
				}
			}
		})
	}
}

func TestNamed(t *testing.T) {
	products := Products([]catalog.Record{
		published(1, "o/keel", "v1.0.0", "1.0.0", 9), published(2, "x/keel", "v7.0.0", "7.0.0", 2),
		published(3, "@o/keel", "", "1.0.1", 1),
		published(4, "o/fleet", "sdk-v1.0.0", "1.0.0", 9), published(5, "o/fleet", "rope-v2.0.0", "2.0.0", 5),
		published(6, "o/rope", "v0.5.0", "0.5.0", 1),
	})
	for asked, want := range map[string]string{
		"O/Keel": "o/keel 1.0.0", "keel": "x/keel 7.0.0; o/keel 1.0.0; npm @o/keel 1.0.1",
		"@o/keel": "npm @o/keel 1.0.1",
		"o/fleet": "rope 2.0.0; sdk 1.0.0", "sdk": "sdk 1.0.0", "rope": "rope 2.0.0; o/rope 0.5.0", "": "", " ": "",
		"none": "", "o": "",
	} {
		if got := describe(Named(products, asked)); got != want {
			t.Errorf("%q: %q, want %q", asked, got, want)
		}
	}
	v, _ := derive.ParseVersion("1.0")
	if got, want := describe(WithVersion(products, v, []string{"sdk"})), "sdk 1.0.0; o/keel 1.0.0"; got != want {
		t.Errorf("with 1.0: %q, want %q", got, want)
	}
	if got, want := strings.Join(Names(products, ""), " "),
		"o/keel o/rope rope sdk x/keel @o/keel keel"; got != want {
		t.Errorf("names %q, want %q", got, want)
	}
	for asked, want := range map[string]string{"Rop": "o/rope rope",
		"zz": "o/keel o/rope rope sdk x/keel @o/keel keel"} {
		if got := strings.Join(Names(products, asked), " "); got != want {
			t.Errorf("names like %q: %q, want %q", asked, got, want)
		}
	}
	if got, want := strings.Join(Versions(Programs(products)), " "),
		"1.0.0 0.5.0 2.0.0 7.0.0"; got != want {
		t.Errorf("versions %q, want %q", got, want)
	}
}
