package catalog

// A list filters by a column or by a tag, never inside a record's data. A tag
// is a mark, or a name and a value made by Tag; connectors write no others.

// Marks: tags that say something of a record by being there.
const (
	// TagStub: the record exists but says hardly anything, as a page of
	// headings and to-dos, a template, a draft that only tests.
	TagStub = "stub"
	// TagOtherVersion: a documentation page of another version than the
	// current one, which has that page too.
	TagOtherVersion = "other-version"
	TagStable       = "stable"     // a release or package version that is not a prerelease
	TagSecurity     = "security"   // release notes that speak of security
	TagCode         = "code"       // a post with blocks of code
	TagValidators   = "validators" // an operation in which validators have to act
	TagSuper        = "super"      // a validator that takes part in governance
)

// Names of tags.
const (
	TagStatus      = "status"      // of a proposal, the network's own word
	TagType        = "type"        // of a proposal, as its header has it
	TagLabel       = "label"       // labels, topics and keywords that the source gives
	TagEnvironment = "environment" // of an operation
	TagOutcome     = "outcome"     // of a vote request
	TagProvider    = "provider"    // party id of an application's provider
	TagPackage     = "package"     // name of a package version's package
	TagDist        = "dist"        // distribution tag of a package version: latest
	TagVersion     = "version"     // of a release
	TagAccess      = "access"      // of a tool server: hosted, free, callable
	TagTopic       = "topic"       // of a derived radar item: security, breaking
)

// Tag returns the tag that makes a value filterable which has no column of its
// own: "name:value", the value folded. It is "", which is never stored, for a
// value without text.
func Tag(name, value string) string {
	if value = Fold(value); value == "" {
		return ""
	}
	return name + ":" + value
}

// Tags returns the tags of several values of a name, to filter by any of them
// or to write.
func Tags(name string, values ...string) []string {
	var tags []string
	for _, value := range values {
		if tag := Tag(name, value); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}
