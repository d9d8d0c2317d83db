package derive

import (
	"regexp"
	"strings"

	"almanac/catalog"
	"almanac/text/markdown"
)

// securityWords matches the words by which release notes mention security.
var securityWords = regexp.MustCompile(`(?i)\b(?:security|cves?|vulnerab(?:le|ility|ilities)|patch(?:es|ed)?)\b`)

// SecurityStatement returns where the notes of a release mention security: the first
// sentence that does, else a heading that does with the first sentence below it, else the
// line that does, be it of code or of a table; "" if the notes do not mention it.
func SecurityStatement(notes string) string {
	heading, level, below := "", 0, ""
	for b := range markdown.Blocks(notes) {
		switch b.Kind {
		case markdown.Heading:
			if text := markdown.Inline(b.Text); securityWords.MatchString(text) {
				heading, level = text, b.Level
			} else if b.Level <= level {
				level = 0
			}
		case markdown.Paragraph, markdown.Item:
			for _, s := range Sentences(markdown.Inline(b.Text)) {
				switch {
				case len(strings.Fields(s)) <= 2:
				case securityWords.MatchString(s):
					return aroundSecurity(s)
				case level > 0 && below == "":
					below = heading + ": " + s
				}
			}
		}
	}
	if below != "" {
		return aroundSecurity(below)
	}
	for line := range strings.Lines(notes) {
		for _, text := range []string{markdown.Inline(strings.Trim(line, "# \t\r\n")), strings.TrimSpace(line)} {
			if securityWords.MatchString(text) {
				return aroundSecurity(text)
			}
		}
	}
	return ""
}

// aroundSecurity cuts a text that mentions security to maxStatement, so that the mention
// stays.
func aroundSecurity(s string) string {
	if at := securityWords.FindStringIndex(s)[0]; at > maxStatement/2 {
		from := strings.LastIndexByte(s[:at-maxStatement/4], ' ') + 1
		if at-from > maxStatement/2 { // there is no blank
			from = at
		}
		s = "… " + s[from:]
	}
	return markdown.Clip(s, maxStatement)
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
