package forge

import (
	"bytes"
	"cmp"
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
	"time"

	"almanac/ingest"
	"almanac/ingest/outbound"
)

const (
	apiVersion = "2022-11-28"
	perPage    = 100
	maxPages   = 2000     // of one list in one run
	maxAnswer  = 32 << 20 // bytes of one response
)

var mediaTypes = []string{"application/vnd.github+json", "application/json"}

// client calls one forge, one request at a time, as GitHub recommends.
type client struct {
	http   *outbound.Client
	access access
	token  string // "" for none
	// missing: a token is configured but not set, so there may be content that
	// only a token can read.
	missing bool
	cache   cache
	now     func() time.Time

	rest  allowance
	graph allowance
}

// newClient reads the token; it warns of a variable that is not set.
func newClient(a access, env ingest.Environment, warn func(locator, message string)) *client {
	token := ""
	if a.TokenEnv != "" {
		token = env.Secret(a.TokenEnv)
	}
	switch {
	case token != "":
	case a.TokenEnv != "":
		warn("option token_env", fmt.Sprintf("the environment variable %s is not set; "+
			"continuing without a token, and without content that requires one", a.TokenEnv))
	default:
		warn("option token_env", "no token: discussions, boards, branches and files of pull requests are not read; "+
			"name an environment variable that holds one")
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

// call is a GET request to the REST API.
type call struct {
	path  string
	query url.Values
	// version, if set, identifies a state whose response never changes: a cached
	// one is not requested again.
	version string
	// max is the maximum size of a response in bytes; 0 = maxAnswer.
	max int64
	// last caches only the last page of a list: the others are not requested
	// again soon, or the list might be endless.
	last bool
}

// get requests a resource and parses it with read; only responses that it
// accepts are cached. A copy that is still current comes from the cache. more
// means that the resource has a further page.
func (c *client) get(ctx context.Context, r call, read func(body []byte) error) (more bool, err error) {
	address := c.access.API + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	key := fmt.Sprintf("%s %s %t", address, r.version, c.token != "")
	limit := cmp.Or(r.max, maxAnswer)
	copied, have := c.cache.get(key, 2*limit)
	if have && r.version != "" && read(copied.Body) == nil {
		return copied.More, nil
	}
	if err := c.rest.allowed(c.now()); err != nil {
		return false, err
	}
	resp, err := c.http.Do(ctx, outbound.Request{
		URL: address, Header: c.header(), ETag: copied.ETag, Accept: mediaTypes, MaxBody: limit,
	})
	if err != nil {
		return false, c.rest.judge(resp, err, c.now())
	}
	c.rest.read(resp.Header)
	k := kept{ETag: resp.ETag, More: resp.Next() != "", Body: resp.Body} // it is the same with another page number
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

// errEndless: the pages of a list never end.
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

// broken explains an error of the JSON decoder.
func broken(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the response is not JSON: %w", syntax)
	}
	if errors.Is(err, errNoContent) {
		return err
	}
	return fmt.Errorf("the response does not have the expected form: %w", err)
}
