package catalog_test

import (
	"slices"
	"testing"

	"almanac/catalog"
)

func TestTag(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{catalog.TagStatus, "Last Call", "status:last call"},
		{catalog.TagType, "  Standards\n Track ", "type:standards track"},
		{catalog.TagType, "ÉTUDE", "type:étude"},
		{catalog.TagType, " \t", ""},
		{catalog.TagType, "", ""},
		{catalog.TagType, "a\x00b", "type:a\ufffdb"},
	} {
		if got := catalog.Tag(c.name, c.value); got != c.want {
			t.Errorf("Tag(%q, %q) = %q, want %q", c.name, c.value, got, c.want)
		}
	}
	got := catalog.Tags(catalog.TagLabel, "Good  First Issue", " ", "API")
	if want := []string{"label:good first issue", "label:api"}; !slices.Equal(got, want) {
		t.Errorf("Tags are %q, want %q", got, want)
	}
}
