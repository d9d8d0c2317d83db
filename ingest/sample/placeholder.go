package sample

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Placeholders of the embedded files. Numbers are days from the anchor.
//
//	{{day -12}}         2031-05-20
//	{{time -12 14:30}}  2031-05-20T14:30:00Z
//	{{long -12}}        May 20, 2031
//	{{month -12}}       May 2031, the month of that day
//	{{mail -12 14:30}}  Tue, 20 May 2031 14:30:00 +0000, as in mails and RSS
//	{{mbox -12 14:30}}  Tue May 20 14:30:00 2031, as between mails of a file
//	{{unix -12 14:30}}  1937053800, as a number
//	{{planned 12}}      2031-06-13, the only one that may lie after the anchor
//	{{commit name}}     a commit hash, the same for the same name
var placeholder = regexp.MustCompile(`\{\{(\w+) ([^{}]*)\}\}`)

// clocks are the layouts of the placeholders with a time of day.
var clocks = map[string]string{"time": time.RFC3339, "mail": time.RFC1123Z, "mbox": time.ANSIC}

var (
	errFuture      = errors.New("lies on or after the anchor; only planned may")
	errPlaceholder = errors.New("is no placeholder")
)

// day is the beginning of t's day in UTC.
func day(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// render replaces the placeholders in a file's text. Braces that are none
// are an error: nothing of a template may reach a reader.
func render(text string, anchor time.Time) (string, error) {
	var failed error
	out := placeholder.ReplaceAllStringFunc(text, func(p string) string {
		m := placeholder.FindStringSubmatch(p)
		value, err := expand(m[1], m[2], anchor)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", p, err)
		}
		return value
	})
	if i := strings.Index(out, "{{"); i >= 0 && failed == nil {
		failed = fmt.Errorf("%.40q: %w", out[i:], errPlaceholder)
	}
	return out, failed
}

func expand(verb, argument string, anchor time.Time) (string, error) {
	if verb == "commit" {
		sum := sha1.Sum([]byte(argument)) // for its look: forges name commits so
		return hex.EncodeToString(sum[:]), nil
	}
	number, clock, _ := strings.Cut(argument, " ")
	days, err := strconv.Atoi(number)
	if err != nil {
		return "", err
	}
	at := anchor.AddDate(0, 0, days)
	if verb == "planned" {
		return at.Format(time.DateOnly), nil
	}
	if days >= 0 {
		return "", errFuture
	}
	switch verb {
	case "day":
		return at.Format(time.DateOnly), nil
	case "long":
		return at.Format("January 2, 2006"), nil
	case "month":
		return at.Format("January 2006"), nil
	}
	layout, ok := clocks[verb]
	if !ok && verb != "unix" {
		return "", errPlaceholder
	}
	t, err := time.Parse("15:04", clock)
	if err != nil {
		return "", err
	}
	at = at.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute)
	if verb == "unix" {
		return strconv.FormatInt(at.Unix(), 10), nil
	}
	return at.Format(layout), nil
}
