package config_test

import (
	"errors"
	"strings"
	"testing"

	"almanac/cmd/config"
)

func TestAModelNeedsAServer(t *testing.T) {
	_, _, err := config.Load("", []string{"ALMANAC_EMBED_MODEL=/var/lib/almanac/table"}, nil)
	if !errors.Is(err, config.ErrUsage) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"embed.url", "embed.model", "/var/lib/almanac/table"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}
