package calendar

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/text/nearest"
	"almanac/text/options"
	"almanac/text/webaddress"
)

type settings struct {
	URL          string               `yaml:"url"`
	URLEnv       string               `yaml:"url_env" format:"env"`
	File         string               `yaml:"file" format:"file"`
	Page         string               `yaml:"page" format:"address"`
	Zone         string               `yaml:"zone"`
	Zones        map[string]string    `yaml:"zones"`
	Back         int                  `yaml:"back" min:"0"`
	Ahead        int                  `yaml:"ahead" min:"0"`
	Environments map[string][]string  `yaml:"environments"`
	Environment  string               `yaml:"environment"`
	Types        map[string][]string  `yaml:"types"`
	Components   map[string]component `yaml:"components"`
	Validators   []string             `yaml:"validators"`
	Exclude      []string             `yaml:"exclude"`
}

type component struct {
	Words   []string `yaml:"words"`
	Release string   `yaml:"release"`
}

const maxWindow = 3650 // days back or ahead

const versionVariable = "{version}"

// path is the file as records name it, without the directories of this machine.
func (s settings) path() string {
	if filepath.IsAbs(s.File) {
		return filepath.Base(s.File)
	}
	return s.File
}

// Check checks where the calendar is and that its words are those of known things.
func (s *settings) Check() error {
	given := 0
	for _, place := range []string{s.URL, s.URLEnv, s.File} {
		if place != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("want one of the options url, url_env and file")
	case s.File != "" && !isYAML(s.File) && !strings.EqualFold(path.Ext(s.File), ".ics"):
		return options.Errorf("file", "%q: want a file that ends in .ics, .yaml or .yml", s.File)
	case max(s.Back, s.Ahead) > maxWindow:
		return fmt.Errorf("want at most %d days in the options back and ahead", maxWindow)
	}
	if err := s.address(); s.URL != "" && err != nil {
		return options.Errorf("url", "%w", err)
	}
	const noZone = "%q is not a time zone such as Europe/Zurich"
	if s.Zone != "" && iana(s.Zone) == nil {
		return options.Errorf("zone", noZone, s.Zone)
	}
	for name, zone := range s.Zones {
		if iana(zone) == nil {
			return options.Errorf("zones."+name, noZone, zone)
		}
	}
	for name := range s.Types {
		if !slices.Contains(types, name) {
			return options.Errorf("types", "%s", nearest.Unknown("type", name, types))
		}
	}
	return nil
}

// Check checks the key of its releases.
func (c *component) Check() error {
	if c.Release != "" && !strings.Contains(c.Release, versionVariable) {
		return options.Errorf("release", "want the key of a release record with %s in it", versionVariable)
	}
	return nil
}

// reveal reads an address that is a secret.
func (s *settings) reveal(env ingest.Environment) error {
	if s.URLEnv == "" {
		return nil
	}
	if s.URL = env.Secret(s.URLEnv); s.URL == "" {
		return fmt.Errorf("option url_env: the environment variable %s is not set", s.URLEnv)
	}
	if err := s.address(); err != nil {
		return fmt.Errorf("option url_env: %s: %w", s.URLEnv, err)
	}
	return nil
}

// address reads the url, which calendar programs begin with webcal.
func (s *settings) address() error {
	if rest, ok := strings.CutPrefix(s.URL, "webcal://"); ok {
		s.URL = "https://" + rest
	}
	if webaddress.Canonical(s.URL, nil) == nil {
		return errors.New("want an address that begins with https://")
	}
	return nil
}

func isYAML(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// types are the types of operations in the order in which their words are
// searched: a vote on an upgrade is governance, a freeze before one a freeze.
var types = []string{
	catalog.OperationGovernance, catalog.OperationFreeze, catalog.OperationMinimumVersion,
	catalog.OperationSynchronizerUpgrade, catalog.OperationUpgrade, catalog.OperationDeploy,
	catalog.OperationRelease, catalog.OperationOther,
}

// usual are the words of the types that need no option.
var usual = map[string][]string{
	catalog.OperationGovernance: {"vote", "votes", "voting", "ballot", "governance", "election", "referendum"},
	catalog.OperationFreeze:     {"freeze", "freezes", "frozen", "moratorium", "blackout"},
	catalog.OperationMinimumVersion: {
		"minimum version", "minimum required version", "min version", "minimum node version",
		"upgrade deadline", "end of support",
	},
	catalog.OperationSynchronizerUpgrade: {
		"synchronizer upgrade", "synchroniser upgrade", "synchronizer migration", "logical synchronizer", "lsu",
		"protocol upgrade", "protocol version",
	},
	catalog.OperationUpgrade: {"upgrade", "upgrades", "migration", "hard fork"},
	catalog.OperationDeploy: {
		"deploy", "deploys", "deployed", "deployment", "deployments", "rollout", "roll out", "rolled out",
	},
	catalog.OperationRelease: {"release", "releases", "released", "release candidate", "general availability"},
}

// usualValidators are the usual words for those who run the network's nodes.
var usualValidators = []string{"validator", "validators", "node operator", "node operators"}
