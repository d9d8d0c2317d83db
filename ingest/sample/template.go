package sample

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// day is the beginning of t's day in UTC.
func day(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// dates are the functions that every embedded file may use. Numbers are days from the anchor.
//
//	{{day -12}}           2031-05-20
//	{{time -12 `14:30`}}  2031-05-20T14:30:00Z
//	{{long -12}}          May 20, 2031
//	{{month -12}}         May 2031, the month of that day
//	{{unix -12 `14:30`}}  1937053800, as a number
//	{{planned 12}}        2031-06-13, the only one that may lie after the anchor
//	{{commit `name`}}     a commit hash, the same for the same name
func dates(anchor time.Time) template.FuncMap {
	before := func(layout string) func(int) (string, error) {
		return func(days int) (string, error) {
			at, err := ago(days, "00:00", anchor)
			return at.Format(layout), err
		}
	}
	return template.FuncMap{
		"day": before(time.DateOnly), "long": before("January 2, 2006"), "month": before("January 2006"),
		"time": func(days int, clock string) (string, error) {
			at, err := ago(days, clock, anchor)
			return at.Format(time.RFC3339), err
		},
		"unix": func(days int, clock string) (int64, error) {
			at, err := ago(days, clock, anchor)
			return at.Unix(), err
		},
		"planned": func(days int) string { return anchor.AddDate(0, 0, days).Format(time.DateOnly) },
		"commit":  commit,
	}
}

// commit hashes a name for its look: forges name commits so.
func commit(name string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(name))) }

var errFuture = errors.New("lies on or after the anchor; only planned may")

// ago is a time of day so many days from the anchor, fewer than none.
func ago(days int, clock string, anchor time.Time) (time.Time, error) {
	if days >= 0 {
		return time.Time{}, errFuture
	}
	return at(days, clock, anchor)
}

func at(days int, clock string, anchor time.Time) (time.Time, error) {
	return time.Parse("2006-01-02 15:04", anchor.AddDate(0, 0, days).Format(time.DateOnly)+" "+clock)
}

// moment reads a time as authored files have it: "-28 09:00", or "+6 12:00" where it may lie after the anchor.
func moment(s string, anchor time.Time) (time.Time, error) {
	number, clock, _ := strings.Cut(s, " ")
	days, err := strconv.Atoi(number)
	if err != nil {
		return time.Time{}, err
	}
	if strings.HasPrefix(s, "+") {
		return at(days, clock, anchor)
	}
	return ago(days, clock, anchor)
}

// render executes a text as a template of what dates has.
func render(name, text string, anchor time.Time) (string, error) {
	return execute(template.New(name), text, anchor)
}

func execute(t *template.Template, text string, anchor time.Time) (string, error) {
	t, err := t.Option("missingkey=error").Funcs(dates(anchor)).Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, nil)
	return out.String(), err
}
