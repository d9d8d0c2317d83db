package packages

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest"
)

// options are the source's options in the network file; doc.go shows them.
type options struct {
	NPM           []string          `yaml:"npm"`
	Images        []string          `yaml:"images"`
	Versions      int               `yaml:"versions"`
	Prereleases   int               `yaml:"prereleases"`
	NPMPage       string            `yaml:"npm_page"`
	ImagePage     string            `yaml:"image_page"`
	NPMRegistry   string            `yaml:"npm_registry"`
	ImageRegistry string            `yaml:"image_registry"`
	Tokens        map[string]string `yaml:"tokens" format:"env"`
}

var (
	npmName   = regexp.MustCompile(`^(?:@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$`)
	imageName = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	imageHost = regexp.MustCompile(`^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?$`)
)

const maxName = 214 // bytes; npm's own limit

func readOptions(src network.Source) (options, error) {
	o := options{Versions: 50, Prereleases: 10}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return o, err
	}
	if len(o.NPM)+len(o.Images) == 0 {
		return o, errors.New("want a list of packages in option npm, or of images in option images")
	}
	for i, name := range o.NPM {
		if !npmName.MatchString(name) || len(name) > maxName {
			return o, fmt.Errorf("option npm: %q; want a package's name such as @causeway/sdk", name)
		}
		if slices.Contains(o.NPM[:i], name) {
			return o, fmt.Errorf("option npm: %s appears twice", name)
		}
	}
	for i, name := range o.Images {
		if _, repository := splitImage(name); !imageName.MatchString(repository) || len(name) > maxName ||
			address(o.endpoint(name).base) == nil {
			return o, fmt.Errorf("option images: %q; want an image without tag such as "+
				"registry.example.org/causeway/node", name)
		}
		if slices.Contains(o.Images[:i], name) {
			return o, fmt.Errorf("option images: %s appears twice", name)
		}
	}
	if o.Versions < 1 || o.Prereleases < 0 {
		return o, errors.New("options versions and prereleases: want the number to keep")
	}
	for _, a := range []struct{ name, value string }{
		{"npm_registry", o.NPMRegistry}, {"image_registry", o.ImageRegistry}, {"npm_page", o.NPMPage},
		{"image_page", o.ImagePage},
	} {
		if a.value != "" && address(a.value) == nil {
			return o, fmt.Errorf("option %s: want a web address", a.name)
		}
	}
	return o, nil
}

// address parses a web address; nil if it is not one.
func address(raw string) *url.URL {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil
	}
	return u
}

// page returns the address of a version's page for people; "" without a
// template.
func page(template, name, version string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.NewReplacer("{name}", strings.Join(parts, "/"), "{version}", url.PathEscape(version)).
		Replace(template)
}
