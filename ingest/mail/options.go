package mail

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"almanac/text/options"
)

// settings are the source's options in the network file; doc.go shows them.
type settings struct {
	Groups   []group `yaml:"groups" required:"true" unique:"name"`
	Files    string  `yaml:"files" format:"path"`
	Export   string  `yaml:"export" format:"address"`
	TokenEnv string  `yaml:"token_env" format:"env"`
	Message  string  `yaml:"message" format:"address"`
}

// group is one mailing list.
type group struct {
	Name  string `yaml:"name" required:"true" format:"slug"`
	ID    string `yaml:"id"`    // in the export
	Votes bool   `yaml:"votes"` // its messages contain formal votes
}

// Check checks what the tags cannot say.
func (s *settings) Check() error {
	for i, g := range s.Groups {
		if g.ID == "" && strings.Contains(s.Export, "{id}") {
			return options.Errorf(options.Item("groups", i), "%s needs the id that the option export refers to", g.Name)
		}
	}
	if (s.Files == "") == (s.Export == "") {
		return errors.New("want one of the options files and export")
	}
	if _, err := filepath.Match(s.Files, ""); err != nil {
		return options.Errorf("files", "%q is not a file name pattern", s.Files)
	}
	if s.Message != "" && !strings.Contains(s.Message, "{number}") {
		return options.Errorf("message", "want an address with {number}, such as "+
			"https://lists.example.org/g/{group}/message/{number}")
	}
	return nil
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
