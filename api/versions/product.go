// Package versions knows what is published of a program, and how a version that
// runs stands among it: what several groups of operations answer.
package versions

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// PublishedKinds are the kinds of records that Products reads.
var PublishedKinds = []catalog.Kind{catalog.KindRelease, catalog.KindPackageVersion}

// Product is a program with the versions published of it: the releases of a
// repository, or of one of several programs in it, or a package of a registry.
type Product struct {
	Name     string // repository or package; of one of several programs, its own
	Registry string // of a package: npm, oci
	// Latest is the highest version that is neither a prerelease nor deprecated;
	// without one the highest that is not a prerelease, else the highest.
	Latest   Edition
	Next     *Edition  // the highest version, if it is a prerelease after Latest
	Editions []Edition // highest version first, each version once

	Repository string // that releases it; "" of a package
}

// Edition is one version of a product.
type Edition struct {
	Record     catalog.Record
	Version    string
	Prerelease bool
	Deprecated string // the registry's message
	Parsed     derive.Version
}

// Products groups records of PublishedKinds by what they are versions of, sorted
// by name, releases before packages. Records without a version are left out;
// all may lack their bodies.
func Products(records []catalog.Record) []Product {
	byRepository := map[string]map[string][]Edition{} // then by program
	packages := map[[2]string][]Edition{}
	for _, r := range records {
		e := Edition{Record: r}
		switch r.Kind {
		case catalog.KindRelease:
			d, _ := catalog.Decode[catalog.Release](r) // without data: no version
			if e.Version, e.Prerelease = d.Version, d.Prerelease; e.parse() {
				programs := byRepository[r.Container]
				if programs == nil {
					programs = map[string][]Edition{}
					byRepository[r.Container] = programs
				}
				name := programOf(r, d)
				programs[name] = append(programs[name], e)
			}
		case catalog.KindPackageVersion:
			d, _ := catalog.Decode[catalog.PackageVersion](r)
			if e.Version, e.Prerelease, e.Deprecated = d.Version, d.Prerelease, d.Deprecated; e.parse() {
				key := [2]string{r.Container, d.Name}
				packages[key] = append(packages[key], e)
			}
		}
	}
	var all []Product
	for repository, programs := range byRepository {
		for name, editions := range programs {
			if len(programs) == 1 {
				name = repository
			}
			all = append(all, productOfEditions(Product{Name: name, Repository: repository, Editions: editions}))
		}
	}
	for key, editions := range packages {
		all = append(all, productOfEditions(Product{Name: key[1], Registry: key[0], Editions: editions}))
	}
	slices.SortFunc(all, func(a, b Product) int {
		return cmp.Or(cmp.Compare(a.Registry, b.Registry), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Repository, b.Repository))
	})
	return all
}

// parse reads the version, and reports whether it is one.
func (e *Edition) parse() (ok bool) {
	e.Parsed, ok = derive.ParseVersion(e.Version)
	e.Prerelease = e.Prerelease || e.Parsed.Prerelease()
	return ok
}

// beforeVersion is what stands before the version in a tag: v, sdk-v,
// @scope/name@.
var beforeVersion = regexp.MustCompile(`^(?:(.*)[-_/@. ])?v?$`)

// programOf names the program of a repository that a release is of: as its tag
// does, else as the connector does.
func programOf(r catalog.Record, d catalog.Release) string {
	if before, ok := strings.CutSuffix(d.Tag, d.Version); ok {
		m := beforeVersion.FindStringSubmatch(before)
		if m != nil && m[1] != "" && m[1] != "release" {
			return m[1]
		}
	}
	return cmp.Or(r.Category, path.Base(r.Container))
}

// productOfEditions sorts the editions and chooses among them.
func productOfEditions(p Product) Product {
	slices.SortFunc(p.Editions, func(a, b Edition) int {
		return cmp.Or(b.Parsed.Compare(a.Parsed), cmp.Compare(a.Record.ID, b.Record.ID))
	})
	p.Editions = slices.CompactFunc(p.Editions, func(a, b Edition) bool { return a.Parsed.Compare(b.Parsed) == 0 })
	at := slices.IndexFunc(p.Editions, func(e Edition) bool { return !e.Prerelease && e.Deprecated == "" })
	if at < 0 {
		at = max(0, slices.IndexFunc(p.Editions, func(e Edition) bool { return !e.Prerelease }))
	}
	p.Latest = p.Editions[at]
	if first := p.Editions[0]; at > 0 && first.Prerelease {
		p.Next = &first
	}
	return p
}

// After returns the stable versions after one, highest first.
func (p Product) After(v derive.Version) []Edition {
	var out []Edition
	for _, e := range p.Editions {
		if !e.Prerelease && e.Parsed.Compare(v) > 0 {
			out = append(out, e)
		}
	}
	return out
}

// Edition returns the edition with a version, nil if there is none.
func (p Product) Edition(v derive.Version) *Edition {
	for i, e := range p.Editions {
		if e.Parsed.Compare(v) == 0 {
			return &p.Editions[i]
		}
	}
	return nil
}

// Named returns the products with a name, best first: the whole name (owner/name,
// @scope/name) or, without a slash, what they are called for short. Releases come
// before packages, and of them the one of exactly that name, then the one
// published last.
func Named(products []Product, asked string) []Product {
	if asked = catalog.Underscored(asked); asked == "" {
		return nil
	}
	var out []Product
	for _, p := range products {
		if slices.ContainsFunc(p.names(), func(n string) bool { return catalog.Underscored(n) == asked }) {
			out = append(out, p)
		}
	}
	other := func(p Product) int {
		if catalog.Underscored(p.Name) == asked {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b Product) int {
		return cmp.Or(cmp.Compare(a.Registry, b.Registry), other(a)-other(b),
			b.Latest.Record.CreatedAt.Compare(a.Latest.Record.CreatedAt))
	})
	return out
}

// names are what people call a product.
func (p Product) names() []string {
	names := []string{p.Name, path.Base(p.Name)}
	if p.Registry == "" {
		names = append(names, p.Repository, path.Base(p.Repository), derive.ProductOf(p.Latest.Record, p.Latest.Version))
	}
	return names
}

// Programs returns the products that are released by a repository.
func Programs(products []Product) []Product {
	return slices.DeleteFunc(slices.Clone(products), func(p Product) bool { return p.Registry != "" })
}

// WithVersion returns the products that have a version: first those whose names
// are preferred, in that order, then the one that published it last.
func WithVersion(products []Product, v derive.Version, preferred []string) []Product {
	rank := func(p Product) int {
		at := slices.IndexFunc(preferred, func(n string) bool { return catalog.SameName(n, p.Name) })
		if at < 0 {
			return len(preferred)
		}
		return at
	}
	with := slices.DeleteFunc(slices.Clone(products), func(p Product) bool { return p.Edition(v) == nil })
	slices.SortStableFunc(with, func(a, b Product) int {
		return cmp.Or(rank(a)-rank(b), b.Edition(v).Record.CreatedAt.Compare(a.Edition(v).Record.CreatedAt))
	})
	return with
}

// Versions lists the versions of products, each once.
func Versions(products []Product) []string {
	var out []string
	for _, p := range products {
		for _, e := range p.Editions {
			if !slices.Contains(out, e.Version) {
				out = append(out, e.Version)
			}
		}
	}
	return out
}

// Names lists what products can be asked for by: the whole names, then the short
// ones, each once. If some contain what was asked for, it lists only those.
func Names(products []Product, asked string) []string {
	var whole, short []string
	for _, p := range products {
		whole = append(whole, p.Name)
		short = append(short, path.Base(p.Name))
	}
	var out []string
	for _, n := range append(whole, short...) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if asked = catalog.Underscored(asked); asked != "" {
		without := func(n string) bool { return !strings.Contains(catalog.Underscored(n), asked) }
		if some := slices.DeleteFunc(slices.Clone(out), without); len(some) > 0 {
			return some
		}
	}
	return out
}
