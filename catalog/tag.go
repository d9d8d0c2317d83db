package catalog

// Lists filter by columns and tags, never inside a record's data. A tag is a
// mark, or a name and a value joined by Tag; connectors write no others.

// Marks: tags without a value.
const (
	// TagStub: the record has hardly any content, such as a page of headings
	// and to-dos, a template or a test draft.
	TagStub = "stub"
	// TagOtherVersion: a documentation page of a version other than the current
	// one, which also has that page; an endpoint of such a description of an API.
	TagOtherVersion = "other-version"
	TagStable       = "stable"     // a release or package version that is not a prerelease
	TagSecurity     = "security"   // release notes that mention security
	TagCode         = "code"       // a post with code blocks
	TagValidators   = "validators" // an operation in which validators have to act
	TagSuper        = "super"      // a validator that takes part in governance
)

// Names of tags.
const (
	TagStatus      = "status"      // of a proposal, in the network's own words
	TagType        = "type"        // of a proposal, as in its header
	TagLabel       = "label"       // labels, topics and keywords given by the source
	TagEnvironment = "environment" // of an operation
	TagOutcome     = "outcome"     // of a vote request
	TagProvider    = "provider"    // party id of an application's provider
	TagPackage     = "package"     // name of a package version's package
	TagDist        = "dist"        // distribution tag of a package version: latest
	TagVersion     = "version"     // of a release
	TagAccess      = "access"      // of a tool server: hosted, free, callable
	TagTopic       = "topic"       // of a derived radar item: security, breaking
	TagMethod      = "method"      // of an endpoint: get, post
)

// Tag returns the tag that makes a value without a column filterable:
// "name:value", the value folded. For a blank value it is "", which is never
// stored.
func Tag(name, value string) string {
	if value = Fold(value); value == "" {
		return ""
	}
	return name + ":" + value
}

// Tags returns the tags of several values of one name.
func Tags(name string, values ...string) []string {
	var tags []string
	for _, value := range values {
		if tag := Tag(name, value); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}
