package packages

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"almanac/ingest/outbound"
	"almanac/text/webaddress"
)

// repositoryClient reads one repository of a registry by the OCI distribution
// specification.
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md
type repositoryClient struct {
	run *run
	endpoint
	credentials string // user:password or a token; "" for none
	auth        string // value of Authorization; "" for none
}

func (r *run) repository(image string) *repositoryClient {
	e := r.opts.endpoint(image)
	r.hosts.Client = r.hosts.Client.For(e.base)
	c := &repositoryClient{run: r, endpoint: e, credentials: r.credentials(e.host)}
	if c.credentials != "" && !strings.Contains(c.credentials, ":") {
		c.auth = "Bearer " + c.credentials
	}
	return c
}

// do requests a path below /v2/ and gets a token if the registry requires one.
func (c *repositoryClient) do(
	ctx context.Context, method, path string, accept []string, maxBody int64,
) (outbound.Response, error) {
	for renewed := false; ; renewed = true {
		header := http.Header{}
		if c.auth != "" {
			header.Set("Authorization", c.auth)
		}
		resp, err := c.run.ask(ctx, outbound.Request{Method: method, URL: c.base + path, Header: header, Accept: accept,
			MaxBody: maxBody})
		if resp.Status != http.StatusUnauthorized || renewed {
			return resp, err
		}
		if authErr := c.authenticate(ctx, resp.Header.Values("WWW-Authenticate")); authErr != nil {
			return resp, fmt.Errorf("%w; %w", err, authErr)
		}
	}
}

var errNoChallenge = errors.New("it does not say how")

// authenticate answers a challenge.
// https://distribution.github.io/distribution/spec/auth/token/
func (c *repositoryClient) authenticate(ctx context.Context, challenges []string) error {
	for _, ch := range parseChallenges(challenges) {
		switch {
		case ch.scheme == "bearer":
			return c.fetchToken(ctx, ch.parameters)
		case ch.scheme == "basic" && strings.Contains(c.credentials, ":"):
			c.auth = basicAuth(c.credentials)
			return nil
		}
	}
	return errNoChallenge
}

const maxToken = 64 << 10 // bytes of a token's answer

var errNoToken = errors.New("the registry's token service returned no token")

func (c *repositoryClient) fetchToken(ctx context.Context, challenge map[string]string) error {
	realm, err := webaddress.Parse(strings.TrimSpace(challenge["realm"]))
	if err != nil {
		return errNoChallenge
	}
	header := http.Header{}
	if strings.Contains(c.credentials, ":") {
		if realm.Scheme != "https" && strings.HasPrefix(c.base, "https:") {
			return errors.New("its token service has no TLS, so credentials are not sent")
		}
		header.Set("Authorization", basicAuth(c.credentials))
	}
	query := realm.Query()
	if service := challenge["service"]; service != "" {
		query.Set("service", service)
	}
	query.Set("scope", cmp.Or(challenge["scope"], "repository:"+c.name+":pull"))
	realm.RawQuery = query.Encode()
	resp, err := c.run.ask(ctx, outbound.Request{URL: realm.String(), Header: header, Accept: jsonTypes,
		MaxBody: maxToken})
	if err != nil {
		return err
	}
	var answer struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if json.Unmarshal(resp.Body, &answer) != nil || !usable(cmp.Or(answer.Token, answer.AccessToken)) {
		return errNoToken
	}
	c.auth = "Bearer " + cmp.Or(answer.Token, answer.AccessToken)
	return nil
}

// challenge is a way to authenticate (RFC 9110, 11.6.1).
type challenge struct {
	scheme     string // in lower case
	parameters map[string]string
}

var challengePart = regexp.MustCompile(`^[\s,]*([!#$%&'*+.^_|~0-9A-Za-z-]+)(\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,"]*))?`)

// parseChallenges reads WWW-Authenticate fields, as far as they can be read.
func parseChallenges(fields []string) []challenge {
	var all []challenge
	for _, s := range fields {
		begun := len(all)
		for {
			m := challengePart.FindStringSubmatch(s)
			if m == nil {
				break
			}
			s = s[len(m[0]):]
			if m[2] == "" {
				all = append(all, challenge{strings.ToLower(m[1]), map[string]string{}})
				continue
			}
			if len(all) == begun {
				break // a parameter without a scheme
			}
			value := m[3]
			if inner, quoted := strings.CutPrefix(value, `"`); quoted {
				value = quotedPair.ReplaceAllString(strings.TrimSuffix(inner, `"`), "$1")
			}
			all[len(all)-1].parameters[strings.ToLower(m[1])] = value
		}
	}
	return all
}

var quotedPair = regexp.MustCompile(`\\(.)`)

const (
	perPage  = 100  // tags; registries need not return more
	maxPages = 1000 // per list of tags
	maxTags  = 8 << 20
)

var (
	errEndless  = errors.New("the list of tags does not end")
	errNoTags   = errors.New("the registry lists no tags of it")
	errNoAnswer = errors.New("the answer is not that of a registry")
)

// tags lists the tags of the repository, sorted.
func (c *repositoryClient) tags(ctx context.Context) ([]string, error) {
	path := fmt.Sprintf("/v2/%s/tags/list?n=%d", c.name, perPage)
	met := map[string]bool{}
	for page := 1; path != ""; page++ {
		resp, err := c.do(ctx, http.MethodGet, path, jsonTypes, maxTags)
		if err != nil {
			return nil, err
		}
		var list struct {
			Tags *[]string `json:"tags"`
			Name string    `json:"name"`
		}
		if json.Unmarshal(resp.Body, &list) != nil || list.Tags == nil && list.Name == "" {
			return nil, errNoAnswer
		}
		fresh := false
		if list.Tags != nil {
			for _, tag := range *list.Tags {
				if tagShape.MatchString(tag) && !met[tag] {
					met[tag], fresh = true, true
				}
			}
		}
		if path, err = c.nextPage(resp); err != nil {
			return nil, err
		}
		if path != "" && (!fresh || page == maxPages) {
			return nil, errEndless
		}
	}
	if len(met) == 0 {
		return nil, errNoTags
	}
	return slices.Sorted(maps.Keys(met)), nil
}

var tagShape = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)

// nextPage returns the path of the next page. The host that is said is ignored:
// registries behind proxies often give the wrong one.
func (c *repositoryClient) nextPage(page outbound.Response) (string, error) {
	next := page.Next()
	if next == "" {
		return "", nil
	}
	u, err := url.Parse(next)
	if err != nil {
		return "", errNoAnswer
	}
	return "/v2/" + c.name + "/tags/list?" + u.RawQuery, nil
}

// The media types of manifests: of one image, and of lists of them by
// platform.
var manifestTypes = []string{
	"application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json",
	"application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json",
}

const (
	maxManifest = 4 << 20
	maxConfigs  = 4 << 20 // bytes of an image's configuration
)

var digestShape = regexp.MustCompile(`^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]{16,}$`)

// digest returns the digest that a tag points to.
func (c *repositoryClient) digest(ctx context.Context, tag string) (string, error) {
	resp, err := c.do(ctx, http.MethodHead, "/v2/"+c.name+"/manifests/"+tag, manifestTypes, maxManifest)
	if err != nil && resp.Status != http.StatusMethodNotAllowed {
		return "", err
	}
	if d := resp.Header.Get("Docker-Content-Digest"); digestShape.MatchString(d) {
		return d, nil
	}
	resp, err = c.do(ctx, http.MethodGet, "/v2/"+c.name+"/manifests/"+tag, manifestTypes, maxManifest)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(resp.Body)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

var errAltered = errors.New("its content does not match its digest")

// content reads the content of a digest into a value.
func (c *repositoryClient) content(
	ctx context.Context, kind, digest string, accept []string, limit int64, into any,
) error {
	if !digestShape.MatchString(digest) {
		return errNoAnswer
	}
	resp, err := c.do(ctx, http.MethodGet, "/v2/"+c.name+"/"+kind+"/"+digest, accept, limit)
	if err != nil {
		return err
	}
	if want, ok := strings.CutPrefix(digest, "sha256:"); ok {
		if sum := sha256.Sum256(resp.Body); hex.EncodeToString(sum[:]) != want {
			return errAltered
		}
	}
	if json.Unmarshal(bytes.TrimSpace(resp.Body), into) != nil {
		return errNoAnswer
	}
	return nil
}
