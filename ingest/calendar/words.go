package calendar

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"almanac/catalog"
)

// fold normalizes text for the search of words: lower case, with one space
// around and between words; anything but letters and digits is a space.
func fold(s string) string {
	fields := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return " " + strings.Join(fields, " ") + " "
}

// has reports whether a folded text has one of the words.
func has(folded string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		w = fold(w)
		return len(w) > 2 && strings.Contains(folded, w)
	})
}

// attribution is what the rules of the options derive from an event's words.
type attribution struct {
	environments []string
	kind         string
	components   []string
	validators   bool
	version      string
	minimum      string
}

// attribute applies the rules. What the event gives itself takes precedence.
func (o *settings) attribute(e event) attribution {
	short := fold(e.title + "\n" + e.location + "\n" + strings.Join(e.categories, "\n"))
	named, long := fold(e.title+"\n"+strings.Join(e.categories, "\n")), fold(e.text)
	a := attribution{
		environments: e.environments, kind: cmp.Or(e.kind, o.kindOf(named)), components: e.components,
		version: cmp.Or(e.version, versionIn(e.title)), minimum: cmp.Or(e.minimum, minimumIn(e.title+"\n"+e.text)),
	}
	for _, text := range []string{short, long} {
		if len(a.environments) == 0 {
			a.environments = o.environmentsIn(text)
		}
	}
	if len(a.environments) == 0 && o.Environment != "" {
		a.environments = []string{o.Environment}
	}
	if len(a.components) == 0 {
		for _, name := range slices.Sorted(maps.Keys(o.Components)) {
			if has(named, append(o.Components[name].Words, name)) {
				a.components = append(a.components, name)
			}
		}
	}
	if a.minimum == "" && a.kind == catalog.OperationMinimumVersion {
		a.minimum = a.version
	}
	if e.validators != nil {
		a.validators = *e.validators
	} else {
		a.validators = a.kind == catalog.OperationMinimumVersion || a.kind == catalog.OperationSynchronizerUpgrade ||
			o.namesValidators(short+long)
	}
	return a
}

// usualEnvironments are those of a network that names none.
var usualEnvironments = map[string][]string{
	"mainnet": {"main net", "main network"}, "testnet": {"test net", "test network"},
	"devnet": {"dev net", "development network"},
}

func (o *settings) environmentsIn(folded string) []string {
	known := o.Environments
	if len(known) == 0 {
		known = usualEnvironments
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if has(folded, slices.Concat(known[name], []string{name})) {
			out = append(out, name)
		}
	}
	return out
}

func (o *settings) kindOf(folded string) string {
	for _, words := range []map[string][]string{o.Types, usual} {
		for _, kind := range types {
			if has(folded, words[kind]) {
				return kind
			}
		}
	}
	return catalog.OperationOther
}

// namesValidators reports whether a folded text names those who run nodes;
// super validators do not count.
func (o *settings) namesValidators(folded string) bool {
	if len(o.Validators) > 0 {
		return has(folded, o.Validators)
	}
	return has(strings.ReplaceAll(folded, " super validator", " supervalidator"), usualValidators)
}

// excluded reports whether an event is ignored because of its title.
func (o *settings) excluded(e event) bool { return has(fold(e.title), o.Exclude) }

const semver = `\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[0-9A-Za-z][0-9A-Za-z.-]*)?(?:\+[0-9A-Za-z.-]+)?`

var (
	versionTag = regexp.MustCompile(
		`(?i)(?:^|[^0-9A-Za-z.]|[^0-9A-Za-z.]v|^v)(` + semver + `)(?:$|[^0-9A-Za-z.]|\.(?:$|\s))`)
	// Two numbers are a version only after a word for it; otherwise they are a
	// time of day or an amount.
	shortVersion = regexp.MustCompile(`(?i)(?:^|[^0-9A-Za-z.])(?:v|version |release |node |sdk )` +
		`(\d{1,6}\.\d{1,6})(?:$|[^0-9A-Za-z.%]|\.(?:$|\s))`)
	dotDate     = regexp.MustCompile(`^(?:(?:19|20)\d\d\.[01]?\d\.[0-3]?\d|[0-3]?\d\.[01]?\d\.(?:19|20)\d\d)$`)
	minimumText = regexp.MustCompile(`(?i)\bmin(?:imum|\.)?\s+(?:required\s+|supported\s+)?(?:\w+\s+)?version\s*` +
		`(?:is|of|to|:|=|will be|becomes)?\s*v?(` + semver + `|\d{1,6}\.\d{1,6})\b`)
)

// versionIn returns the first version that a title names, without a v.
func versionIn(title string) string {
	for _, m := range versionTag.FindAllStringSubmatch(title, -1) {
		if !dotDate.MatchString(m[1]) {
			return strings.TrimRight(m[1], ".-")
		}
	}
	if m := shortVersion.FindStringSubmatch(title); m != nil {
		return m[1]
	}
	return ""
}

// minimumIn returns the minimum version that a text names.
func minimumIn(text string) string {
	if m := minimumText.FindStringSubmatch(text); m != nil {
		return strings.TrimRight(m[1], ".-")
	}
	return ""
}
