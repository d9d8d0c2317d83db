package derive

import (
	"regexp"
	"strings"

	"almanac/catalog"
	"almanac/text/markdown"
)

// securityWords matches the words by which release notes mention security.
var securityWords = regexp.MustCompile(`(?i)\b(?:security|cves?|vulnerab(?:le|ility|ilities)|patch(?:es|ed)?)\b`)

// SecurityStatement returns what the notes of a release say of security: the first
// sentence that mentions it, or the first below a heading that does; "" if there is
// none.
func SecurityStatement(notes string) string {
	below := 0 // level of the heading that mentions it; 0 for none
	for b := range markdown.Blocks(notes) {
		switch b.Kind {
		case markdown.Heading:
			if securityWords.MatchString(b.Text) {
				below = b.Level
			} else if b.Level <= below {
				below = 0
			}
		case markdown.Paragraph, markdown.Item:
			for _, s := range Sentences(markdown.Inline(b.Text)) {
				if (below > 0 || securityWords.MatchString(s)) && len(strings.Fields(s)) > 2 {
					return s
				}
			}
		}
	}
	return ""
}

// ReleaseTags returns the tags of a release: its version, whether it is stable,
// and whether its notes mention security.
func ReleaseTags(release catalog.Release, notes string) []string {
	tags := catalog.Tags(catalog.TagVersion, release.Version)
	if release.Version != "" && !release.Prerelease {
		tags = append(tags, catalog.TagStable)
	}
	if securityWords.MatchString(notes) {
		tags = append(tags, catalog.TagSecurity)
	}
	return tags
}
