package forge

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"almanac/ingest/outbound"
)

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
