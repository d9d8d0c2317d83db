// Package network describes a ledger network: the one YAML file that holds its
// names, enumerations, status map, sources and schedules. No other package
// depends on a particular network. It is a leaf: every package may import it,
// and it imports only leaves.
package network

import (
	"slices"
	"time"

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
