package web

import (
	"html/template"
	"net/url"
	"regexp"
	"strings"

	"almanac/api/library"
	"almanac/text/webaddress"
)

var (
	// The headings of a transcript are its times: ## 1:09 {#t=69}
	moment  = regexp.MustCompile(`(?m)^##+ [0-9:]+ \{#t=[0-9]+\}\n+(.+)`)
	timeID  = regexp.MustCompile(`^` + sectionPrefix + `t=([0-9]+)$`)
	speaker = regexp.MustCompile(`(?m)^(\p{Lu}[\pL.'-]*(?: \p{Lu}[\pL.'-]*){0,3}): `)
)

// prepareTalk renders the transcript of a talk: who speaks, links to the moments of the
// recording, and what is said first at each in the outline.
func prepareTalk(_ *Handler, v *view) error {
	talk, _ := answerOf[library.FullVideo](v)
	if talk.Transcript == "" {
		return nil
	}
	transcript := cutBlock(talk.Transcript, textSize)
	var first []string
	for _, m := range moment.FindAllStringSubmatch(transcript, -1) {
		first = append(first, speaker.ReplaceAllString(m[1], ""))
	}
	v.Text = v.render(speaker.ReplaceAllString(transcript, "**$1:** "))
	page := string(v.Text.HTML)
	for i := range v.Text.Outline {
		h := &v.Text.Outline[i]
		at := timeID.FindStringSubmatch(h.ID)
		to := watchAt(v.Record.URL, at)
		if to == "" {
			continue
		}
		end := template.HTMLEscapeString(h.Text) + "</a></h2>"
		id := `<h2 id="` + template.HTMLEscapeString(h.ID) + `">`
		before, rest, _ := strings.Cut(page, id)
		page = before + id + strings.Replace(rest, end, strings.TrimSuffix(end, "</h2>")+` <a class="watch" href="`+
			template.HTMLEscapeString(to)+`" rel="noopener">watch<span class="hidden"> from `+
			template.HTMLEscapeString(h.Text)+"</span></a></h2>", 1)
		if len(first) == len(v.Text.Outline) {
			h.Text += " " + short(40, first[i])
		}
	}
	v.Text.HTML = template.HTML(page) //nolint:gosec // of rendered HTML and escaped addresses
	return nil
}

// watchAt is the address of a moment of a recording, "" if it has none.
func watchAt(address string, at []string) string {
	u, err := url.Parse(address)
	if err != nil || at == nil || u.Host == "" {
		return ""
	}
	if host := strings.TrimPrefix(u.Host, "www."); host == "youtube.com" || host == "youtu.be" {
		q := u.Query()
		q.Set("t", at[1]+"s")
		u.RawQuery = q.Encode()
	} else {
		u.Fragment = "t=" + at[1]
	}
	if !webaddress.Of(u) {
		return ""
	}
	return u.String()
}
