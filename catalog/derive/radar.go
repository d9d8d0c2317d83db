package derive

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/text/markdown"
)

// A topic is what statements of release notes warn of; it becomes a radar item
// of the release. A statement belongs to the first matching topic.
type topic struct {
	name  string // in keys and the tag
	title string
	level string
}

var (
	security    = topic{"security", "security fixes", catalog.RadarCritical}
	action      = topic{"action", "action required", catalog.RadarCritical}
	breaking    = topic{"breaking", "breaking changes", catalog.RadarImportant}
	removal     = topic{"removal", "removals", catalog.RadarImportant}
	deprecation = topic{"deprecation", "deprecations", catalog.RadarEcosystem}

	topics = []topic{security, action, breaking, removal, deprecation}
)

// deadline is the topic of statements with a date to act by; each date becomes
// a separate item.
var deadline = topic{"deadline", "deadline", catalog.RadarCritical}

const (
	maxStatement  = 320 // characters
	maxStatements = 25  // per item
	maxRadarTitle = 110 // characters of a statement in a title
	maxAffected   = 8
	maxDeadlines  = 25  // items of a release with a date
	dueReach      = 100 // bytes before a date that say what it is
)

// Radar reads the notes of a release and returns radar items: one for each
// topic they warn of (security, required action, breaking changes, removals,
// deprecations) and one for each date to act by. It skips prereleases, because
// the release repeats their notes, and pages about no particular release. An
// item's key is the release's key with the topic, its Body lists the
// statements, and it references the release.
func Radar(release catalog.Record) []catalog.Entry {
	data, err := catalog.Decode[catalog.Release](release)
	if err != nil || release.Kind != catalog.KindRelease || data.Version == "" || data.Prerelease ||
		slices.Contains(release.Tags, catalog.TagStub) {
		return nil
	}
	found := warnings(readNotes(release.Body), release.CreatedAt)
	product := ProductOf(release, data.Version)
	var entries []catalog.Entry
	for _, t := range topics {
		if list := found[t.name]; len(list) > 0 {
			entries = append(entries, item(release, data, product, t, t.name, list))
		}
	}
	byDay := map[string][]statement{}
	for _, s := range found[deadline.name] {
		day := s.due.Format(time.DateOnly)
		byDay[day] = append(byDay[day], s)
	}
	days := slices.Sorted(maps.Keys(byDay))
	for _, day := range days[:min(len(days), maxDeadlines)] {
		e := item(release, data, product, deadline, deadline.name+"-"+day, byDay[day])
		e.Record.EndsAt = byDay[day][0].due
		entries = append(entries, e)
	}
	return entries
}

// statement is a statement of a radar item.
type statement struct {
	component string // affected component; "" if unknown
	text      string
	due       time.Time
	written   string // due, as spelled in the notes
}

// item makes the radar item of one topic of a release.
func item(
	release catalog.Record, data catalog.Release, product string, t topic, name string, list []statement,
) catalog.Entry {
	radar := catalog.Radar{Affected: []string{product}, Versions: []string{data.Version}, Deadline: list[0].written}
	var body strings.Builder
	for i, s := range list {
		if s.component != "" && len(radar.Affected) < maxAffected && !slices.Contains(radar.Affected, s.component) {
			radar.Affected = append(radar.Affected, s.component)
		}
		if radar.Action == "" {
			radar.Action = actionIn(s.text)
		}
		switch {
		case i < maxStatements && s.component != "":
			fmt.Fprintf(&body, "- %s: %s\n", s.component, s.text)
		case i < maxStatements:
			fmt.Fprintf(&body, "- %s\n", s.text)
		case i == maxStatements:
			fmt.Fprintf(&body, "- … and %d more\n", len(list)-i)
		}
	}
	title := t.title
	if len(list) == 1 || t == deadline {
		title = markdown.Clip(list[0].text, maxRadarTitle)
	}
	raw, err := catalog.Encode(radar)
	if err != nil { // strings always encode
		panic(err)
	}
	rec := catalog.Record{
		Kind: catalog.KindRadar, Key: release.Key + "/" + name, Title: release.Title + ": " + title,
		URL: release.URL, Container: release.Container, Category: t.level, Author: release.Author,
		CreatedAt: release.CreatedAt, UpdatedAt: release.UpdatedAt, LastActivityAt: release.LastActivityAt,
		Body: strings.TrimSuffix(body.String(), "\n"), Summary: list[0].text, Data: raw,
		Tags: []string{catalog.Tag(catalog.TagTopic, t.name)},
	}
	return catalog.Entry{Record: rec, Links: []catalog.Link{{Relation: catalog.References, To: release.Ref()}}}
}

var (
	versionInTitle = regexp.MustCompile(`(?i)^(?:release (?:of|notes (?:of|for)) )?(.*?)[\s@/_-]*\bv?\d+\.\d+`)
	// as conventional commits name it
	scope = regexp.MustCompile(`^\*\*([a-z][\w@/.-]*(?:, ?[a-z@][\w@/.-]*)*)(?::\*\*|\*\*:)\s+`)
)

// ProductOf returns the product of a release, from its title or else its
// category.
func ProductOf(release catalog.Record, version string) string {
	if m := versionInTitle.FindStringSubmatch(release.Title); m != nil {
		if name := strings.Trim(m[1], " -–—:("); name != "" && len(strings.Fields(name)) <= 4 {
			return name
		}
	}
	return cmp.Or(release.Category, release.Container, version)
}

// The words of the topics.
var (
	vulnerable = regexp.MustCompile(`(?i)\bCVE-\d{4}-\d{3,}|\bGHSA(?:-[0-9a-z]{4}){3}|\bvulnerabilit(?:y|ies)\b|` +
		`\bsecurity[ -](?:related )?(?:fix|fixes|patch|patches|issues?|bugs?|flaws?|holes?|advisor(?:y|ies)|` +
		`updates?)\b`)
	harmless = regexp.MustCompile(`(?i)\b(?:no|without|non|any|avoids?|avoiding|prevents?|detects?|` +
		`scan(?:s|ning)? for) (?:\w+ ){0,2}?(?:breaking|security|vulnerab|incompatib)|` +
		`\bnon-breaking|\b(?:if|unless|when(?:ever)?|should) (?:you|there|a|an|any)\b[^.]{0,30}(?:vulnerab|security)`)
	severe = regexp.MustCompile(`(?i)[(\[][^()\[\]]{0,20}\b(?:high|critical)\b(?: severity)?\s*[)\]]|` +
		`\bseverity:\s*(?:high|critical)\b`)

	breakingMark = regexp.MustCompile(`(?i)^[\W_]*breaking(?:[\W_]|$)|\(breaking\)|^\W*\w+(?:\([^)]*\))?!:`)
	breakingWord = regexp.MustCompile(`(?i)\bbreaking (?:\w+ ){0,3}?changes?\b|\bbackwards?[- ]incompatible\b|` +
		`\bnot backwards?[- ]compatible\b|\bincompatible (?:changes?|with (?:previous|earlier|older))\b`)
	nowNeeded = regexp.MustCompile(`(?i)\b(?:is|are) now (?:mandatory|required)\b`)
	fixes     = regexp.MustCompile(`(?i)^\W*(?:fix|fixed|fixes|bug ?fix|resolve[ds]?|correct(?:ed|s)?|` +
		`revert(?:ed|s)?|document(?:ed|s)?|docs|test)\b`)

	must = regexp.MustCompile(`(?i)\b(?:must|(?:need|needs|have|has) to|` +
		`(?:is|are) required to)(?: \w+){0,2} (?:be )?(?:upgrade|update|migrate|switch|rotate|reinstall|redeploy|` +
		`re-deploy|reconfigure|re-onboard)d?\b`)
	actNow = regexp.MustCompile(`(?i)^\W*(?:\w+\W+){0,1}action (?:is )?(?:required|needed)\b|` +
		`\baction (?:is )?(?:required|needed)\W*(?:[:!.]|for\b|from\b|by\b|before\b)|` +
		`\b(?:mandatory|required) (?:upgrade|update|migration)\b|\bplease (?:upgrade|update|` +
		`migrate)[^.]* (?:as soon as possible|immediately|before|by)\b`)
	noAction = regexp.MustCompile(`(?i)\bno (?:\w+ ){0,2}?(?:action|changes?|migration|` +
		`upgrade) (?:\w+ ){0,2}?(?:required|needed|necessary)\b|\b(?:do|does|is|are) not (?:need|require)|` +
		`\bnot (?:required|mandatory|necessary)\b`)
	admonish = regexp.MustCompile(`(?is)^(?:\W*(?:warning|important|attention|caution|danger|⚠)\b?\W*:|⚠).*\b(?:must|` +
		`required|mandatory|only|before|need to|needs to|have to|cannot|can't)\b`)
	// on a known issue
	advice = regexp.MustCompile(`(?i)^(?:work ?arounds?|recommendations?|mitigations?|symptoms?|` +
		`likel(?:ihood|iness)|affected .*)$`)
	upgradeName = regexp.MustCompile(`(?i)^\W*(?:upgrad(?:e|ing)|migrat(?:ion|ing))(?: (?:notes?|guide|instructions|` +
		`steps))?\W*$`)
	condition = regexp.MustCompile(`(?i)^(?:if|when|in case|unless)\b`)

	// A passive in the middle of a text describes what the software does, not
	// what was done to it.
	removed = regexp.MustCompile(`(?i)^\W*(?:remove[ds]?|removal of|dropp?(?:ed|s)? support(?: for)?|` +
		`discontinued?)\b|` +
		`\b(?:has|have) (?:now |also ){0,2}been (?:now |also |completely )?(?:removed|discontinued|dropped)\b|` +
		`^[^:,;]{1,90}\b(?:was|were|is|are) (?:now |also |completely )?(?:removed|discontinued|dropped)\b|` +
		`\b(?:is|are) no longer (?:supported|available)\b|\bno longer supports?\b`)
	trifle = regexp.MustCompile(`(?i)^\W*(?:[^:,;]{0,48}[^\w:,;])?(?:warnings?|bugs?|unnecessary|unused|unneeded|` +
		`superfluous|duplicated?|redundant|documentation|docs|pages?|sections?|internal|internally|` +
		`limits?|limitations?|restrictions?|requirements?|logs?|logging|messages?|errors?|annoying|tests?|typos?|` +
		`links?|obsolete|leftover|dead|stale|banner|tooltip|buttons?|columns?|tabs?|icons?|` +
		`non-existing|nonexistent|special case|examples?|need)\b`)
	deprecated = regexp.MustCompile(`(?i)^\W*deprecat(?:e[ds]?|ion|ing)\b|\b(?:is|are|been|now|being|was|` +
		`were) (?:now |also )?(?:marked (?:as )?)?deprecated\b|` +
		`\bwill (?:also )?be (?:deprecated|discontinued|dropped|removed(?: (?:in|from|with|by|soon|completely|` +
		`entirely|eventually)\b|\W*$|[.;,]))|\bmarked for removal\b|\bto be removed in\b`)

	dueWord = regexp.MustCompile(`(?i)\b(?:must|should|upgrade|migrate|update|deadline|mandatory|required|` +
		`will (?:be|no longer|not|reach|stop|cease|expire|end|take effect|shut)|end[ -]of[ -](?:life|support)|eol|` +
		`no longer|expires?|sunset|takes? effect)\b`)
	dueMark = regexp.MustCompile(`(?i)\b(?:before|by|until|till|than|deadline|due|from|after|starting|effective|` +
		`expires?|ends?|on|as of|is)\W+(?:\w+ ){0,2}\W?$|,\s*$|[:(]\s*$`)
	issued = regexp.MustCompile(`(?i)\b(?:released|published|announced|dated|available since|since)\W+(?:\w+ ){0,2}$`)

	doThis = regexp.MustCompile(`(?i)^(?:please\b|(?:you|\w+ ?(?:operators|users|developers|devs|` +
		`validators)?) (?:must|should|need to|have to)\b|(?:upgrade|update|migrate|switch|replace|rename|set|use|` +
		`adapt|adjust|rotate|redeploy|reinstall)\b)`)
)

// A sign says that a text is a warning, unless it says something else too. The
// first that a text has decides its topic; one without a topic makes it none.
type sign struct {
	topic  *topic
	says   *regexp.Regexp
	unless *regexp.Regexp // nil: nothing
	first  bool           // only the first sentence counts
	words  []string       // one of the first three of them, and nothing but them, makes a heading this topic
}

var signs = []sign{
	{topic: &security, says: vulnerable, unless: harmless, words: []string{"security", "vulnerabilities", "vulnerability",
		"advisory", "advisories", "patches", "patch"}},
	{topic: &breaking, says: breakingMark},
	{says: fixes},
	{says: noAction},
	{topic: &breaking, says: breakingWord, unless: harmless, words: []string{"breaking", "incompatible",
		"incompatibilities", "backwards", "backward", "api", "action", "required"}},
	{topic: &action, says: actNow, words: []string{"action", "actions", "mandatory", "required", "needed", "upgrade",
		"steps", "before", "upgrading"}},
	{topic: &action, says: must},
	{topic: &action, says: admonish},
	{topic: &breaking, says: nowNeeded, first: true},
	{topic: &removal, says: removed, unless: trifle, first: true, words: []string{"removed", "removals", "removal",
		"dropped", "discontinued", "deprecated", "deprecations", "api"}},
	{topic: &deprecation, says: deprecated, words: []string{"deprecated", "deprecations", "deprecation", "deprecates",
		"api"}},
}

// signOf returns the first sign that a text has, nil if it has none.
func signOf(text string) *sign {
	if !telling(text) {
		return nil
	}
	for i, s := range signs {
		part := text
		if s.first {
			part = firstSentence(text)
		}
		if s.says.MatchString(part) && (s.unless == nil || !s.unless.MatchString(text)) {
			return &signs[i]
		}
	}
	return nil
}

// topicOfHeading returns the topic that a heading opens, and whether it is only
// a topic: then the statements are the text below it.
func topicOfHeading(title string) (t topic, general, ok bool) {
	if !telling(title) || harmless.MatchString(title) || noAction.MatchString(title) {
		return topic{}, false, false
	}
	title = strings.TrimSpace(strings.TrimSuffix(title, ":"))
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, s := range signs {
		if s.words == nil {
			continue
		}
		other := func(w string) bool { return !slices.Contains(s.words, w) && !slices.Contains(fillers, w) }
		names := func(w string) bool { return slices.Contains(s.words[:3], w) }
		switch {
		case slices.ContainsFunc(words, names) && !slices.ContainsFunc(words, other):
			return *s.topic, true, true
		case s.says.MatchString(title):
			return *s.topic, false, true
		}
	}
	return topic{}, false, false
}

// fillers are words that do not change a heading's topic.
var fillers = []string{"and", "the", "of", "in", "to", "for", "changes", "change", "minor", "major", "notes", "note",
	"fixes", "updates", "features", "other", "important", "this", "release", "s"}

// warnings groups the statements of notes by topic.
func warnings(notes []note, released time.Time) map[string][]statement {
	found := map[string][]statement{}
	seen := map[string]bool{}
	add := func(t topic, s statement) {
		if s.text != "" && !seen[s.text] {
			seen[s.text] = true
			found[t.name] = append(found[t.name], s)
		}
	}
	told := map[string]bool{}         // headings that became a statement
	taken := make([]bool, len(notes)) // statements whose children they repeat
	var t topic
	var title string
	var at int
	for i, n := range notes {
		if i == 0 || !slices.Equal(n.headings, notes[i-1].headings) {
			t, title, at = headingTopic(n)
		}
		below := slices.ContainsFunc(n.parents, func(p int) bool { return taken[p] })
		if below {
			taken[i] = true
			continue
		}
		if s, ok := due(notes, i, released); ok {
			add(deadline, s)
			taken[i] = true
			continue
		}
		switch {
		case at >= 0 && title == "": // a list or text below a general heading
			taken[i] = true
			if !noise(n.text) {
				add(t, statement{component: component(notes, i), text: tell(notes, i, nil)})
			}
		case at >= 0: // a heading that names its subject
			path := strings.Join(n.headings[:at+1], "\x00")
			taken[i] = true
			if !told[path] {
				told[path] = true
				add(t, statement{text: markdown.Clip(title+": "+strings.TrimSuffix(firstSentence(n.text), ":"), maxStatement)})
			}
		default:
			if t, sign := topicOf(notes, i); t != nil {
				taken[i] = true
				add(*t, statement{component: component(notes, i), text: tell(notes, i, sign)})
			}
		}
	}
	return found
}

// noise matches text below a general heading that is not a warning.
func noise(text string) bool {
	words := len(strings.Fields(text))
	return words < 3 || noAction.MatchString(text) && words < 12 || nothing.MatchString(text)
}

var nothing = regexp.MustCompile(`(?i)^\W*(?:none|n/a|nothing|no (?:known )?(?:breaking|security)\b.*)\W*$`)

// headingTopic finds the innermost heading that opens a topic. title is the
// subject of that heading, or of the heading directly below a general one; ""
// if the note needs none. at is the heading's index, -1 if there is none.
func headingTopic(n note) (t topic, title string, at int) {
	for i := len(n.headings) - 1; i >= 0; i-- {
		h := n.headings[i]
		t, general, ok := topicOfHeading(h)
		if !ok {
			if severe.MatchString(h) && slices.ContainsFunc(n.headings[:i],
				func(p string) bool { return strings.Contains(strings.ToLower(p), security.name) }) {
				return security, h, i
			}
			continue
		}
		switch {
		case !general:
			return t, h, i
		case i+1 < len(n.headings):
			return t, n.headings[i+1], i + 1
		}
		return t, "", i
	}
	return topic{}, "", -1
}

// topicOf returns the topic of a statement without a heading that opens one,
// and the words that say so; nil if it is not a warning.
func topicOf(notes []note, i int) (*topic, *regexp.Regexp) {
	n := notes[i]
	text := n.text
	for _, p := range n.parents { // a short parent item acts as a heading
		if !short(notes[p].text) || noise(text) {
			continue
		}
		if t, general, ok := topicOfHeading(notes[p].text); ok && general {
			return &t, nil
		}
	}
	if upgrading(n) && !noAction.MatchString(text) && (doThis.MatchString(text) || must.MatchString(text)) {
		return &action, nil
	}
	sign := signOf(text)
	switch {
	case sign == nil || sign.topic == nil,
		sign.says == breakingMark && len(strings.Fields(text)) <= 3,
		sign.says == must && slices.ContainsFunc(n.headings, advice.MatchString):
		return nil, nil
	}
	if sign.says == must { // on a condition it is no call to act
		list := Sentences(text)
		if at := slices.IndexFunc(list, must.MatchString); at >= 0 && condition.MatchString(list[at]) {
			return &breaking, must
		}
	}
	return sign.topic, sign.says
}

// upgrading reports whether a statement is under a heading for those who
// upgrade.
func upgrading(n note) bool {
	return len(n.headings) > 0 && upgradeName.MatchString(n.headings[len(n.headings)-1])
}

// hints occur in every text that is a warning; most texts have none, and
// checking is cheap.
var hints = []string{
	"cve-", "ghsa-", "vulnerab", "security", "breaking", "!:", "compatible", "action", "must", "need", "has to",
	"have to", "requir", "mandatory", "please", "warning", "important", "attention", "caution", "danger", "⚠",
	"remov", "drop", "discontinu", "no longer", "deprecat", "will",
}

func telling(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(hints, func(sign string) bool { return strings.Contains(text, sign) })
}

// due reads a date to act by from a statement: a date after a word such as
// "before", in or next to a sentence that requires something.
func due(notes []note, i int, released time.Time) (statement, bool) {
	text := notes[i].text
	if !strings.Contains(text, "20") || !dueWord.MatchString(text) {
		return statement{}, false
	}
	for _, d := range daysIn(text) {
		before := text[:d.Start]
		if from := d.Start - dueReach; from > 0 {
			_, before, _ = strings.Cut(before[from:], " ")
		}
		if issued.MatchString(before) || !dueMark.MatchString(before) ||
			!released.IsZero() && d.Time.Before(released.Truncate(24*time.Hour)) {
			continue
		}
		written := text[d.Start:d.End]
		said := tell(notes, i, regexp.MustCompile(regexp.QuoteMeta(written)))
		return statement{component: component(notes, i), text: said, due: d.Time, written: written}, true
	}
	return statement{}, false
}

// component returns the component of a statement: the bold scope in front of
// it, else its short parent item.
func component(notes []note, i int) string {
	n := notes[i]
	if m := scope.FindStringSubmatch(n.raw); m != nil {
		return m[1]
	}
	for _, p := range slices.Backward(n.parents) {
		if parent := notes[p]; parent.item && short(parent.text) {
			if _, _, opens := topicOfHeading(parent.text); !opens {
				return strings.TrimSuffix(parent.text, ":")
			}
		}
	}
	return ""
}

// short reports whether a statement acts as a heading for its children.
func short(text string) bool {
	return len(text) <= 48 && len(strings.Fields(text)) <= 4 && !strings.HasSuffix(text, ".")
}

// tell returns a statement's first sentences, starting at the one with the
// sign, and the list that it introduces.
func tell(notes []note, i int, sign *regexp.Regexp) string {
	text := notes[i].text
	if m := scope.FindStringSubmatch(notes[i].raw); m != nil {
		text = strings.TrimLeft(strings.TrimPrefix(text, m[1]), ": ")
	}
	if m := markInBold.FindStringSubmatch(notes[i].raw); m != nil {
		text = strings.TrimLeft(strings.TrimPrefix(text, m[1]+m[2]), ": ")
	}
	if sign != nil {
		list := Sentences(text)
		at := max(0, slices.IndexFunc(list, sign.MatchString))
		for at > 0 && pronoun.MatchString(list[at]) {
			at--
		}
		text = strings.Join(list[at:], " ")
	}
	if strings.HasSuffix(text, ":") {
		for j := i + 1; j < len(notes) && slices.Contains(notes[j].parents, i) &&
			utf8.RuneCountInString(text) < maxStatement; j++ {
			if last := len(notes[j].parents) - 1; notes[j].parents[last] == i {
				text += " " + strings.TrimSuffix(firstSentence(notes[j].text), ".") + ";"
			}
		}
		text = strings.TrimRight(text, ";")
	}
	text = reference.ReplaceAllString(text, "")
	text = strings.TrimLeft(leadIn.ReplaceAllString(text, ""), " :–—-")
	return capital(sentences(text, maxStatement))
}

var (
	markInBold = regexp.MustCompile(`^[*_]{1,3}((?i:breaking|warning|important|attention|caution))[*_:]+|^(BREAKING)\b`)
	leadIn     = regexp.MustCompile(`(?i)^[\W_]*(?:breaking(?: changes?)?|warning|important|attention|` +
		`caution)[\W_]*(?:[:*)\]–—-]|\s(?:\s|$))[\s:*]*`)
	reference = regexp.MustCompile(`\s+\((?:#\d+|[0-9a-f]{7,40})\)`) // a pull request or commit
	pronoun   = regexp.MustCompile(`(?i)^(?:this|these|they|it|its|that|those|he|she|which|the (?:former|latter))\b`)
)

// sentences returns the first sentences of a text that fit into n characters,
// or the beginning of the first if it does not fit.
func sentences(text string, n int) string {
	out := ""
	for _, s := range Sentences(text) {
		if out != "" && utf8.RuneCountInString(out)+1+utf8.RuneCountInString(s) > n {
			break
		}
		if out != "" {
			out += " "
		}
		out += s
	}
	return markdown.Clip(out, n)
}

func firstSentence(text string) string {
	if s := Sentences(text); len(s) > 0 {
		return s[0]
	}
	return ""
}

// actionIn returns the sentence that states the action.
func actionIn(text string) string {
	for _, s := range Sentences(text) {
		if !noAction.MatchString(s) && (must.MatchString(s) || actNow.MatchString(s) || doThis.MatchString(s)) {
			return s
		}
	}
	return ""
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s, " ")
	if n == 0 || strings.ContainsAny(word, "._-/()0123456789") || strings.IndexFunc(word[n:], unicode.IsUpper) >= 0 {
		return s // an identifier keeps its case
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
