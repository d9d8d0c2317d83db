// Package network describes a ledger network: the one YAML file that holds its
// names, enumerations, status map, sources and schedules. No other package
// depends on a particular network. It is a leaf: every package may import it,
// and it imports only leaves.
package network

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/text/options"
)

// Network is one network's description.
type Network struct {
	Name        string `yaml:"name" json:"name"`   // short, a directory name: [a-z0-9-]+
	Title       string `yaml:"title" json:"title"` // as people write it
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	Homepage    string `yaml:"homepage,omitempty" json:"homepage,omitempty"`

	// Proposals describes the network's improvement proposals; Parse fills it in for a
	// network that has none.
	Proposals Proposals `yaml:"proposals" json:"proposals,omitzero"`
	// Toolchain names the network's main programs.
	Toolchain Toolchain `yaml:"toolchain,omitempty" json:"toolchain,omitzero"`
	// Authority ranks sources for near-duplicates and as a prior: greater is
	// more authoritative. Keyed by source name, then by kind; default 0.
	Authority map[string]float64 `yaml:"authority,omitempty" json:"authority,omitempty"`
	// Aliases are spellings that mean the same in queries.
	Aliases map[string][]string `yaml:"aliases,omitempty" json:"aliases,omitempty"`
	// Descriptions describes, by kind, what the kind holds in this network.
	Descriptions map[string]string `yaml:"descriptions,omitempty" json:"descriptions,omitempty"`

	// Community lists where people talk about the network.
	Community []Place `yaml:"community,omitempty" json:"community,omitempty"`
	// Partner is the key of the partner whose product clients can read about as
	// a resource of its own.
	Partner string `yaml:"partner,omitempty" json:"partner,omitempty"`

	// Examples are arguments of operations as on the command line (id=12), by
	// the operation's id, for the documentation.
	Examples map[string][]string `yaml:"examples,omitempty" json:"examples,omitempty"`

	Sources []Source `yaml:"sources" json:"sources"`
}

// Place is where people talk about the network.
type Place struct {
	Kind  string `yaml:"kind" json:"kind"` // one of PlaceKinds
	Title string `yaml:"title" json:"title"`
	URL   string `yaml:"url" json:"url"`
}

// PlaceKinds are the kinds of places.
var PlaceKinds = []string{"forum", "mail", "chat"}

// Proposals describes the network's improvement proposals.
type Proposals struct {
	Prefix string `yaml:"prefix" json:"prefix"` // CIP
	// Digits is the width that numbers are zero-padded to: 4 by default, 1 for
	// no padding.
	Digits int `yaml:"digits,omitempty" json:"digits,omitempty"`
	// Statuses are the words that the network uses for a proposal's status.
	Statuses []string `yaml:"statuses" json:"statuses"`
	// StatusMap maps a status word (case-insensitive) to one of the package's
	// Statuses. A word that is itself one of them needs no entry; every other
	// word of Statuses needs one.
	StatusMap map[string]string `yaml:"status_map,omitempty" json:"status_map,omitempty"`
	// Decided are the words of Statuses, or of StatusMap, of a proposal that is decided;
	// none: the words that mean Final.
	Decided []string `yaml:"decided,omitempty" json:"decided,omitempty"`
	// Default replaces an unknown word, with a warning.
	Default string `yaml:"default" json:"default"`
}

// Toolchain names what each of the network's main programs is published as: a
// repository (owner/name), one of several programs of a repository, or a package
// of a registry. Empty: the network has none.
type Toolchain struct {
	SDK string `yaml:"sdk,omitempty" json:"sdk,omitempty"` // what applications are built with
	// Ledger is what nodes run: the versions of environments are its releases.
	Ledger         string `yaml:"ledger,omitempty" json:"ledger,omitempty"`
	Language       string `yaml:"language,omitempty" json:"language,omitempty"` // of contracts
	PackageManager string `yaml:"package_manager,omitempty" json:"package_manager,omitempty"`
}

// Program is one of a network's main programs.
type Program struct {
	Role string // sdk, ledger, language or package_manager
	Name string // that it is published under
}

// Programs lists the programs that are named, in the order people ask for them.
func (t Toolchain) Programs() []Program {
	all := []Program{
		{"sdk", t.SDK}, {"ledger", t.Ledger}, {"language", t.Language}, {"package_manager", t.PackageManager},
	}
	return slices.DeleteFunc(all, func(p Program) bool { return p.Name == "" })
}

// Source is one source of content. If several sources yield a record, the
// earliest owns it.
type Source struct {
	Name      string        `yaml:"name" json:"name"`
	Kind      string        `yaml:"kind" json:"kind"` // connector: snapshot, proposals, …
	Title     string        `yaml:"title,omitempty" json:"title,omitempty"`
	Every     time.Duration `yaml:"every,omitempty" json:"every,omitempty"`         // 0 = only at start
	Freshness time.Duration `yaml:"freshness,omitempty" json:"freshness,omitempty"` // stale after; 0 = never
	// Options belong to the kind of source, which decodes them strictly.
	Options options.Node `yaml:"options,omitempty" json:"options,omitzero"`
}

// MaxBytes is the maximum size of a network file.
const MaxBytes = 1 << 20

// Parse reads a network file strictly: an unknown key, a second document, a
// duration without a unit or a status outside the enumeration is an error. The
// error lists all problems, one per line, as name:line: problem.
func Parse(name string, data []byte) (Network, error) {
	if len(data) > MaxBytes {
		return Network{}, fmt.Errorf("%s:1: the file has %d bytes; the limit is %d", name, len(data), MaxBytes)
	}
	root, err := document(data)
	if err != nil {
		return Network{}, located(name, err)
	}
	f := &file{options.Decoder{Noun: "key"}, root}
	var n Network
	f.Value(root, reflect.ValueOf(&n).Elem())
	if child(root, "proposals") == nil {
		n.Proposals = Proposals{Prefix: commonPrefix, Statuses: Statuses, Default: Statuses[0]}
	}
	if f.Problems == nil {
		f.validate(n)
	}
	if f.Problems != nil {
		errs := make([]error, len(f.Problems))
		for i, p := range f.Problems {
			errs[i] = fmt.Errorf("%s:%d: %v", name, p.Line, p)
		}
		return Network{}, errors.Join(errs...)
	}
	for i := range n.Sources {
		src := &n.Sources[i]
		src.Options = src.Options.At(name, f.at("sources", i).Line)
	}
	return n, nil
}

// document returns the one mapping that makes up the file.
func document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, err
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return nil, fmt.Errorf("line %d: a second document; a network is one", second.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: a network file is a mapping of keys to values", root.Line)
	}
	return root, nil
}

// located prefixes an error of the YAML library with file and line.
func located(name string, err error) error {
	line, message := options.Located(err)
	return fmt.Errorf("%s:%d: %s", name, line, message)
}

// file reads one network file.
type file struct {
	options.Decoder
	root *yaml.Node
}

func (f *file) report(at *yaml.Node, format string, args ...any) {
	f.Problems = append(f.Problems, options.Problem{Line: at.Line, Message: fmt.Sprintf(format, args...)})
}

const (
	// defaultDigits is the width of a proposal's number in a network that sets
	// none.
	defaultDigits = 4
	// MaxDigits is the maximum length of a proposal number.
	MaxDigits = 6
	// partDigits is the length of the number of a part of a proposal.
	partDigits = 2

	// commonPrefix is the service's own prefix of proposals: clients may use it
	// in every network.
	commonPrefix = "CIP"
	// draftPrefix begins the key of a draft, which is numbered by its pull
	// request.
	draftPrefix = "PR"
)

// Key returns the natural key of a proposal number given in digits: CIP-0056, or
// CIP-0056-01 for a part of it, 56-1. Zeros beyond the network's padding are
// dropped; a part has two digits.
func (p Proposals) Key(number string) string {
	number, part, _ := strings.Cut(number, "-")
	if part != "" {
		part = "-" + padded(part, partDigits)
	}
	width := p.Digits
	if width == 0 {
		width = defaultDigits
	}
	return p.Prefix + "-" + padded(number, width) + part
}

// padded returns digits with zeros in front, up to a width.
func padded(digits string, width int) string {
	digits = strings.TrimLeft(digits, "0")
	return strings.Repeat("0", max(0, width-len(digits))) + digits
}

// DraftKey returns the natural key of a draft by the number of its pull
// request: PR-203.
func DraftKey(pull int) string { return draftPrefix + "-" + strconv.Itoa(pull) }

// ID returns the public id of a proposal: the padded number (0056, 0056-01), or
// the key itself for a draft (PR-203).
func (p Proposals) ID(key string) string {
	if id, ok := strings.CutPrefix(key, p.Prefix+"-"); ok {
		if number, part, _ := strings.Cut(id, "-"); isNumber(number) && isPart(id, part) {
			return id
		}
	}
	return key
}

// ParseID reads the id of a proposal as people write it and returns its key:
// 56, 0056, CIP-56, cip 0056, CIP#56 and the same with the network's own
// prefix, each also with the number of a part, 56-1; PR-203 or pr 203 for a
// draft. Surrounding space is ignored.
func (p Proposals) ParseID(id string) (key string, ok bool) {
	id = strings.TrimSpace(id)
	if number, ok := numberAfter(draftPrefix, id); ok && isNumber(number) {
		return draftPrefix + "-" + cmp.Or(strings.TrimLeft(number, "0"), "0"), true
	}
	for _, prefix := range []string{p.Prefix, commonPrefix, ""} {
		id, ok := numberAfter(prefix, id)
		number, part, _ := strings.Cut(id, "-")
		if ok && isNumber(number) && isPart(id, part) && len(strings.TrimLeft(number, "0")) <= MaxDigits {
			return p.Key(id), true
		}
	}
	return "", false
}

// numberAfter reads what follows a prefix, case-insensitively, with at most one
// separator between them.
func numberAfter(prefix, s string) (number string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	s = s[len(prefix):]
	if prefix != "" && s != "" && strings.IndexByte("-# \t\n", s[0]) >= 0 {
		s = s[1:]
	}
	return s, true
}

// isPart reports whether an id ends in the number of a part, or has none.
func isPart(id, part string) bool {
	return isNumber(part) && len(part) <= partDigits || !strings.Contains(id, "-")
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
