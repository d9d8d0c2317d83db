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
	for _, want := range []string{"embed.url", "embed.model", "/var/lib/almanac/table", "bge-small-en-v1.5"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestModelsInTheProgramNeedNoServer(t *testing.T) {
	for model, profile := range map[string]string{"": "default", "table": "default", "bge-small-en-v1.5": "transformer"} {
		c, _, err := config.Load("", []string{"ALMANAC_EMBED_MODEL=" + model}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ProfileName(); got != profile {
			t.Errorf("searches with the model %q have the profile %s, want %s", model, got, profile)
		}
	}
}
