package webpage

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"almanac/text/webaddress"
)

const (
	maxSitemap   = 64 << 20 // bytes, unpacked; the protocol allows 50 MB
	maxAddresses = 50_000   // per sitemap, the protocol's limit
)

// ErrNoSitemap: the bytes are not a sitemap.
var ErrNoSitemap = errors.New("no sitemap")

// Sitemap is the content of one file of a sitemap (sitemaps.org).
type Sitemap struct {
	Pages []Location
	Maps  []*url.URL // further sitemaps, if it is an index
}

// Location is a page of a sitemap.
type Location struct {
	URL     *url.URL
	LastMod string // as written; "" if missing
}

// ParseSitemap reads a sitemap: XML, plain text with one address per line, or
// either compressed with gzip. Anything that is not a web address is skipped.
func ParseSitemap(data []byte, base *url.URL) (Sitemap, error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(z, maxSitemap+1))
		}
		if err != nil {
			return Sitemap{}, fmt.Errorf("%w: decompressing it: %w", ErrNoSitemap, err)
		}
	}
	if len(data) > maxSitemap {
		return Sitemap{}, fmt.Errorf("%w: it has more than %d bytes", ErrNoSitemap, maxSitemap)
	}
	start := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), " \t\r\n")
	if !bytes.HasPrefix(start, []byte("<")) {
		return textSitemap(start)
	}
	return xmlSitemap(start, base)
}

func textSitemap(data []byte) (Sitemap, error) {
	var s Sitemap
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() && len(s.Pages) < maxAddresses {
		if u := webaddress.Canonical(lines.Text(), nil); u != nil {
			s.Pages = append(s.Pages, Location{URL: u})
		}
	}
	if len(s.Pages) == 0 {
		return s, fmt.Errorf("%w: it is neither XML nor a list of addresses", ErrNoSitemap)
	}
	return s, nil
}

// xmlSitemap reads <urlset> and <sitemapindex>. Names are compared without
// their namespace, which many files get wrong. A truncated file is an error:
// the rest would look deleted.
func xmlSitemap(data []byte, base *url.URL) (Sitemap, error) {
	data, err := XML(data, "")
	if err != nil {
		return Sitemap{}, fmt.Errorf("%w: %w", ErrNoSitemap, err)
	}
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.Strict = false
	var s Sitemap
	var names []string // names of the open elements
	var loc, lastMod strings.Builder
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return Sitemap{}, fmt.Errorf("%w: %w", ErrNoSitemap, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if names = append(names, token.Name.Local); names[0] != "urlset" && names[0] != "sitemapindex" {
				return Sitemap{}, fmt.Errorf("%w: it begins with <%.40s>", ErrNoSitemap, names[0])
			}
			if len(names) == 2 {
				loc.Reset()
				lastMod.Reset()
			}
		case xml.CharData:
			switch {
			case len(names) == 3 && names[2] == "loc":
				loc.Write(token)
			case len(names) == 3 && names[2] == "lastmod":
				lastMod.Write(token)
			}
		case xml.EndElement:
			if len(names) == 2 && len(s.Pages)+len(s.Maps) < maxAddresses {
				switch u := webaddress.Canonical(loc.String(), base); {
				case u == nil || strings.TrimSpace(loc.String()) == "":
				case names[1] == "sitemap":
					s.Maps = append(s.Maps, u)
				default:
					s.Pages = append(s.Pages, Location{u, strings.TrimSpace(lastMod.String())})
				}
			}
			names = names[:max(0, len(names)-1)]
		}
	}
}
