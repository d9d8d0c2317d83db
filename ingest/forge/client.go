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
	"strings"
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

// graphError is the errors of a GraphQL response.
type graphError struct {
	types    []string // NOT_FOUND, FORBIDDEN, INSUFFICIENT_SCOPES, RATE_LIMITED; "" for an internal failure
	messages []string
}

func (e *graphError) Error() string { return "GraphQL: " + strings.Join(e.messages, "; ") }

// is reports whether all errors are of the given types.
func (e *graphError) is(types ...string) bool {
	return !slices.ContainsFunc(e.types, func(t string) bool { return !slices.Contains(types, t) })
}

// ask runs a GraphQL query, which requires a token. The data is decoded even if
// the error is a *graphError, which may be about only parts of it.
func (c *client) ask(ctx context.Context, query string, variables map[string]any, into any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return fmt.Errorf("GraphQL: %w", err)
	}
	if err := c.graph.allowed(c.now()); err != nil {
		return err
	}
	h := c.header()
	h.Set("Content-Type", "application/json")
	resp, err := c.http.Do(ctx, outbound.Request{
		Method: http.MethodPost, URL: c.access.graph(), Header: h, Body: body, Accept: mediaTypes, MaxBody: maxAnswer,
	})
	if err != nil {
		return c.graph.judge(resp, err, c.now())
	}
	c.graph.read(resp.Header)
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(resp.Body, &answer); err != nil {
		return fmt.Errorf("GraphQL: %w", broken(err))
	}
	failure := &graphError{}
	for _, e := range answer.Errors {
		failure.types = append(failure.types, e.Type)
		failure.messages = append(failure.messages, e.Message)
	}
	if slices.Contains(failure.types, "RATE_LIMITED") {
		return &limitError{until: later(c.graph.reset, c.now().Add(minPause))}
	}
	if len(answer.Data) > 0 && string(answer.Data) != "null" {
		if err := json.Unmarshal(answer.Data, into); err != nil {
			return fmt.Errorf("GraphQL: %w", broken(err))
		}
	} else if len(failure.types) == 0 {
		return fmt.Errorf("GraphQL: the response has neither data nor errors")
	}
	if len(failure.types) > 0 {
		return failure
	}
	return nil
}

// limitError: the rate limit of the forge is used up for a while.
type limitError struct {
	until     time.Time
	secondary bool
}

func (e *limitError) Error() string {
	kind := "rate limit"
	if e.secondary {
		kind = "secondary rate limit"
	}
	return fmt.Sprintf("the forge's %s is used up until %s", kind, e.until.UTC().Format(time.RFC3339))
}

// errToken: the token is not valid.
var errToken = errors.New("the forge rejected the token")

// minPause is the pause if the forge does not say how long; see GitHub's best
// practices.
const minPause = time.Minute

// allowance is the rest of a resource's primary rate limit. REST and GraphQL
// have one each.
type allowance struct {
	known bool
	left  int
	reset time.Time
}

// allowed fails if nothing is left.
func (a allowance) allowed(now time.Time) error {
	if a.known && a.left <= 0 && now.Before(a.reset) {
		return &limitError{until: a.reset}
	}
	return nil
}

// read updates the allowance from the header of any response.
func (a *allowance) read(h http.Header) {
	left, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	if err != nil {
		return // an Enterprise server without limits
	}
	reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return
	}
	*a = allowance{true, left, time.Unix(reset, 0).UTC()}
}

// judge recognizes limits and bad tokens in an error of the client. GitHub
// returns 403 or 429 for both kinds of limit: the primary one has a remaining
// count of zero, the secondary one a Retry-After or a message.
func (a *allowance) judge(resp outbound.Response, err error, now time.Time) error {
	status, ok := errors.AsType[*outbound.StatusError](err)
	if !ok {
		return err
	}
	a.read(resp.Header)
	switch status.Status {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", errToken, err)
	case http.StatusForbidden, http.StatusTooManyRequests:
		if limit := a.allowed(now); limit != nil {
			return limit
		}
		secondary := strings.Contains(strings.ToLower(string(resp.Body)), "secondary rate limit")
		if secondary || status.RetryAfter > 0 || status.Status == http.StatusTooManyRequests {
			return &limitError{until: now.Add(max(status.RetryAfter, minPause)), secondary: true}
		}
	}
	return err
}
