package sample

import (
	"bytes"
	"errors"
	"text/template"
	"time"
)

// day is the beginning of t's day in UTC.
func day(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

var errFuture = errors.New("lies on or after the anchor; only planned may")

// dates are the functions that every embedded file may use. Numbers are days from the anchor.
//
//	{{day -12}}           2031-05-20
//	{{time -12 `14:30`}}  2031-05-20T14:30:00Z
//	{{long -12}}          May 20, 2031
//	{{month -12}}         May 2031, the month of that day
//	{{unix -12 `14:30`}}  1937053800, as a number
//	{{planned 12}}        2031-06-13, the only one that may lie after the anchor; with a clock as {{time}}
//
// In what is captured there is also
//
//	{{pseudonym `mirela@example.org`}}  what stands for a mail address in this catalog
func dates(anchor time.Time) template.FuncMap {
	at := func(days int, clock string) (time.Time, error) {
		return time.Parse("2006-01-02 15:04", anchor.AddDate(0, 0, days).Format(time.DateOnly)+" "+clock)
	}
	ago := func(days int, clock string) (time.Time, error) {
		if days >= 0 {
			return time.Time{}, errFuture
		}
		return at(days, clock)
	}
	before := func(layout string) func(int) (string, error) {
		return func(days int) (string, error) {
			at, err := ago(days, "00:00")
			return at.Format(layout), err
		}
	}
	return template.FuncMap{
		"day": before(time.DateOnly), "long": before("January 2, 2006"), "month": before("January 2006"),
		"time": func(days int, clock string) (string, error) {
			at, err := ago(days, clock)
			return at.Format(time.RFC3339), err
		},
		"unix": func(days int, clock string) (int64, error) {
			at, err := ago(days, clock)
			return at.Unix(), err
		},
		"planned": func(days int, clock ...string) (string, error) {
			if len(clock) == 0 {
				return anchor.AddDate(0, 0, days).Format(time.DateOnly), nil
			}
			at, err := at(days, clock[0])
			return at.Format(time.RFC3339), err
		},
	}
}

// render executes an embedded file as a template of some functions.
func render(name string, functions template.FuncMap) ([]byte, error) {
	text, err := embedded.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Funcs(functions).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, nil)
	return out.Bytes(), err
}
