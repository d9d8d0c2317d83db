package derive

import (
	"regexp"

	"almanac/catalog"
)

// securityWords matches the words by which release notes mention security.
var securityWords = regexp.MustCompile(`(?i)\b(?:security|cves?|vulnerab(?:le|ility|ilities)|patch(?:es|ed)?)\b`)

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
