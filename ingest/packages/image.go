package packages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/dates"
)

// image is the content of an image's manifest.
type image struct {
	Created     string   `json:"created,omitempty"` // RFC 3339
	Platforms   []string `json:"platforms,omitempty"`
	Description string   `json:"description,omitempty"`
	Licence     string   `json:"licence,omitempty"`
	Source      string   `json:"source,omitempty"`
}

// manifest is an image manifest, or an index of them by platform.
// https://github.com/opencontainers/image-spec
type manifest struct {
	Manifests   []descriptor      `json:"manifests"`
	Config      descriptor        `json:"config"`
	Annotations map[string]string `json:"annotations"`
}

type descriptor struct {
	Digest   string `json:"digest"`
	Platform struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
		Variant      string `json:"variant"`
	} `json:"platform"`
	Annotations map[string]string `json:"annotations"`
}

// configuration is the relevant part of an image's configuration.
type configuration struct {
	Created      string `json:"created"`
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant"`
	Config       struct {
		Labels map[string]string `json:"Labels"`
	} `json:"config"`
}

func platform(os, architecture, variant string) string {
	if os == "" || os == "unknown" || architecture == "" {
		return ""
	}
	return strings.TrimSuffix(os+"/"+architecture+"/"+variant, "/")
}

func (d descriptor) platform() string {
	return platform(d.Platform.OS, d.Platform.Architecture, d.Platform.Variant)
}

// describe fills missing fields from annotations or labels.
func (i *image) describe(notes map[string]string) {
	note := func(into *string, name string) {
		*into = cmp.Or(*into, strings.TrimSpace(notes["org.opencontainers.image."+name]))
	}
	note(&i.Description, "description")
	note(&i.Licence, "licenses")
	note(&i.Source, "source")
	i.date(notes["org.opencontainers.image.created"])
}

func (i *image) date(s string) {
	i.Created = cmp.Or(i.Created, dates.Format(parseTime(s)))
}

// preferred is the platform whose image represents its index.
const preferred = "linux/amd64"

// inspect reads an image by its digest: its manifest, for an index that of one
// platform, and its configuration.
func (c *repositoryClient) inspect(ctx context.Context, digest string) (image, error) {
	var i image
	var m manifest
	if err := c.content(ctx, "manifests", digest, manifestTypes, maxManifest, &m); err != nil {
		return image{}, err
	}
	i.describe(m.Annotations)
	if len(m.Manifests) > 0 {
		var one string
		for _, d := range m.Manifests {
			p := d.platform()
			if p == "" || d.Annotations["vnd.docker.reference.type"] != "" {
				continue // not an image but an attestation
			}
			if one == "" || p == preferred {
				one = d.Digest
			}
			if !slices.Contains(i.Platforms, p) {
				i.Platforms = append(i.Platforms, p)
			}
		}
		slices.Sort(i.Platforms)
		if one == "" {
			return i, nil
		}
		m = manifest{}
		if err := c.content(ctx, "manifests", one, manifestTypes, maxManifest, &m); err != nil {
			return i, err
		}
		i.describe(m.Annotations)
	}
	if m.Config.Digest == "" {
		return i, errNoAnswer
	}
	var conf configuration
	if err := c.content(ctx, "blobs", m.Config.Digest, nil, maxConfigs, &conf); err != nil {
		return i, err
	}
	i.describe(conf.Config.Labels)
	i.date(conf.Created)
	if p := platform(conf.OS, conf.Architecture, conf.Variant); p != "" && len(i.Platforms) == 0 {
		i.Platforms = []string{p}
	}
	return i, nil
}

const (
	// sweep is how long the targets of tags are cached.
	recheck = 24 * time.Hour
	// maxNames is the maximum number of non-version tags that are resolved.
	maxNames = 20
)

// image reads an image's tags.
func (r *run) image(ctx context.Context, name string, old seen) (seen, error) {
	c := r.repository(name)
	tags, err := c.tags(ctx)
	if err != nil {
		return seen{}, err
	}
	list := ingest.Digest(c.base, tags)
	if list == old.List && r.env.Now().Sub(old.Swept) < recheck {
		r.keep(old)
		return old, nil
	}
	now := seen{List: list, Swept: r.env.Now().UTC(), Tags: map[string]string{}, Images: map[string]image{}}
	versions, names := partition(tags)
	versions = newest(versions, r.opts.Versions, r.opts.Prereleases, func(version) bool { return false })
	if len(versions) == 0 {
		r.out.Warn(registryOCI+":"+name, "none of its tags is a version such as 1.2.3, so it has no records")
	}
	for _, v := range versions {
		names = append(names, v.text)
	}
	shared := map[string][]string{} // digest → tags
	for _, tag := range names {
		digest, err := c.digest(ctx, tag)
		if outbound.BlameOf(err) == outbound.Gone {
			r.out.Warn(registryOCI+":"+name, fmt.Sprintf("tag %s is listed but does not exist", tag))
			continue
		}
		if err != nil {
			return seen{}, err
		}
		now.Tags[tag] = digest
		shared[digest] = append(shared[digest], tag)
	}
	var entries []catalog.Entry // written once all are read, as the memory has all or none of them
	for _, v := range versions {
		digest, ok := now.Tags[v.text]
		if !ok {
			continue
		}
		i, known := now.Images[digest]
		if !known {
			if i, known = old.Images[digest]; !known {
				i, err = c.inspect(ctx, digest)
			}
		}
		switch {
		case ctx.Err() != nil:
			return seen{}, ctx.Err()
		case known || err == nil:
			now.Images[digest] = i
		case outbound.BlameOf(err) == outbound.Gone:
			r.out.Warn(registryOCI+":"+name, fmt.Sprintf("the target of tag %s does not exist", v.text))
		case outbound.BlameOf(err) != outbound.Item && !errors.Is(err, errAltered) && !errors.Is(err, errNoAnswer):
			return seen{}, err
		default: // keep what is known, and request the rest again
			r.out.Warn(registryOCI+":"+name, fmt.Sprintf("tag %s could not be read completely: %v", v.text, err))
			now.List = ""
		}
		e, err := r.imageEntry(name, v, digest, i, shared[digest])
		if err != nil {
			return seen{}, err
		}
		now.Keys = append(now.Keys, e.Record.Key)
		entries = append(entries, e)
	}
	for _, e := range entries {
		if err := r.put(ctx, e); err != nil {
			return seen{}, err
		}
	}
	return now, nil
}

// partition separates versions from other tags, which it sorts by how likely they
// point to a version: names, then short forms of versions.
func partition(tags []string) (versions []version, names []string) {
	for _, tag := range tags {
		if v, ok := parseVersion(tag); ok {
			versions = append(versions, v)
		} else {
			names = append(names, tag)
		}
	}
	digits := func(s string) int { return strings.IndexAny(s, "0123456789") + 1 }
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(min(digits(a), 1), min(digits(b), 1)), cmp.Compare(len(a), len(b)))
	})
	return versions, names[:min(len(names), maxNames)]
}

func (r *run) imageEntry(name string, v version, digest string, i image, tags []string) (catalog.Entry, error) {
	others := slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return t == v.text })
	slices.Sort(others)
	d := catalog.PackageVersion{
		Name: name, Version: v.text, Description: i.Description, DistTags: others, Prerelease: v.prerelease(),
		Licence: i.Licence, Repository: homepage(i.Source), Digest: digest, Platforms: i.Platforms,
	}
	text := []string{i.Description, fmt.Sprintf("The container image `%s:%s`.", name, v.text)}
	if len(i.Platforms) > 0 {
		text = append(text, fmt.Sprintf("It runs on %s.", strings.Join(i.Platforms, ", ")))
	}
	_, repository := splitImage(name)
	return entry(registryOCI, d, parseTime(i.Created), cmp.Or(page(r.opts.ImagePage, repository, v.text), d.Repository),
		text)
}
