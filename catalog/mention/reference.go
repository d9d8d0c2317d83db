package mention

import (
	"regexp"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/catalog/network"
)

// References to issues and pull requests in the notation of forges.
var (
	// https://forge.example/owner/name/pull/12
	workAddress = regexp.MustCompile(
		`https?://[^\s/()<>]+/([A-Za-z0-9][\w.-]*)/([A-Za-z0-9_.][\w.-]*)/(issues|pull)/([1-9][0-9]{0,7})\b`)
	// owner/name#12
	workName = regexp.MustCompile(
		`(?:^|[\s([,;:])([A-Za-z0-9][\w-]*/[A-Za-z0-9_.][\w.-]*)#([1-9][0-9]{0,7})\b`)
	// #12, in text that belongs to a repository
	workNumber = regexp.MustCompile(`(?:^|[\s([,;:])#([1-9][0-9]{0,7})\b`)
	repository = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)
)

// maxReferences limits the links of one entry: a page that lists a thousand
// changes is about none in particular.
const maxReferences = 50

// AddReferences appends a references link for every issue or pull request that
// an entry names outside fenced code. A bare number may be either, so it gives a
// link to each; the target of a link need not exist. A number that the connector
// linked as a proposal is skipped. An entry gets no link above the most that it
// may have: AddReferences returns how many of its first fifty are left out.
func AddReferences(e *catalog.Entry, most int) (left int) {
	text := e.Record.Body
	linked, named := linksOf(e), map[string]bool{}
	for _, l := range e.Links {
		named[l.To.Key] = true
	}
	found := 0
	for _, w := range works(e.Record.Container, text) {
		pull, _ := strconv.Atoi(w.number) // the patterns above take digits only
		if named[w.number] || named[network.DraftKey(pull)] {
			continue
		}
		for _, to := range w.Refs {
			if _, known := linked[to]; known || found == maxReferences {
				continue
			}
			linked[to] = nil
			found++
			if len(e.Links) >= most {
				left++
				continue
			}
			e.Links = append(e.Links, catalog.Link{Relation: catalog.References, To: to,
				Snippet: snippet(text, w.Start, w.End)})
		}
	}
	return left
}

// work is a name of an issue or a pull request.
type work struct {
	Name
	number string
}

// works finds issues and pull requests in a text that belongs to a repository, or to
// something else: those of each part in the order address, name, number.
func works(container, text string) (out []work) {
	add := func(start, end int, repo, number string, kinds ...catalog.Kind) {
		w := work{Name{Start: start, End: end}, number}
		for _, kind := range kinds {
			w.Refs = append(w.Refs, catalog.Ref{Kind: kind, Key: repo + "#" + number})
		}
		out = append(out, w)
	}
	// Few texts name any, and most of those that do not are known by what they lack.
	addresses, numbers := strings.Contains(text, "/issues/") || strings.Contains(text, "/pull/"), hasNumber(text)
	if !addresses && !numbers {
		return nil
	}
	either := []catalog.Kind{catalog.KindIssue, catalog.KindPull}
	for _, p := range prose(text) {
		part := text[p.start:p.end]
		for _, m := range workAddress.FindAllStringSubmatchIndex(part, -1) {
			kind := catalog.KindIssue
			if part[m[6]:m[7]] == "pull" {
				kind = catalog.KindPull
			}
			add(p.start+m[0], p.start+m[1], part[m[2]:m[3]]+"/"+part[m[4]:m[5]], part[m[8]:m[9]], kind)
		}
		if !numbers {
			continue
		}
		for _, m := range workName.FindAllStringSubmatchIndex(part, -1) {
			add(p.start+m[2], p.start+m[1], part[m[2]:m[3]], part[m[4]:m[5]], either...)
		}
		if !repository.MatchString(container) {
			continue
		}
		for _, m := range workNumber.FindAllStringSubmatchIndex(part, -1) {
			add(p.start+m[2]-1, p.start+m[1], container, part[m[2]:m[3]], either...)
		}
	}
	return out
}

// hasNumber reports whether a text has a number behind a hash.
func hasNumber(text string) bool {
	for i := range len(text) - 1 {
		if text[i] == '#' && text[i+1] >= '1' && text[i+1] <= '9' {
			return true
		}
	}
	return false
}
