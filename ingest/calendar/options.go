package calendar

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/text/webpage"
)

type options struct {
	URL          string               `yaml:"url"`
	URLEnv       string               `yaml:"url_env" format:"env"`
	File         string               `yaml:"file" format:"path"`
	Page         string               `yaml:"page"`
	Zone         string               `yaml:"zone"`
	Zones        map[string]string    `yaml:"zones"`
	Back         int                  `yaml:"back"`
	Ahead        int                  `yaml:"ahead"`
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

const (
	defaultBack  = 90  // days
	defaultAhead = 400 // days
	maxWindow    = 3650
)

const versionVariable = "{version}"

// path is the file as records name it, without the directories of this machine.
func (o options) path() string {
	if filepath.IsAbs(o.File) {
		return filepath.Base(o.File)
	}
	return o.File
}

// readOptions reads and completes a source's options.
func readOptions(src network.Source, env ingest.Environment) (options, error) {
	o := options{Back: defaultBack, Ahead: defaultAhead}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return o, err
	}
	if err := o.place(env); err != nil {
		return o, err
	}
	for name, days := range map[string]int{"back": o.Back, "ahead": o.Ahead} {
		if days < 0 || days > maxWindow {
			return o, fmt.Errorf("option %s: want 0 to %d days", name, maxWindow)
		}
	}
	if o.Page != "" && webpage.Address(o.Page, nil) == nil {
		return o, errors.New("option page: want an address that begins with https://")
	}
	if o.Zone != "" && iana(o.Zone) == nil {
		return o, fmt.Errorf("option zone: %q is not a time zone such as Europe/Zurich", o.Zone)
	}
	for alias, zone := range o.Zones {
		if iana(zone) == nil {
			return o, fmt.Errorf("option zones: %s: %q is not a time zone such as Europe/Zurich", alias, zone)
		}
	}
	for name := range o.Types {
		if !slices.Contains(types, name) {
			return o, fmt.Errorf("option types: unknown type %q; known are %s", name, strings.Join(types, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Components)) {
		if r := o.Components[name].Release; r != "" && !strings.Contains(r, versionVariable) {
			return o, fmt.Errorf("option components: %s: release: want the key of a release record with %s in it",
				name, versionVariable)
		}
	}
	return o, nil
}

// place validates the location of the calendar, and reads a secret address.
func (o *options) place(env ingest.Environment) error {
	given := 0
	for _, s := range []string{o.URL, o.URLEnv, o.File} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("want one of the options url, url_env and file")
	case o.File != "" && !fs.ValidPath(o.File) && !filepath.IsAbs(o.File):
		return fmt.Errorf("option file: %q is not in the network's folder; "+
			"write a relative path with slashes that stays inside, or an absolute one", o.File)
	case o.File != "" && !isYAML(o.File) && !strings.EqualFold(path.Ext(o.File), ".ics"):
		return fmt.Errorf("option file: %q: want a file that ends in .ics, .yaml or .yml", o.File)
	case o.File != "":
		return nil
	}
	option := "url"
	if o.URLEnv != "" {
		option = "url_env"
		if o.URL = env.Secret(o.URLEnv); o.URL == "" {
			return fmt.Errorf("option url_env: the environment variable %s is not set", o.URLEnv)
		}
	}
	if rest, ok := strings.CutPrefix(o.URL, "webcal://"); ok { // how calendar programs spell it
		o.URL = "https://" + rest
	}
	if webpage.Address(o.URL, nil) == nil {
		return fmt.Errorf("option %s: want an address that begins with https://", option)
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
