// Package webaddress says what an address of the web is, and which addresses are
// the same. It imports no other package of this module but package glob.
package webaddress

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// MaxLength of a web address in bytes: servers refuse longer ones.
const MaxLength = 8192

// ErrUser: the address holds a user or a password, which belong neither in a file
// nor in a link.
var ErrUser = errors.New("want a web address without a user or a password")

var (
	errForm = errors.New("want a web address: one that begins with https:// or http:// and names a host")
	errLong = fmt.Errorf("want a web address of at most %d bytes", MaxLength)
)

// Parse parses a web address: that of a host by http or https. Its errors say what
// is wanted and do not hold the address, in which there may be a secret.
func Parse(s string) (*url.URL, error) {
	if len(s) > MaxLength {
		return nil, errLong
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || !Of(u):
		return nil, errForm
	case u.User != nil:
		return nil, ErrUser
	}
	return u, nil
}

// Check returns the error that Parse returns.
func Check(s string) error {
	_, err := Parse(s)
	return err
}

// Of reports whether a URL, which may hold a user, leads to a host by http or
// https. One with a zone leads there from one machine only.
func Of(u *url.URL) bool {
	return (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && !strings.Contains(u.Host, "%")
}

// Host returns the host of an address of any scheme in lower case, with its port;
// "" for none.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// Fill puts values into the template of an address, by their placeholders, escaped as
// parts of its path. A template with a missing value yields no address rather than a
// wrong one, unless the value is optional.
func Fill(template string, values map[string]string, optional ...string) string {
	for placeholder, value := range values {
		if !strings.Contains(template, placeholder) {
			continue
		}
		if value == "" && !slices.Contains(optional, placeholder) {
			return ""
		}
		parts := strings.Split(value, "/")
		for i, part := range parts {
			parts[i] = url.PathEscape(part)
		}
		template = strings.ReplaceAll(template, placeholder, strings.Join(parts, "/"))
	}
	return template
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// CheckTemplate checks that a template for Fill has known placeholders alone.
func CheckTemplate(template string, known ...string) error {
	for _, p := range placeholder.FindAllString(template, -1) {
		if !slices.Contains(known, p) {
			return fmt.Errorf("unknown %s; known are %s", p, strings.Join(known, ", "))
		}
	}
	return nil
}

var unslugged = regexp.MustCompile(`[^a-z0-9]+`)

// Slug writes a name as a part of an address: in lower-case letters and digits, with
// hyphens between them. It is empty if the name has none.
func Slug(name string) string {
	return strings.Trim(unslugged.ReplaceAllString(strings.ToLower(name), "-"), "-")
}
