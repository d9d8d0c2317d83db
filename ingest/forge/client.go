package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/ingest"
	"almanac/ingest/outbound"
)

const (
	apiVersion = "2022-11-28"
	perPage    = 100
	maxPages   = 2000     // of one list in one run
	maxAnswer  = 32 << 20 // bytes of one answer
)

var mediaTypes = []string{"application/vnd.github+json", "application/json"}

// client asks one forge, one request at a time, as GitHub wishes.
type client struct {
	http   *outbound.Client
	access access
	token  string // "" for none
	// missing: a token is configured but not there, so that what only a token
	// can read may exist all the same.
	missing bool
	cache   cache
	now     func() time.Time

	rest  allowance
	graph allowance
}

// newClient reads the token. warn is told of a variable that is not set.
func newClient(a access, env ingest.Environment, warn func(locator, message string)) *client {
	token := ""
	if a.TokenEnv != "" {
		token = env.Secret(a.TokenEnv)
	}
	switch {
	case token != "":
	case a.TokenEnv != "":
		warn("option token_env", fmt.Sprintf("the environment variable %s is not set; going on without a token, and without what needs one", a.TokenEnv))
	default:
		warn("option token_env", "no token, so without what needs one (discussions, boards, branches and files of pull requests); name an environment variable that holds one")
	}
	return &client{
		http: env.HTTP, access: a, token: token, missing: token == "" && a.TokenEnv != "", now: env.Now,
		cache: cache{dir: filepath.Join(env.WorkDir, "answers"), now: env.Now},
	}
}

func (c *client) header() http.Header {
	h := http.Header{"X-GitHub-Api-Version": {apiVersion}}
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	return h
}

// call is a read of the REST API.
type call struct {
	path  string
	query url.Values
	// version, when set, names a state in which the answer never changes: what
	// is kept of it is not asked for again.
	version string
	// last keeps only the last page of a list: the others are not asked for
	// again soon, or are few and might be kept although they never end.
	last bool
}

// get reads a resource with read, which fails for what it cannot make sense
// of; only answers that it can are kept. A copy that is still current comes
// from the cache. more says that the resource has a further page.
func (c *client) get(ctx context.Context, r call, read func(body []byte) error) (more bool, err error) {
	address := c.access.API + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	key := fmt.Sprintf("%s %s %t", address, r.version, c.token != "")
	copied, have := c.cache.get(key, 2*maxAnswer)
	if have && r.version != "" && read(copied.Body) == nil {
		return copied.More, nil
	}
	if err := c.rest.allowed(c.now()); err != nil {
		return false, err
	}
	resp, err := c.http.Do(ctx, outbound.Request{URL: address, Header: c.header(), ETag: copied.ETag, Accept: mediaTypes, MaxBody: maxAnswer})
	if err != nil {
		return false, c.rest.judge(resp, err, c.now())
	}
	c.rest.read(resp.Header)
	k := kept{ETag: resp.ETag, More: hasNext(resp.Header), Body: resp.Body}
	if resp.NotModified {
		k = copied
	}
	if err := read(k.Body); err != nil {
		return false, fmt.Errorf("%s: %w", r.path, broken(err))
	}
	if !resp.NotModified && (r.version != "" || k.ETag != "") && !(r.last && k.More) {
		err = c.cache.put(key, k)
	}
	return k.More, err
}

// object reads one JSON object.
func (c *client) object(ctx context.Context, r call, into any) error {
	_, err := c.get(ctx, r, func(body []byte) error { return json.Unmarshal(body, into) })
	return err
}

// page reads one page of a list as its items.
func (c *client) page(ctx context.Context, r call, number int) (items []json.RawMessage, more bool, err error) {
	q := url.Values{"per_page": {strconv.Itoa(perPage)}}
	maps.Copy(q, r.query)
	if number > 1 {
		q.Set("page", strconv.Itoa(number))
	}
	r.query = q
	more, err = c.get(ctx, r, func(body []byte) error { return json.Unmarshal(body, &items) })
	return items, more, err
}

// errEndless: a list whose pages have no end.
var errEndless = errors.New("the pages do not end")

// list reads all pages of a list whose order does not change.
func (c *client) list(ctx context.Context, r call, each func(json.RawMessage) error) error {
	var before []json.RawMessage
	for number := 1; ; number++ {
		items, more, err := c.page(ctx, r, number)
		if err != nil {
			return err
		}
		if number > maxPages || number > 1 && same(before, items) {
			return fmt.Errorf("%s, page %d: %w", r.path, number, errEndless)
		}
		for _, item := range items {
			if err := each(item); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		before = items
	}
}

func same(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

// hasNext says whether a Link header (RFC 8288) names a next page. The
// address itself is not followed: it is ours with another page number.
func hasNext(h http.Header) bool {
	for _, value := range h.Values("Link") {
		for link := range strings.SplitSeq(value, ",") {
			_, parameters, _ := strings.Cut(link, ">")
			for p := range strings.SplitSeq(parameters, ";") {
				name, rel, _ := strings.Cut(strings.TrimSpace(p), "=")
				if strings.EqualFold(name, "rel") && strings.EqualFold(strings.Trim(rel, `" `), "next") {
					return true
				}
			}
		}
	}
	return false
}

// broken puts the JSON decoder's error in words.
func broken(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the answer is no JSON: %w", syntax)
	}
	if errors.Is(err, errNoContent) {
		return err
	}
	return fmt.Errorf("the answer has another form than expected: %w", err)
}

// statusOf is the status of a failed request, 0 if it did not fail by one.
func statusOf(err error) int {
	if status, ok := errors.AsType[*outbound.StatusError](err); ok {
		return status.Status
	}
	return 0
}
