package packages

import (
	"errors"
	"regexp"

	"almanac/text/options"
	"almanac/text/webaddress"
)

type settings struct {
	NPM           []string          `yaml:"npm" unique:"true"`
	Images        []string          `yaml:"images" unique:"true"`
	Versions      int               `yaml:"versions" min:"1"`
	Prereleases   int               `yaml:"prereleases" min:"0"`
	NPMPage       string            `yaml:"npm_page" format:"address"`
	ImagePage     string            `yaml:"image_page" format:"address"`
	NPMRegistry   string            `yaml:"npm_registry" format:"base"`
	ImageRegistry string            `yaml:"image_registry" format:"base"`
	Tokens        map[string]string `yaml:"tokens" format:"env"`
}

var (
	npmName   = regexp.MustCompile(`^(?:@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$`)
	imageName = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	imageHost = regexp.MustCompile(`^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?$`)
)

const maxName = 214 // bytes; npm's own limit

// Check checks the names of packages.
func (s *settings) Check() error {
	if len(s.NPM)+len(s.Images) == 0 {
		return errors.New("want a list of packages in option npm, or of images in option images")
	}
	for i, name := range s.NPM {
		if !npmName.MatchString(name) || len(name) > maxName {
			return options.Errorf(options.Item("npm", i), "%q; want a package's name such as @causeway/sdk", name)
		}
	}
	for i, name := range s.Images {
		if _, repository := splitImage(name); !imageName.MatchString(repository) || len(name) > maxName ||
			webaddress.Check(s.endpoint(name).base) != nil {
			return options.Errorf(options.Item("images", i), "%q; want an image without tag such as "+
				"registry.example.org/causeway/node", name)
		}
	}
	return nil
}

// page returns the address of a version's page for people; "" without a
// template.
func page(template, name, version string) string {
	return webaddress.Fill(template, map[string]string{"{name}": name, "{version}": version})
}
