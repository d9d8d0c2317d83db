package forum

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
)

// options are the source's options in the network file; doc.go shows them.
type options struct {
	URL     string        `yaml:"url"`
	Exclude []string      `yaml:"exclude"`
	Sweep   time.Duration `yaml:"sweep"`
}

func readOptions(src network.Source) (options, error) {
	o := options{Sweep: 24 * time.Hour}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return o, err
	}
	u, err := url.Parse(o.URL)
	switch {
	case o.URL == "":
		return o, errors.New("option url: want the address where the forum's pages begin")
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
		u.RawQuery != "" || u.Fragment != "":
		return o, errors.New("option url: want an address such as https://forum.example.org")
	case o.Sweep <= 0:
		return o, fmt.Errorf("option sweep: %s; want a time such as 24h", o.Sweep)
	}
	o.URL = strings.TrimRight(o.URL, "/")
	for i, slug := range o.Exclude {
		if o.Exclude[i] = strings.ToLower(strings.Trim(slug, "/ ")); o.Exclude[i] == "" {
			return o, errors.New("option exclude: an empty slug")
		}
	}
	return o, nil
}
