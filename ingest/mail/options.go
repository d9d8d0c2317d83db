package mail

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest"
)

// options are the source's options in the network file; doc.go shows them.
type options struct {
	Groups   []group `yaml:"groups"`
	Files    string  `yaml:"files" format:"path"`
	Export   string  `yaml:"export"`
	TokenEnv string  `yaml:"token_env" format:"env"`
	Message  string  `yaml:"message"`
}

// group is one mailing list.
type group struct {
	Name  string `yaml:"name"`
	ID    string `yaml:"id"`    // in the export
	Votes bool   `yaml:"votes"` // its messages contain formal votes
}

var groupName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func readOptions(src network.Source) (options, error) {
	var o options
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return o, err
	}
	if len(o.Groups) == 0 {
		return o, errors.New("option groups: want a list of {name: cip-discuss}")
	}
	names := map[string]bool{}
	for _, g := range o.Groups {
		switch {
		case !groupName.MatchString(g.Name):
			return o, fmt.Errorf("option groups: %q; want a name such as cip-discuss", g.Name)
		case names[g.Name]:
			return o, fmt.Errorf("option groups: %s appears twice", g.Name)
		case g.ID == "" && strings.Contains(o.Export, "{id}"):
			return o, fmt.Errorf("option groups: %s needs the id that option export refers to", g.Name)
		}
		names[g.Name] = true
	}
	if (o.Files == "") == (o.Export == "") {
		return o, errors.New("want one of the options files and export")
	}
	if _, err := filepath.Match(o.Files, ""); err != nil {
		return o, fmt.Errorf("option files: %q is not a file name pattern", o.Files)
	}
	if o.Export != "" && !isAddress(o.Export) {
		return o, errors.New("option export: want an address such as https://lists.example.org/{group}.mbox")
	}
	if o.Message != "" && (!isAddress(o.Message) || !strings.Contains(o.Message, "{number}")) {
		return o, errors.New("option message: want an address such as " +
			"https://lists.example.org/g/{group}/message/{number}")
	}
	return o, nil
}

func isAddress(template string) bool {
	u, err := url.Parse(template)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

func (g group) files(pattern string) string { return strings.ReplaceAll(pattern, "{group}", g.Name) }

func (g group) export(template string) string {
	return strings.NewReplacer("{group}", url.QueryEscape(g.Name), "{id}", url.QueryEscape(g.ID)).Replace(template)
}

// address returns the address of a message in the archive; "" if there is none.
func (g group) address(template string, number int64) string {
	if number >= firstMade {
		return "" // the archive does not have the number
	}
	return strings.NewReplacer("{group}", url.PathEscape(g.Name), "{number}", strconv.FormatInt(number, 10)).
		Replace(template)
}

// key returns the natural key of a message or a thread.
func (g group) key(number int64) string { return fmt.Sprintf("%s-%d", g.Name, number) }
