// Package ranking holds what decides the order of results: profiles, which say which
// retrievers a search uses, how their lists are fused and what each signal weighs;
// equivalent spellings; and pins. They are built in, configured, or saved in the catalog
// as revisions, of which what is published stands before what is configured, and any can
// be tried before it is published. A Set is what searches use of it, compiled.
package ranking

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Profile is one way to rank.
type Profile struct {
	Name        string `yaml:"name"`
	Version     int    `yaml:"version"`
	Description string `yaml:"description"`
	// Provenance says where the weights come from and how to reproduce them.
	Provenance string `yaml:"provenance,omitempty"`

	Lists []List  `yaml:"lists"`
	RankK float64 `yaml:"rank_k"` // constant of reciprocal-rank fusion
	// Order is "rerank", or "fusion" for the fused order as it is.
	Order   string             `yaml:"order"`
	Weights map[string]float64 `yaml:"weights,omitempty"` // of normalised features
	Fixed   map[string]float64 `yaml:"fixed,omitempty"`   // of features without normalisation
	// Unweighted are features that training leaves out.
	Unweighted []string `yaml:"unweighted,omitempty"`
	// Floor is the cosine below which a passage without any word of the query is not a result.
	Floor float64 `yaml:"floor"`
	// Correct allows words that are rare in the corpus to be read as similar ones.
	Correct bool `yaml:"correct"`
	// Collapse is the similarity (Jaccard, of five-word shingles) from which
	// records are shown as one; 0 shows every record.
	Collapse float64 `yaml:"collapse"`
	Rules    Rules   `yaml:"rules"`
}

// fitted matches the provenance of fitted profiles, up to the names of collections or
// of the case.
var fitted = regexp.MustCompile(`^almanac tune on (.+?); |^fitted from \S+ to the case (.+?), judged by `)

// FittedTo reports whether the weights were fitted to a collection or case.
func (p Profile) FittedTo(name string) bool {
	m := fitted.FindStringSubmatch(p.Provenance)
	return m != nil && (m[2] == name || slices.Contains(strings.Split(m[1], ", "), name))
}

// Rules are numbers that training does not learn; docs/reference/measurements.md says what
// is known of each. A profile that leaves one out has that of the default one.
type Rules struct {
	// CorrectionWeight is that of a misspelt word's other reading, AliasWeight that
	// of another spelling of the network's, relative to the words typed.
	CorrectionWeight float64 `yaml:"correction_weight"`
	AliasWeight      float64 `yaml:"alias_weight"`
	// UndatedRecency is the recency of a record without a date.
	UndatedRecency float64 `yaml:"undated_recency"`
	// NamedInTitle is how much an identifier in a title counts, as a share of one that
	// is the record's own: titles also name what they build on.
	NamedInTitle float64 `yaml:"named_in_title"`
	// SecondaryPenalty is how much less authority an unmerged draft, or a page of an
	// old version, has than the text it may be a copy of.
	SecondaryPenalty float64 `yaml:"secondary_penalty"`
	// DiverseShare is the least score of a result that is moved up for its kind,
	// relative to that of the one it displaces.
	DiverseShare float64      `yaml:"diverse_share"`
	CrossEncoder CrossEncoder `yaml:"cross_encoder"`
}

// CrossEncoder says how much a cross-encoder decides.
type CrossEncoder struct {
	Weight float64 `yaml:"weight"` // relative to the linear model, 0 to 1
	Depth  int     `yaml:"depth"`  // results that it reads
}

// List is one retriever's part.
type List struct {
	Retriever string  `yaml:"retriever"`
	Weight    float64 `yaml:"weight"`
	Depth     int     `yaml:"depth"` // hits requested
	// Unless names a retriever that replaces this one if it is available.
	Unless string `yaml:"unless,omitempty"`
}

// The orders of a profile.
const (
	Rerank = "rerank" // by the model
	Fusion = "fusion" // of the fused lists as it is
)

//go:embed *.yaml
var files embed.FS

// DefaultName is the name of the profile used by default, TransformerName of the one
// that takes its place where vectors are those of a transformer.
const (
	DefaultName     = "default"
	TransformerName = "transformer"
)

// Names returns the built-in profiles.
func Names() []string {
	paths, _ := fs.Glob(files, "*.yaml")
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(p, ".yaml")
	}
	return paths
}

// Load returns a built-in profile by name, or the profile in a YAML file.
func Load(nameOrFile string) (Profile, error) {
	if slices.Contains(Names(), nameOrFile) {
		data, err := files.ReadFile(nameOrFile + ".yaml")
		if err != nil {
			return Profile{}, fmt.Errorf("profile %s: %w", nameOrFile, err)
		}
		return Parse(data)
	}
	data, err := os.ReadFile(nameOrFile)
	if err != nil {
		return Profile{}, fmt.Errorf("profile %q is neither built in (%s) nor a readable file: %w", nameOrFile,
			strings.Join(Names(), ", "), err)
	}
	return Parse(data)
}

// defaultRules are those of the default profile.
var defaultRules = sync.OnceValue(func() Rules {
	var p struct{ Rules Rules }
	data, err := files.ReadFile(DefaultName + ".yaml")
	if err == nil {
		err = yaml.Unmarshal(data, &p)
	}
	if err != nil {
		panic("profile: " + err.Error())
	}
	return p.Rules
})

// maxSize is the most bytes of a profile: the YAML library compares every key of a
// mapping with all others.
const maxSize = 64 << 10

// Parse reads a profile, strictly. What is wrong with it is a Fault.
func Parse(data []byte) (Profile, error) {
	if len(data) > maxSize {
		return Profile{}, fmt.Errorf("profile: %w", Fault{Problem: fmt.Sprintf("it is larger than %d KiB", maxSize>>10)})
	}
	p := Profile{Rules: defaultRules()}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&p); err != nil {
		return Profile{}, fmt.Errorf("profile: %w", plainly(data, err))
	}
	if f := p.check(); f.Problem != "" {
		return Profile{}, fmt.Errorf("profile %s: %w", p.Name, f.In(data))
	}
	return p, nil
}

// check returns what is wrong with the values; no problem if nothing is.
func (p Profile) check() Fault {
	switch {
	case p.Name == "":
		return Fault{Field: "name", Problem: "name is missing"}
	case len(p.Lists) == 0:
		return Fault{Field: "lists", Problem: "lists is empty: at least one retriever is needed"}
	case p.Order != Rerank && p.Order != Fusion:
		return Fault{Field: "order", Problem: fmt.Sprintf("order is %q: must be rerank or fusion", p.Order)}
	case !(p.Collapse >= 0 && p.Collapse <= 1):
		return Fault{Field: "collapse", Problem: "collapse must be between 0 and 1"}
	case !(p.RankK > 0):
		return Fault{Field: "rank_k", Problem: "rank_k must be greater than 0"}
	}
	for i, l := range p.Lists {
		if l.Depth < 1 || l.Depth > 1000 || !(l.Weight > 0) {
			return Fault{Field: fmt.Sprintf("lists.%d", i), Problem: fmt.Sprintf(
				"list %s: depth must be 1 to 1000 and weight greater than 0", l.Retriever)}
		}
	}
	return p.Rules.check()
}

// check returns a rule that is out of its range.
func (r Rules) check() Fault {
	for _, share := range []struct {
		name  string
		value float64
	}{
		{"correction_weight", r.CorrectionWeight}, {"alias_weight", r.AliasWeight}, {"undated_recency", r.UndatedRecency},
		{"named_in_title", r.NamedInTitle}, {"secondary_penalty", r.SecondaryPenalty}, {"diverse_share", r.DiverseShare},
		{"cross_encoder.weight", r.CrossEncoder.Weight},
	} {
		if !(share.value >= 0 && share.value <= 1) {
			return Fault{Field: "rules." + share.name, Problem: share.name + " must be between 0 and 1"}
		}
	}
	if r.CrossEncoder.Depth < 2 || r.CrossEncoder.Depth > maxCrossDepth {
		return Fault{Field: "rules.cross_encoder.depth",
			Problem: fmt.Sprintf("cross_encoder.depth must be 2 to %d", maxCrossDepth)}
	}
	return Fault{}
}

// maxCrossDepth is the most texts that a cross-encoder is sent at once.
const maxCrossDepth = 100
