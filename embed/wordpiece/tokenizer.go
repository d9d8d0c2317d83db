// Package wordpiece cuts texts into tokens as BERT's uncased models do: words,
// and each word into the longest entries of the vocabulary from the left. The
// models in the binary share the vocabulary, which is that of BERT base uncased.
package wordpiece

import (
	"bytes"
	"cmp"
	_ "embed" // the vocabulary
	"slices"
	"strings"
	"sync"
)

// Vocabulary has an entry on each line; the line's number from 0 is the token's id.
//
//go:embed vocab.txt
var Vocabulary string

// Size is the number of entries; First and Last are the tokens that a
// transformer reads before and after those of a text.
const (
	Size  = 30_522
	First = 101 // [CLS]
	Last  = 102 // [SEP]
)

var words = sync.OnceValue(func() map[string]struct{} {
	held := map[string]struct{}{}
	for line := range strings.Lines(Vocabulary) {
		if entry := strings.TrimSuffix(line, "\n"); !strings.HasPrefix(entry, "##") {
			held[entry] = struct{}{}
		}
	}
	return held
})

// IsWord reports whether the vocabulary holds a folded word as a whole: then it
// is a frequent English word, hardly a misspelt one.
func IsWord(word string) bool {
	_, ok := words()[word]
	return ok
}

// maxWordChars is the length beyond which BERT makes a word [UNK].
const maxWordChars = 100

// Tokenizer cuts words from the splitter into the longest entries of the
// vocabulary from the left (WordPiece, greedy longest match first). No special
// tokens are added, and none are recognised in the text.
//
// The vocabulary is a trie over bytes, children of a node side by side, so
// that a word is cut by walking it once instead of trying every prefix. A
// Tokenizer is safe for concurrent use.
type Tokenizer struct {
	nodes   []node
	labels  []byte // by node: the byte that leads to it
	inside  int32  // node of "##", from which pieces inside a word start
	unknown int32
}

type node struct {
	first    int32 // first child
	children int32
	token    int32 // id of the entry that ends here, or -1
}

const noToken = -1

// New builds the trie. Entries with capitals or accents never match, because
// texts are folded first.
func New() *Tokenizer {
	entries := strings.Split(strings.TrimSuffix(Vocabulary, "\n"), "\n")
	sorted := make([]entry, len(entries))
	for id, text := range entries {
		sorted[id] = entry{text, int32(id)}
	}
	slices.SortFunc(sorted, func(a, b entry) int { return cmp.Compare(a.text, b.text) })
	t := &Tokenizer{}
	t.build(sorted)
	t.unknown, t.inside = t.nodes[t.walk("[UNK]")].token, t.walk("##")
	return t
}

type entry struct {
	text string
	id   int32
}

// build lays out the trie of sorted entries level by level, so that the
// children of a node get consecutive numbers.
func (t *Tokenizer) build(sorted []entry) {
	type span struct{ from, to, depth int } // entries below a node
	queue := []span{{0, len(sorted), 0}}
	t.nodes, t.labels = []node{{}}, []byte{0}
	for n := 0; n < len(queue); n++ {
		s := queue[n]
		nd := node{first: int32(len(queue)), token: noToken}
		if s.from < s.to && len(sorted[s.from].text) == s.depth {
			nd.token = sorted[s.from].id
			s.from++
		}
		for from := s.from; from < s.to; {
			label := sorted[from].text[s.depth]
			to := from + 1
			for to < s.to && sorted[to].text[s.depth] == label {
				to++
			}
			queue = append(queue, span{from, to, s.depth + 1})
			t.nodes, t.labels = append(t.nodes, node{}), append(t.labels, label)
			nd.children++
			from = to
		}
		t.nodes[n] = nd
	}
}

// child returns the node that b leads to, or -1.
func (t *Tokenizer) child(n int32, b byte) int32 {
	nd := &t.nodes[n]
	if nd.children == 1 { // by far the most frequent beyond a word's first bytes
		if t.labels[nd.first] == b {
			return nd.first
		}
		return -1
	}
	i := bytes.IndexByte(t.labels[nd.first:nd.first+nd.children], b)
	if i < 0 {
		return -1
	}
	return nd.first + int32(i)
}

func (t *Tokenizer) walk(text string) int32 {
	n := int32(0)
	for i := 0; i < len(text) && n >= 0; i++ {
		n = t.child(n, text[i])
	}
	return n
}

// Append appends the token ids of a text.
func (t *Tokenizer) Append(ids []int32, text string) []int32 {
	s := splitter{tokens: t, ids: ids}
	s.text(text)
	return s.ids
}

// appendPieces cuts one word; a word that cannot be cut into entries is [UNK] as a whole.
func (t *Tokenizer) appendPieces(ids []int32, word []byte, chars int) []int32 {
	if chars > maxWordChars {
		return append(ids, t.unknown)
	}
	start := len(ids)
	for from, root := 0, int32(0); from < len(word); root = t.inside {
		longest, end := int32(noToken), 0
		for n, i := root, from; i < len(word); {
			if n = t.child(n, word[i]); n < 0 {
				break
			}
			i++
			if token := t.nodes[n].token; token != noToken {
				longest, end = token, i
			}
		}
		if longest == noToken {
			return append(ids[:start], t.unknown)
		}
		ids = append(ids, longest)
		from = end
	}
	return ids
}
