// Package privacy removes from entries what must not reach the catalog: mail
// addresses of people, and characters that nobody sees.
package privacy

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"almanac/catalog"
)

// saltKey is the catalog's meta key for the salt of pseudonyms.
const saltKey = "people_salt"

// People names authors and voters without their mail addresses.
type People struct{ salt []byte }

// Facts is what the catalog knows of its data directory.
type Facts interface {
	Meta(ctx context.Context, key string) (string, error)
	SetMeta(ctx context.Context, key, value string) error
}

// Open reads the catalog's salt, creating it the first time.
func Open(ctx context.Context, store Facts) (People, error) {
	salt, err := store.Meta(ctx, saltKey)
	if err == nil && salt == "" {
		if err = store.SetMeta(ctx, saltKey, rand.Text()); err == nil {
			salt, err = store.Meta(ctx, saltKey)
		}
	}
	if err != nil {
		return People{}, fmt.Errorf("salt of pseudonyms: %w", err)
	}
	return People{salt: []byte(salt)}, nil
}

// Pseudonym returns the substitute for a mail address: equal addresses give
// equal pseudonyms in one data directory, and unrelated ones in another. Letter
// case and a mailto scheme are ignored.
func (p People) Pseudonym(address string) string {
	address = strings.ToLower(strings.Trim(strings.TrimSpace(address), "<>"))
	mac := hmac.New(sha256.New, p.salt)
	mac.Write([]byte(strings.TrimPrefix(address, "mailto:")))
	return "member-" + hex.EncodeToString(mac.Sum(nil)[:6])
}

var (
	hiddenInName = regexp.MustCompile(`[<(\[]*(?:mailto:)?\[email hidden\][>)\]]*`)
	wrapped      = regexp.MustCompile(`^(?:"([^"]*)"|\(([^()]*)\))$`)
	listGaps     = regexp.MustCompile(`\s*([,;])(?:\s*[,;])+`)
)

// name returns the author or voter in a field that may hold addresses:
// "Jane <jane@site.example>" is Jane, a bare address its pseudonym.
func (p People) name(field string) string {
	field = strings.TrimSpace(field)
	start, end, ok := nextAddress(field, 0)
	if !ok {
		return field
	}
	name := hiddenInName.ReplaceAllString(Mask(field), " ")
	name = listGaps.ReplaceAllString(strings.Join(strings.Fields(name), " "), "$1")
	name = strings.ReplaceAll(strings.ReplaceAll(name, " ,", ","), " ;", ";")
	name = strings.Trim(name, " ,;:|/&-–—·<>")
	if quoted := wrapped.FindStringSubmatch(name); quoted != nil {
		name = strings.TrimSpace(quoted[1] + quoted[2])
	}
	if name == "" {
		return p.Pseudonym(field[start:end])
	}
	return name
}

// Hide removes the mail addresses of an entry's texts, author, data, links and
// votes.
func (p People) Hide(e *catalog.Entry) {
	rec := &e.Record
	rec.Title, rec.Body, rec.Summary = Mask(rec.Title), Mask(rec.Body), Mask(rec.Summary)
	rec.Author = p.name(rec.Author)
	rec.Data = p.maskData(rec.Data)
	if e.Facts != nil {
		e.Facts.Data = p.maskData(e.Facts.Data)
	}
	for i := range e.Links {
		e.Links[i].Snippet = Mask(e.Links[i].Snippet)
	}
	for i := range e.Votes {
		e.Votes[i].Voter, e.Votes[i].Reason = p.name(e.Votes[i].Voter), Mask(e.Votes[i].Reason)
	}
}

var (
	jsonString   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(?:\s*:)?`) // a name of a member with its colon
	nameAndAngle = regexp.MustCompile(`^"?[^"<>@]+"?\s*<[^<>\s]+>$`)
)

// maskData hides the addresses in the strings of a JSON text, which must be valid. Names of members stay:
// without them, two members could become one.
func (p People) maskData(data json.RawMessage) json.RawMessage {
	return mapStrings(data, func(s string, name bool) string {
		if name {
			return s
		}
		masked := Mask(s)
		if masked != s && nameAndAngle.MatchString(s) {
			return p.name(s)
		}
		return masked
	})
}

// mapStrings changes the strings of a JSON text and keeps its order and numbers. The function learns
// whether a string is the name of a member.
func mapStrings(data json.RawMessage, change func(s string, name bool) string) json.RawMessage {
	return jsonString.ReplaceAllFunc(data, func(literal []byte) []byte {
		end := bytes.LastIndexByte(literal, '"') + 1
		var s string
		if json.Unmarshal(literal[:end], &s) != nil {
			return literal
		}
		changed := change(s, end < len(literal))
		if changed == s {
			return literal
		}
		out, err := catalog.Encode(changed)
		if err != nil {
			return literal
		}
		return append(out, literal[end:]...)
	})
}
