package catalog

// Tags of single words. Others are labels as their source spells them, or
// made by Tag.
const (
	// TagStub marks a record that exists but says hardly anything: a page of
	// headings and to-dos, a template, a draft that only tests.
	TagStub = "stub"
	// TagOtherVersion marks a documentation page of another version than the
	// current one, which has that page too.
	TagOtherVersion = "other-version"
)

// Names of tags that lists filter by, see Tag.
const (
	TagStatus = "status" // of a proposal, the network's own word
	TagType   = "type"   // of a proposal, as its header has it
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
