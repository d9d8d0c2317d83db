package mail

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/text/prose"
)

// The choices of a vote, as named in the catalog.
const (
	inFavour = "in_favour"
	against  = "against"
	abstain  = "abstain"
	noVote   = "no_vote"
)

// tally collects the votes of a thread: the last one of each voter.
//
// A vote is a line, or the start of a sentence, that states a vote and nothing
// else: "+1", "In favour", "Vote: against", "I abstain because …", "Foghorn
// Labs votes in favour", "On behalf of Foghorn Labs: in favour", "I change my
// vote to against". A message with several lines of a voter and a choice
// ("Foghorn Labs in favour") records the votes of all of them. Talk about votes
// ("I would vote against if …") does not count, nor does the message that calls
// for a vote, unless it records votes or states its own.
//
// A voter is the named organisation, or else the sender; a sender who has named
// an organisation once votes for it from then on.
type tally struct {
	votes   []ballot
	members map[string]string // organisation by sender
}

type ballot struct {
	catalog.Vote
	sender string // key of the sender; "" if someone else recorded it
}

// statement is a vote stated in a text.
type statement struct {
	voter  string // "" means the sender
	choice string // "" means withdrawn
	reason string
	end    int // of the choice, in the text
}

// maxReason is the maximum length of a vote's reason in bytes.
const maxReason = 2000

// add reads the votes of a message from its text. A sender without a name is
// named as in the record. opens says that the message started the thread.
func (t *tally) add(from person, text string, at time.Time, address string, opens bool) {
	if all := record(text); len(all) > 1 {
		for _, s := range all {
			t.cast(ballot{catalog.Vote{
				Voter: s.voter, Choice: s.choice, Reason: s.reason, CastAt: at, URL: address,
			}, ""})
		}
		return
	}
	s, ok := stated(text, opens)
	if !ok {
		return
	}
	sender := from.key()
	if s.voter != "" {
		if t.members == nil {
			t.members = map[string]string{}
		}
		t.members[sender] = s.voter
	} else if s.voter = t.members[sender]; s.voter == "" {
		s.voter = from.name
	}
	if s.voter == "" {
		return // without a voter
	}
	t.cast(ballot{catalog.Vote{Voter: s.voter, Choice: s.choice, Reason: s.reason, CastAt: at, URL: address}, sender})
}

// cast counts a vote and replaces earlier ones: the voter's, and the one that
// the sender cast before naming an organisation.
func (t *tally) cast(b ballot) {
	kept := t.votes[:0]
	for _, old := range t.votes {
		personal := old.sender != "" && old.sender == b.sender && t.members[b.sender] == b.Voter &&
			old.Voter != b.Voter && !slices.Contains(slices.Collect(maps.Values(t.members)), old.Voter)
		if !personal && fold(old.Voter) != fold(b.Voter) {
			kept = append(kept, old)
		}
	}
	if t.votes = kept; b.Choice != "" {
		t.votes = append(t.votes, b)
	}
}

// list returns the votes for the catalog.
func (t *tally) list() []catalog.Vote {
	var votes []catalog.Vote
	for _, b := range t.votes {
		votes = append(votes, b.Vote)
	}
	return votes
}

// fold returns a voter's name in the form used for comparison.
func fold(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return strings.ContainsRune(" .,'’-_&\"", r)
	}), " ")
}

// The words of choices. The weak ones also have other meanings, so they only
// count if a vote is announced or nothing follows.
const (
	strong = `in\s+favou?r|\+1|against|[-−–]1|abstain(?:s|ed|ing)?|abstention|no\s+vote|did\s+not\s+vote|not\s+voted`
	weak   = `yes|yea|aye|for|approve[sd]?|accept(?:s|ed)?|supports?|supported|no|nay|reject(?:s|ed)?|opposes?|` +
		`opposed|[+±]?0|absent`

	loose  = `[*_"”]*(?:\s|[.,;:!()–—-]|$)`
	strict = `[*_"”]*\s*(?:[.,;:!(]|$)`

	choice  = `[*_"“]*(` + strong + `|` + weak + `)` + loose                          // after a vote is announced
	verdict = `[*_"“]*(?:(` + strong + `)` + loose + `|(` + weak + `)` + strict + `)` // elsewhere

	begin   = `(?i)^[\s*_#•·–-]*`
	someone = `([\pL\pN][\pL\pN .,'’&()/-]{0,79}?)` // a name
	person1 = `(?:i|we)\s+(?:hereby\s+|also\s+|formally\s+|would\s+like\s+to\s+)?`
)

// choiceWords map words to choices; the first match counts.
var choiceWords = []struct {
	words  *regexp.Regexp
	choice string
}{
	{regexp.MustCompile(`(?i)^(?:no\s+vote|did\s+not\s+vote|not\s+voted|absent)$`), noVote},
	{regexp.MustCompile(`(?i)^(?:in\s+favou?r|\+1|yes|yea|aye|for|approve|accept|support)`), inFavour},
	{regexp.MustCompile(`(?i)^(?:against|[-−–]1|no|nay|reject|oppose)`), against},
	{regexp.MustCompile(`(?i)^(?:absten|abstain|[+±]?0)`), abstain},
}

// pattern is one way to state a vote. Its last group that matches is the
// choice.
type pattern struct {
	text  *regexp.Regexp
	voter bool // the first group is the voter
	line  bool // only as a whole line
	first bool // only as the first line of a message
	call  bool // also valid in a message that calls for votes
}

var patterns = []pattern{
	// "I change my vote from in favour to against"
	{text: regexp.MustCompile(begin + `(?:` + person1 + `)?(?:chang|revis|updat|correct|switch)(?:e|ing)\s+(?:my|` +
		`our)\s+vote\s+(?:from\s+[\pL\pN+\s-]{1,20}\s+)?to\s+` + choice), call: true},
	// "My vote: in favour", "Our vote on CIP-56 is against"
	{text: regexp.MustCompile(begin + `(?:my|our)\s+(?:(?:final|new|revised|` +
		`updated)\s+)?vote\b[^:=–—]{0,40}?(?:\s*[:=–—]|\s+-|\s+is)\s*` + choice), call: true},
	// "Vote: in favour", "Revised vote - against"
	{text: regexp.MustCompile(begin + `(?:(?:final|new|revised|updated)\s+)?vote\b[^:=–—]{0,40}?(?:\s*[:=–—]|\s+-)\s*` +
		choice), line: true},
	// "I vote yes", "We cast our vote in favour"
	{text: regexp.MustCompile(begin + person1 + `(?:vote|(?:am|are)\s+voting|cast\s+(?:my|our|a)\s+vote)\s+(?:as\s+|` +
		`to\s+)?` + choice), call: true},
	// "We are in favour", "I abstain", "We approve."
	{text: regexp.MustCompile(begin + person1 + `(?:(?:am|are)\s+)?` + verdict), call: true},
	// "For Foghorn Labs, I vote yes"
	{text: regexp.MustCompile(begin + `(?:on\s+behalf\s+of|representing|for)\s+` + someone + `\s*[,:–—-]?\s+` +
		person1 + `vote\s+(?:as\s+|to\s+)?` + choice), voter: true, call: true},
	// "On behalf of Foghorn Labs: in favour"
	{text: regexp.MustCompile(begin + `(?:on\s+behalf\s+of|representing)\s+` + someone + `\s*[,:–—-]\s*(?:` + person1 +
		`(?:(?:am|are)\s+)?)?` + verdict), voter: true, call: true},
	// "Foghorn Labs votes against", "Foghorn Labs changes its vote to abstain"
	{text: regexp.MustCompile(begin + someone + `\s+(?:hereby\s+)?(?:votes?|casts\s+(?:its|a|their)\s+vote|` +
		`changes\s+(?:its|their)\s+vote\s+to)\s+(?:as\s+|to\s+)?` + choice), voter: true},
	// "Foghorn Labs abstains."
	{text: regexp.MustCompile(begin + someone + `\s+(abstains|approves|rejects|opposes|supports)\s*(?:[.,;:!(–—-]|$)`),
		voter: true, line: true},
	// "Foghorn Labs: in favour"
	{text: recorded, voter: true, line: true},
	// "+1", "In favour.", "Abstain: we share a building", "Against CIP-56"
	{text: regexp.MustCompile(begin + `(?:voting\s+)?[*_"“]*(\+1|[-−–]1|in\s+favou?r|against|abstain(?:ing)?|` +
		`approved?)[*_"”]*(?:\s*$|\s*[.,;:!(–—]|\s+[-–—]\s|\s+(?:of|on|from)\s+)`), line: true},
	// a word that is a vote only if it stands alone
	{text: regexp.MustCompile(begin + `(yes|yea|aye|no|nay|for|reject|oppose|support|0)[*_]*[.!]?\s*$`), line: true,
		first: true},
}

var (
	// recorded: "Foghorn Labs    in favour   "reason"", "| Foghorn Labs | abstain |"
	recorded = regexp.MustCompile(`(?i)^[\s*•·|-]*` + someone + `(?:\s{2,}|\t\s*|\s*[:|–—]\s*|\s+-\s+)[*_]*(` + strong +
		`|` + weak + `)[*_]*(?:\s*$|\s*[|.,;:(–—"“]|\s{2,})`)
	// withdrawn: "I withdraw our vote"
	withdrawn = regexp.MustCompile(begin + person1 + `(?:withdraw|retract|revoke)\s+(?:my|our)\s+vote\b`)
	// listed matches after a choice in a text that lists all choices.
	listed = regexp.MustCompile(`(?i)^[\s*_"”]*(?:[/|,]?\s*(?:or\s+)?(?:in\s+favou?r|against|abstain|yes|no)\b|/|` +
		`:?\s*\(?\d+\)?\s*(?:$|[,;]))`)
	// labels are words before a colon that are not voters.
	labels = regexp.MustCompile(`(?i)^(?:(?:my|our|the|final|revised|updated)\s+)*(?:votes?|ballots?|results?|` +
		`totals?|majority|in favou?r|against|abstain\w*|quorum|for|yes|no|deadline|subject|date|proposals?|outcome|` +
		`status|choice|options?|from|to|i|we|on behalf|question|recommendation|reason)\b`)
	// otherwise matches starts of sentences about others' votes, or about none.
	otherwise = regexp.MustCompile(`(?i)^(?:if|whether|when|unless|should|please|who|those|all|any|everyone|anyone|` +
		`nobody|you|they|he|she|it|this|that|these|there|what|most|some|many|but|and|so|as|each|every)\b|` +
		`\b(?:would|could|might|may|should|will|to|can|not|already|if|who|members?|validators?)$`)
)

// record reads a list of recorded votes.
func record(text string) (all []statement) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if s, ok := (pattern{text: recorded, voter: true}).read(line); ok {
			all = append(all, s)
		}
	}
	return all
}

// read reads a vote from a line or the start of a sentence. The rest is its
// reason.
func (p pattern) read(text string) (statement, bool) {
	m := p.text.FindStringSubmatchIndex(text)
	if m == nil {
		return statement{}, false
	}
	var s statement
	if p.voter {
		if s.voter = voterName(text[m[2]:m[3]]); labels.MatchString(s.voter) || otherwise.MatchString(s.voter) {
			return statement{}, false
		}
	}
	last := len(m) - 2
	for m[last] < 0 {
		last -= 2
	}
	rest := text[m[last+1]:]
	if s.choice = choiceOf(text[m[last]:m[last+1]]); s.choice == "" || listed.MatchString(rest) {
		return statement{}, false
	}
	s.reason, s.end = tidyReason(rest), m[last+1]
	return s, true
}

func voterName(s string) string { return strings.Trim(strings.Join(strings.Fields(s), " "), " .,-") }

func choiceOf(words string) string {
	for _, c := range choiceWords {
		if c.words.MatchString(words) {
			return c.choice
		}
	}
	return ""
}

// stated returns the first vote that a message states for its sender.
func stated(text string, opens bool) (statement, bool) {
	for _, p := range places(text) {
		if withdrawn.MatchString(p.text) {
			return statement{}, true
		}
		for _, way := range patterns {
			if opens && !way.call || way.line && !p.line || way.first && !p.first {
				continue
			}
			if s, ok := way.read(p.text); ok {
				s.reason = tidyReason(text[p.at+s.end:]) // it may continue on other lines
				return s, true
			}
		}
	}
	return statement{}, false
}

// place is where a vote may start: a line or a sentence.
type place struct {
	text  string
	at    int  // byte offset in the message
	line  bool // a whole line
	first bool // the message's first line
}

var sentenceEnd = regexp.MustCompile(`[.!?]\s+`)

// places returns the unquoted lines of a text, each followed by the rest of its
// paragraph and by the sentences that start in it.
func places(text string) (all []place) {
	first := true
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		end := at + len(line)
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed[0] != '>' {
			all = append(all, place{line, at, true, first})
			for _, m := range append([][]int{{0, 0}}, sentenceEnd.FindAllStringIndex(line, maxSentences)...) {
				if start := at + m[1]; start < end {
					all = append(all, place{sentence(text[start:]), start, false, false})
				}
			}
			first = false
		}
		at = end + 1
	}
	return all
}

const (
	maxSentences = 20  // per line
	maxSentence  = 300 // bytes
)

// sentence returns the start of a text, up to the end of its paragraph, as one
// line.
func sentence(text string) string {
	text, _, _ = strings.Cut(prose.FirstBytes(text, maxSentence), "\n\n")
	return text
}

const punctuation = " \t\r\n.,;:!*_|–—-"

func tidyReason(s string) string {
	s = strings.Trim(s, punctuation)
	if len(s) > 1 && (s[0] == '"' && s[len(s)-1] == '"' || s[0] == '(' && s[len(s)-1] == ')') {
		s = strings.Trim(s[1:len(s)-1], punctuation)
	}
	return prose.FirstBytes(s, maxReason)
}
