package proposal

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/text/markup"
)

// Why a file of a branch is not read as a numbered proposal.
var (
	errNoNumber = errors.New("it has no number: neither its header nor its name or folder says one")
	errNoHeader = errors.New("its name has a number, but it has no header: " +
		"if it is a proposal, name it in the option paths")
	errTemplate = errors.New("it is a template")
	errForeign  = errors.New("it is numbered")
	errSecond   = errors.New("a second file")
	// ErrNothing: no file is a proposal.
	ErrNothing = errors.New("no file of the branch is a proposal; are repository, branch and the option paths right?")
	errFormat  = fmt.Errorf("its format is not one of those of proposals: %s", strings.Join(formats, ", "))
)

// Numbering says which files of a branch are numbered proposal.
type Numbering struct {
	Files   map[string]string // number, in the form of Numeral → file
	unread  map[string]Unread // by file
	folders map[string]string // directory of a proposal alone → its number
	words   map[string]string // number → the word in front of it in the path
	reader  Reader
}

// Unread is a file that is not read as a proposal.
type Unread struct {
	File   string
	Reason error
	Second bool // its header says the number of a proposal that is another file

	failed bool // it could not be read, so it may be one
}

// Err is the error to skip the file with.
func (u Unread) Err() error {
	if u.failed {
		return u.Reason
	}
	return fmt.Errorf("%w: %w", ingest.ErrNoItem, u.Reason)
}

// number finds the numbered proposals among the files of a branch that are in
// the place of proposal. The number is that of a file's header, else the one in
// its name, else that of its folder, of which a readme or index is the proposal.
// A name that does not say what the number is of, such as 0001-lamps.md, counts
// if the file has a header, or if files are named: the operator chose them. Of
// several files with a number the one counts whose header and path agree on it;
// another keeps the number of its path if no file has that. A text that cannot be
// read has the number of its path.
func (r Reader) number(files []string, named bool, parse func(file string) (version, error)) Numbering {
	n := Numbering{Files: map[string]string{}, unread: map[string]Unread{}, folders: map[string]string{},
		words: map[string]string{}, reader: r}
	var candidates []candidate
	for _, file := range slices.SortedFunc(slices.Values(files), byStem) {
		if !IsText(file) {
			n.unread[file] = Unread{File: file, Reason: errFormat}
			continue
		}
		v, failed := parse(file)
		h := v.header
		h.Number = cmp.Or(r.Known[file], h.Number)
		c, err := r.candidate(file, h, named)
		if err != nil {
			n.unread[file] = Unread{File: file, Reason: cmp.Or(failed, err), failed: failed != nil}
			continue
		}
		if candidates = append(candidates, c); isMain(file) && path.Dir(file) != "." {
			n.folders[path.Dir(file)] = c.number
		}
	}
	best := map[string]candidate{}
	var losers []candidate
	for _, c := range candidates {
		of := n.folders[path.Dir(c.file)]
		if c.bare && of != "" && of != c.number && !r.isPrefix(c.word) {
			n.unread[c.file] = Unread{File: c.file, Reason: errNoHeader} // "annex-2.md" beside a readme
			continue
		}
		other, taken := best[c.number]
		if taken && other.rank() >= c.rank() {
			losers = append(losers, c)
			continue
		}
		if best[c.number] = c; taken {
			losers = append(losers, other)
		}
	}
	for _, c := range losers {
		winner := best[c.number].file
		if _, taken := best[c.place]; c.place != "" && !taken {
			best[c.place] = c
			continue
		}
		n.unread[c.file] = Unread{File: c.file, Second: c.header,
			Reason: fmt.Errorf("%w of %s beside %s", errSecond, r.Key(c.number), winner)}
	}
	for number, c := range best {
		n.Files[number], n.words[number] = c.file, c.word
		if dir := path.Dir(c.file); dir != "." && n.folders[dir] == "" && r.inName(path.Base(dir)).number == number {
			n.folders[dir] = number
		}
	}
	return n
}

// Of returns the number of the proposal beside which a file lies: in its
// folder, or in one that is named after it. It is empty if there is none.
func (n Numbering) Of(file string) string {
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if number, ok := n.folders[dir]; ok {
			return number
		}
		at := n.reader.inName(path.Base(dir))
		if n.Files[at.number] != "" && (n.reader.isPrefix(at.word) || at.word == n.words[at.number]) {
			return at.number
		}
	}
	return ""
}

// Unread lists the files that are not read as proposals, by name. Unless files
// are named, those without a number that are about the repository itself are left
// out.
func (n Numbering) Unread(named bool) []Unread {
	var list []Unread
	for _, file := range slices.Sorted(maps.Keys(n.unread)) {
		u := n.unread[file]
		numbered := errors.Is(u.Reason, errSecond) || errors.Is(u.Reason, errForeign)
		if named || numbered || !aboutRepository(file) {
			list = append(list, u)
		}
	}
	return list
}

// candidate is a file that has a number.
type candidate struct {
	file   string
	number string // the one that counts
	place  string // the one that its path says, or ""
	word   string // in front of that
	own    bool   // its own name says the number that counts
	header bool   // its header says it
	bare   bool   // it has no header
}

// rank orders the files with one number: the best has the greatest.
func (c candidate) rank() (rank int) {
	switch {
	case c.header && c.place == c.number:
		rank = 8
	case c.header && c.place != "":
		rank = 0
	default:
		rank = 4
	}
	if c.own {
		rank++
	}
	return rank
}

func (r Reader) candidate(file string, h Header, named bool) (candidate, error) {
	at := r.place(file)
	c := candidate{
		file: file, number: cmp.Or(h.Number, at.number), place: at.number, word: at.word, header: h.Number != "",
		own:  at.own != "" && at.own == cmp.Or(h.Number, at.number),
		bare: len(h.Fields) == 0,
	}
	switch {
	case !named && isHidden(file):
		return c, errNoNumber
	case h.Number != "" && (h.Number != Numeral("0") || !markup.IsTemplate(file)):
	case markup.IsTemplate(file):
		return c, errTemplate
	case at.number == "":
		return c, errNoNumber
	case r.foreign(h, at.word):
		return c, fmt.Errorf("%w as one of %s, not of %s", errForeign, strings.ToUpper(at.word),
			r.Network.Proposals.Prefix)
	case !at.sure && !named && len(h.Fields) == 0:
		return c, errNoHeader
	}
	return c, nil
}

// foreign reports whether a header numbers its proposal with another prefix
// than the network's.
func (r Reader) foreign(h Header, word string) bool {
	if word == "" || strings.EqualFold(word, r.Network.Proposals.Prefix) {
		return false
	}
	for name, value := range h.Fields {
		if strings.EqualFold(name, word) && parseNumber(value) != "" {
			return true
		}
	}
	return false
}

// place is the number that a path says.
type place struct {
	named
	own string // the number in the file's own name
}

// named is a number in a name, with the word in front of it.
type named struct {
	number, word string
	sure         bool // the name says that it is the number of a proposal
}

// place reads the number of a file from its name, else, of a main file, from its
// folder. A folder's number counts also if the name has another with the same
// word, which is a mistake; a file with a number of something else lies beside
// the proposal of its folder.
func (r Reader) place(file string) place {
	own, folder := r.inName(stem(file)), named{}
	for dir := path.Dir(file); dir != "." && dir != "/" && folder.number == ""; dir = path.Dir(dir) {
		folder = r.inName(path.Base(dir))
	}
	at := place{named: own, own: own.number}
	switch {
	case own.number == "" && isMain(file):
		at.named = r.inName(path.Base(path.Dir(file)))
		at.sure = false // assets have readmes too
	case own.number == "" || folder.number == "" || folder.number == own.number:
	case own.word == folder.word && own.word != "":
		at.named = folder
	case !r.isPrefix(own.word) && r.isPrefix(folder.word):
		at.named = named{}
	}
	return at
}

func (r Reader) isPrefix(word string) bool {
	return strings.EqualFold(word, r.Network.Proposals.Prefix)
}

var (
	// nameDate matches a date in a name, with the separators around it.
	nameDate = regexp.MustCompile(`(?:^|[-_ .])(?:19|20|21)\d\d[-_.](?:0[1-9]|1[0-2])(?:[-_.](?:0[1-9]|[12]\d|3[01]))?` +
		`(?:$|[-_ .])`)
	wordNumber = regexp.MustCompile(`^(\pL+)(\d+)$`)
	wholeName  = regexp.MustCompile(`^\pL+[-_ ]?\d{1,6}(?:-\d\d)?$`)
)

// inName reads the number in the name of a file without its extension, or of a
// folder: the one that it begins with, else the one behind the network's prefix,
// else the first, which is neither of a date nor of a version. Two further digits
// at the end are the number of a part.
func (r Reader) inName(name string) named {
	name = strings.TrimSpace(name)
	tokens := strings.FieldsFunc(nameDate.ReplaceAllString(name, "--"), func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || unicode.IsSpace(r)
	})
	first := named{}
	word := ""
	for i, token := range tokens {
		if r.isPrefix(token) { // which may have digits
			word = token
			continue
		}
		digits := token
		m := wordNumber.FindStringSubmatch(token)
		if m != nil && (r.isPrefix(m[1]) || i == 0 && !strings.EqualFold(m[1], "v")) {
			word, digits = m[1], m[2]
		}
		if !isNumber(digits) || len(digits) > network.MaxDigits {
			if word = ""; strings.IndexFunc(token, func(r rune) bool { return !unicode.IsLetter(r) }) < 0 {
				word = token
			}
			continue
		}
		if i+2 == len(tokens) && word != "" && len(tokens[i+1]) == 2 && isNumber(tokens[i+1]) {
			digits += "-" + tokens[i+1]
		}
		found := named{number: Numeral(digits), word: strings.ToLower(word), sure: r.isPrefix(word)}
		if found.sure || i == 0 {
			first = found
			break
		}
		if first.number == "" {
			first = found
		}
		word = ""
	}
	first.sure = first.sure || first.number != "" && wholeName.MatchString(name)
	return first
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// stem returns the name of a file without its extension.
func stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// byStem orders files by name, the shorter of two that begin alike first.
func byStem(a, b string) int {
	return cmp.Or(cmp.Compare(strings.TrimSuffix(a, path.Ext(a)), strings.TrimSuffix(b, path.Ext(b))), cmp.Compare(a, b))
}

// isMain reports whether a file is the main one of its folder.
func isMain(file string) bool {
	name := stem(file)
	return strings.EqualFold(name, "readme") || strings.EqualFold(name, "index")
}

// likelihood says how likely a file that a pull request changes is its proposal:
// 0 for a readme, 2 for that of a numbered folder, 1 for others.
func (r Reader) likelihood(file string) int {
	switch {
	case !isMain(file):
		return 1
	case r.place(file).number != "":
		return 2
	}
	return 0
}

// repositoryFile are the names of files about a repository itself.
var repositoryFile = wordSet(`readme index contributing contributors license licence copying notice authors
	maintainers codeowners code_of_conduct security support governance changelog changes history roadmap`)

// aboutRepository reports whether a file without a number is about the
// repository rather than a proposal: by its name, as a template, or since its
// folder is hidden.
func aboutRepository(file string) bool {
	name := strings.ToLower(strings.ReplaceAll(stem(file), "-", "_"))
	return repositoryFile[name] || markup.IsTemplate(file) || isHidden(file)
}

// isHidden reports whether a file or a folder that it is in is hidden: it
// configures the forge.
func isHidden(file string) bool { return strings.HasPrefix(file, ".") || strings.Contains(file, "/.") }
