package config_test

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"almanac/cmd/config"
)

func TestAModelNeedsAServer(t *testing.T) {
	_, _, err := config.Load("", []string{"ALMANAC_EMBED_MODEL=/var/lib/almanac/table"}, nil)
	if !errors.Is(err, config.ErrUsage) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"embed.url", "embed.model", "/var/lib/almanac/table", "auto", "bge-small-en-v1.5"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestModelsInTheProgramNeedNoServer(t *testing.T) {
	for model, profile := range map[string]string{"": "default", "auto": "default", "table": "default",
		"bge-small-en-v1.5": "transformer"} {
		c, _, err := config.Load("", []string{"ALMANAC_EMBED_MODEL=" + model}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := cmp.Or(model, "auto"); c.Embed.Model != want {
			t.Errorf("the model %q is %q", model, c.Embed.Model)
		}
		if got := c.ProfileName(); got != profile {
			t.Errorf("searches with the model %q have the profile %s, want %s", model, got, profile)
		}
	}
}

func TestAServerHasNoModelOfItsOwnAccord(t *testing.T) {
	server := []string{"ALMANAC_EMBED_URL=http://127.0.0.1:8080", "ALMANAC_EMBED_KIND=tei"}
	c, _, err := config.Load("", server, nil)
	if err != nil || c.Embed.Model != "" {
		t.Errorf("a server that has one model is asked for %q, %v", c.Embed.Model, err)
	}
	_, _, err = config.Load("", server[:1], nil)
	if !errors.Is(err, config.ErrUsage) || !strings.Contains(err.Error(), "embed.model is missing") {
		t.Errorf("without a model: %v", err)
	}
}

func TestNodesOfTheVectorEngine(t *testing.T) {
	for address, want := range map[string]string{
		"http://one.example:6334":                         "",
		"http://one.example:6334,http://two.example:6334": "",
		"https://one.example,https://two.example":         "",
		"http://one.example:6334,":                        "vector.url must be http:// or https://",
		"http://one.example:6334,two.example:6334":        "vector.url must be http:// or https://",
		"http://one.example,http://key@two.example":       "use vector.key",
		"http://one.example,https://two.example":          "want one for all",
	} {
		_, _, err := config.Load("", []string{"ALMANAC_VECTOR_URL=" + address}, nil)
		if want == "" && err != nil ||
			want != "" && (!errors.Is(err, config.ErrUsage) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", address, err, want)
		}
	}
}

// TestAllUnknownSettingsAreNamed: who upgrades learns of them all at once.
func TestAllUnknownSettingsAreNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "almanac.yaml")
	if err := os.WriteFile(file, []byte("limit: {rset: 7}\nsearch: {profil: live, deadline: 2s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := config.Load(file, []string{"ALMANAC_LIMIT_RETS=1", "ALMANAC_LOG_LEVEL=warn"}, nil)
	if !errors.Is(err, config.ErrUsage) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{`"limit.rset"; did you mean "limit.rest"?`, `"search.profil"; did you mean "search.profile"?`,
		"ALMANAC_LIMIT_RETS is not a setting; did you mean ALMANAC_LIMIT_REST?"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %s", err, want)
		}
	}
	if strings.Contains(err.Error(), "deadline") || strings.Contains(err.Error(), "LOG_LEVEL") {
		t.Errorf("what is known is named: %v", err)
	}
}

// TestSettingsOfReleasesAreKnown: a configuration of an earlier release is read, or is told what became of a setting.
func TestSettingsOfReleasesAreKnown(t *testing.T) {
	released, err := os.ReadFile(filepath.Join("testdata", "settings-0.1.0.txt"))
	if err != nil {
		t.Fatal(err)
	}
	known := config.Variables()
	for key := range strings.FieldsSeq(string(released)) {
		if !slices.Contains(known, config.EnvName(key)) {
			t.Errorf("0.1.0 has the setting %s: keep it, or let its error and the change log say what became of it", key)
		}
	}
}

// TestPassagesStayInTheCatalogWithServersAlone: the engines in the program have them in
// memory anyway.
func TestPassagesStayInTheCatalogWithServersAlone(t *testing.T) {
	words, vectors := "ALMANAC_KEYWORD_URL=http://127.0.0.1:7700", "ALMANAC_VECTOR_URL=http://127.0.0.1:6334"
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{nil, ""},
		{[]string{"ALMANAC_SEARCH_PASSAGES=memory"}, ""},
		{[]string{"ALMANAC_SEARCH_PASSAGES=catalog", words, vectors}, ""},
		{[]string{"ALMANAC_SEARCH_PASSAGES=catalog"}, "set keyword.url and vector.url too"},
		{[]string{"ALMANAC_SEARCH_PASSAGES=catalog", words}, "set keyword.url and vector.url too"},
		{[]string{"ALMANAC_SEARCH_PASSAGES=catalog", vectors}, "set keyword.url and vector.url too"},
		{[]string{"ALMANAC_SEARCH_PASSAGES=disk", words, vectors}, `search.passages is "disk": must be memory or catalog`},
	} {
		_, _, err := config.Load("", c.environ, nil)
		if c.want == "" && err != nil ||
			c.want != "" && (!errors.Is(err, config.ErrUsage) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: error %v, want %q", c.environ, err, c.want)
		}
	}
}
