package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// buoysYAML describes a fictional network of three sources over a snapshot.
const buoysYAML = `name: buoys
title: Lantern Buoys
proposals:
  prefix: LIP
  statuses: [Draft, Review, Final]
  status_map: {Active: Final}
  default: Draft
sources:
  - name: lips
    kind: snapshot
    options: {dir: "${corpus}", content_types: {lip: cip}, url: {"*": "https://forge.example/{repo}/blob/{commit}/{source_path}"}}
  - name: manual
    kind: snapshot
    options: {dir: "${corpus}", content_types: {page: doc}, url: {"*": "https://forge.example/{repo}/blob/{commit}/{source_path}"}}
  - name: notes
    kind: snapshot
    options: {dir: "${corpus}", content_types: {note: release}, url: {"*": "https://forge.example/{repo}/blob/{commit}/{source_path}"}}
`

// fixture is a network file and its snapshot.
type fixture struct{ network, corpus string }

// writeFixture writes the network with so many documents, the same for the
// same number: an eighth each of proposals and release notes, the rest pages.
func writeFixture(tb testing.TB, dir string, documents int) fixture {
	tb.Helper()
	f := fixture{filepath.Join(dir, "buoys.yaml"), filepath.Join(dir, "corpus")}
	writeFile(tb, f.network, buoysYAML)
	f.write(tb, documents)
	return f
}

// write writes the snapshot with so many documents.
func (f fixture) write(tb testing.TB, documents int) {
	tb.Helper()
	f.writeBut(tb, documents, func(_ int, text string) string { return text })
}

// writeBut is write with other texts; a document without one is left out.
func (f fixture) writeBut(tb testing.TB, documents int, change func(n int, text string) string) {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var manifest bytes.Buffer
	for n := range documents {
		row := map[string]any{"source_repo": "lantern/docs", "commit": "f00d", "licence": "CC0-1.0"}
		var name, text string
		switch n % 8 {
		case 0:
			number := fmt.Sprintf("%04d", n/8+1)
			name = fmt.Sprintf("lips/lip-%s/lip-%s.md", number, number)
			text = fmt.Sprintf(
				"## LIP %s\n\n<pre>\n  LIP: %s\n  Title: %s\n  Author: Mara Quill (fictional)\n  Status: Active\n  "+
					"Type: Process\n  Created: 2021-01-%02d\n</pre>\n\n## Abstract\n\n%s", number, number, title(r),
				n%28+1, prose(r, 3))
			row["content_type"], row["cip"] = "lip", number
		case 4:
			name = fmt.Sprintf("notes/tug/1.%d.0.md", n/8)
			text = fmt.Sprintf("# Tug 1.%d.0\n\n%s", n/8, prose(r, 2))
			row["content_type"] = "note"
		default:
			name = fmt.Sprintf("manual/page-%03d.md", n)
			text = fmt.Sprintf("# %s\n\n%s\n\n## Notes on %s\n\n%s", title(r), prose(r, 2), only(n), prose(r, 2))
			row["content_type"] = "page"
		}
		if text = change(n, text); text == "" {
			continue
		}
		sum := sha256.Sum256([]byte(text))
		row["path"], row["source_path"], row["sha256"], row["bytes"] = name, name, hex.EncodeToString(sum[:]), len(text)
		line, err := json.Marshal(row)
		if err != nil {
			tb.Fatal(err)
		}
		manifest.Write(append(line, '\n'))
		writeFile(tb, filepath.Join(f.corpus, filepath.FromSlash(name)), text)
	}
	writeFile(tb, filepath.Join(f.corpus, "manifest.jsonl"), manifest.String())
}

// words are the words of documents.
var words = strings.Fields(`anchor barge beacon bell berth bollard breakwater buoy cable canal captain chain channel chart current deck
	dock draught dredge ferry fender fog gangway gauge harbour hawser hull jetty keel knot lantern lighthouse lock log manifest mast mooring
	ledger notary quay rope rudder sail sounding storm tide toll towline tug vessel wharf winch validator settlement transfer`)

// only is a word that a page has alone, far from every other.
func only(page int) string {
	r := rand.New(rand.NewPCG(uint64(page), 3))
	word := make([]byte, 10)
	for i := range word {
		word[i] = byte('a' + r.IntN(26))
	}
	return string(word)
}

func title(r *rand.Rand) string {
	a, b := words[r.IntN(len(words))], words[r.IntN(len(words))]
	return strings.ToUpper(a[:1]) + a[1:] + " of the " + b
}

// prose is so many paragraphs.
func prose(r *rand.Rand, paragraphs int) string {
	var b strings.Builder
	for range paragraphs {
		for range 40 + r.IntN(40) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

func writeFile(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// writeJudged writes an invented collection: queries take three words of the
// document they seek, which other documents have too.
func writeJudged(tb testing.TB, dir string, documents, queries int) {
	tb.Helper()
	r := rand.New(rand.NewPCG(uint64(documents), 4))
	var corpus, asked, qrels strings.Builder
	for d := range documents {
		body := make([]string, 30)
		for i := range body {
			body[i] = words[r.IntN(len(words))]
		}
		fmt.Fprintf(&corpus, `{"_id":"d%02d","title":%q,"text":%q}`+"\n", d, body[0]+" "+body[1], strings.Join(body, " "))
		if d >= queries {
			continue
		}
		text, kind := body[0]+" "+body[1]+" "+body[7], "short"
		if d%2 == 0 {
			text, kind = "where is the "+body[0]+" with the "+body[7]+" and the "+body[12]+" of the "+body[20]+"?", "long"
		}
		fmt.Fprintf(&asked, `{"_id":"q%02d","text":%q,"kind":%q}`+"\n", d, text, kind)
		fmt.Fprintf(&qrels, "q%02d\td%02d\t2\nq%02d\td%02d\t0\n", d, d, d, (d+1)%documents)
	}
	for name, text := range map[string]string{"corpus.jsonl": corpus.String(), "queries.jsonl": asked.String(),
		"qrels.tsv": qrels.String()} {
		writeFile(tb, filepath.Join(dir, name), text)
	}
}
