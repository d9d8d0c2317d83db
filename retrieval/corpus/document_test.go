package corpus

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/dedup"
)

// source is what a document is made of.
type source struct {
	record   catalog.Record
	passages []analysis.Packed
	marks    []Mark
}

// sources draws records of a few passages with few words, so that they repeat.
func sources(ids *rapid.Generator[int64]) *rapid.Generator[source] {
	word := rapid.SampledFrom([]string{"key", "keys", "rotate", "CIP-56", "multi-sig", "a/b-c", "ledger", "日本語",
		"x"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "words"), " ")
	})
	return rapid.Custom(func(t *rapid.T) source {
		title := text.Draw(t, "title")
		s := source{record: catalog.Record{ID: ids.Draw(t, "id"), Kind: catalog.KindDoc, Key: text.Draw(t, "key"),
			Title: title, Path: "docs/" + text.Draw(t, "path") + ".md", Source: "site", State: "open"}}
		if rapid.Bool().Draw(t, "dated") {
			s.record.CreatedAt = time.Unix(rapid.Int64Range(1, 1<<33).Draw(t, "at"), 0).UTC()
		}
		if rapid.Bool().Draw(t, "part") {
			s.record.Kind = rapid.SampledFrom([]catalog.Kind{catalog.KindPost, catalog.KindAttachment}).Draw(t, "kind")
			s.record.Parent = ids.Draw(t, "parent")
		}
		if rapid.Bool().Draw(t, "stub") {
			s.record.Tags = []string{catalog.TagStub, catalog.TagOtherVersion}
		}
		for range rapid.IntRange(0, 4).Draw(t, "passages") {
			terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
				analysis.Title: analysis.Analyze(title), analysis.Path: analysis.Analyze(s.record.Path),
				analysis.Heading: analysis.Analyze(text.Draw(t, "heading")),
				analysis.Body:    analysis.Analyze(text.Draw(t, "body"))}))
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "headed") {
				head := analysis.TermID(rapid.IntRange(1, 3).Draw(t, "head"))
				s.marks = append(s.marks, Mark{head, len(s.passages), rapid.Bool().Draw(t, "option")})
			}
			s.passages = append(s.passages, terms)
		}
		return s
	})
}

// tally is what there is to say of a term, counted plainly.
func (s source) tally() map[analysis.TermID]detail {
	all := map[analysis.TermID]detail{}
	for o, p := range s.passages {
		seen := map[analysis.TermID]bool{}
		for f := range analysis.Field(analysis.NumFields) {
			terms := p.Field(f)
			for i := range terms.Len() {
				x := all[terms.ID(i)]
				if o == 0 || f == analysis.Heading || f == analysis.Body {
					x.fields[f]++
				}
				if !seen[terms.ID(i)] {
					seen[terms.ID(i)] = true
					x.passages++
				}
				all[terms.ID(i)] = x
			}
		}
	}
	return all
}

func TestDocumentsReadBackAsTheyWereMade(t *testing.T) {
	all := sources(rapid.Int64Range(1, 1<<40))
	rapid.Check(t, func(t *rapid.T) {
		s := all.Draw(t, "source")
		d, err := Decode(s.record.ID, NewDocument(s.record, s.passages, slices.Clone(s.marks)...).Encoded())
		if err != nil {
			t.Fatal(err)
		}
		if d.Record != s.record.ID || d.Key != s.record.Key || d.Title != s.record.Title ||
			d.Len() != len(s.passages) ||
			d.Attributes != AttributesOf(s.record) || d.Stub != (len(s.record.Tags) > 0 || s.record.Kind == catalog.KindPost) ||
			d.Secondary != (len(s.record.Tags) > 0) {
			t.Fatalf("read as %+v of %+v", d, s.record)
		}
		if post := s.record.Kind == catalog.KindPost; post != (d.Thread != 0) || post && d.Thread != s.record.Parent {
			t.Fatalf("read as of thread %d of %+v", d.Thread, s.record)
		}
		var bodies []analysis.TermID
		var lengths [analysis.NumFields]int
		for o, p := range s.passages {
			for f := range analysis.Field(analysis.NumFields) {
				want, got := p.Field(f), d.Terms(o).Field(f)
				if got.Len() != want.Len() {
					t.Fatalf("passage %d, %s: %d terms, want %d", o, f, got.Len(), want.Len())
				}
				for i := range want.Len() {
					if got.ID(i) != want.ID(i) || got.Position(i) != want.Position(i) {
						t.Fatalf("passage %d, %s, term %d: %d at %d, want %d at %d", o, f, i, got.ID(i),
							got.Position(i),
							want.ID(i), want.Position(i))
					}
					if f == analysis.Body {
						bodies = append(bodies, want.ID(i))
					}
				}
				if o == 0 || f == analysis.Heading || f == analysis.Body {
					lengths[f] += want.Len()
				}
			}
		}
		if d.Signature() != dedup.Sign(bodies) {
			t.Fatal("another signature")
		}
		for f := range analysis.Field(analysis.NumFields) {
			if d.Length(f) != lengths[f] {
				t.Fatalf("%s is %d terms long, want %d", f, d.Length(f), lengths[f])
			}
		}
		tally := s.tally()
		for term, want := range tally {
			if k := d.find(term); k < 0 || d.detail(k) != want || d.Frequencies(term) != want.fields {
				t.Fatalf("term %d: %+v, want %+v", term, d.detail(max(k, 0)), want)
			}
		}
		if d.terms != len(tally) {
			t.Fatalf("%d terms, want %d", d.terms, len(tally))
		}
		other := analysis.TermID(rapid.Uint32().Draw(t, "other"))
		if _, ok := tally[other]; !ok && d.Frequencies(other) != [analysis.NumFields]uint16{} {
			t.Fatal("a term that the document does not hold")
		}
		for term := range analysis.TermID(5) {
			want := -1
			if at := slices.IndexFunc(s.marks, func(m Mark) bool { return m.Term == term && !m.Option }); at >= 0 {
				want = s.marks[at].Passage
			}
			if got := d.Headed(term); got != want {
				t.Fatalf("term %d heads passage %d, want %d", term, got, want)
			}
		}
		if unmarked := d.raw[0] == formatUnmarked; unmarked != (len(s.marks) == 0) {
			t.Fatalf("format %d for %d marks", d.raw[0], len(s.marks))
		}
		for _, own := range ownTerms(s.record) {
			if !d.Owns(own) {
				t.Fatalf("it does not own %d", own)
			}
		}
		if a, b := d.TitleSimilarity(NewTrigramSet(s.record.Title)), 1.0; len(Trigrams(s.record.Title)) > 0 && a != b {
			t.Fatalf("the title is like itself by %v", a)
		}
	})
}

// TestPositionsGoOneByOne holds what the encoding of steps relies on.
func TestPositionsGoOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("ab1 .-_/:@#'日é")))).Draw(t, "text")
		last := 0
		for _, token := range analysis.Analyze(text) {
			if token.Position != last && token.Position != last+1 {
				t.Fatalf("%q: position %d after %d", text, token.Position, last)
			}
			last = token.Position
		}
	})
}

// TestFindSkipsWhatIsNotWanted uses one Wanted for several documents.
func TestFindSkipsWhatIsNotWanted(t *testing.T) {
	all := sources(rapid.Int64Range(1, 9))
	rapid.Check(t, func(t *rapid.T) {
		var w Wanted
		for range 2 {
			s := all.Draw(t, "source")
			d := NewDocument(s.record, s.passages)
			terms := rapid.SliceOfN(rapid.SampledFrom([]string{"key", "rotat", "cip56", "multi", "ledger", "none"}), 0,
				4).Draw(t, "terms")
			var wanted []analysis.TermID
			for _, term := range terms {
				wanted = append(wanted, analysis.IDOf(term))
			}
			d.Want(wanted, &w)
			for o := range d.Len() {
				for f := range analysis.Field(analysis.NumFields) {
					text := d.Terms(o).Field(f)
					at, which := text.Find(0, &w)
					for i := range text.Len() {
						if is := slices.Contains(wanted, text.ID(i)); is != (i == at) {
							t.Fatalf("passage %d, %s, term %d of %d is wanted: %v, found is %d", o, f, i, text.Len(),
								is, at)
						}
						if i == at {
							if wanted[which] != text.ID(i) {
								t.Fatalf("term %d is found as another", i)
							}
							at, which = text.Find(i+1, &w)
						}
					}
					if at != text.Len() || which != -1 {
						t.Fatalf("found %d of %d", at, text.Len())
					}
				}
			}
		}
	})
}

func TestManyOccurrencesAreCountedUpTo65535(t *testing.T) {
	tokens := slices.Repeat([]analysis.Token{{Term: "key"}}, math.MaxUint16+9)
	terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{analysis.Body: tokens}))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDocument(catalog.Record{ID: 1}, []analysis.Packed{terms})
	if n := d.Frequencies(analysis.IDOf("key"))[analysis.Body]; n != math.MaxUint16 {
		t.Errorf("%d occurrences", n)
	}
}

func TestDamagedDocumentsAreAnError(t *testing.T) {
	terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
		analysis.Title: analysis.Analyze("a title"), analysis.Body: analysis.Analyze("the body of it")}))
	if err != nil {
		t.Fatal(err)
	}
	good := NewDocument(catalog.Record{ID: 1, Title: "a title"}, []analysis.Packed{terms}, Mark{Term: 5}).Encoded()
	for n := range len(good) {
		if _, err := Decode(1, good[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		b := []byte(good)
		b[n] ^= 4
		if _, err := Decode(1, string(b)); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d changed: %v", n, err)
		}
	}
}

// FuzzDecode gives bytes a good checksum: what is wrong with them is found, or
// does no harm.
func FuzzDecode(f *testing.F) {
	terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
		analysis.Title: analysis.Analyze("a title"), analysis.Heading: analysis.Analyze("keys"),
		analysis.Body: analysis.Analyze("the keys of CIP-56")}))
	if err != nil {
		f.Fatal(err)
	}
	for n := range 3 {
		d := NewDocument(catalog.Record{ID: 1, Key: "k", Title: "a title"}, slices.Repeat([]analysis.Packed{terms}, n),
			slices.Repeat([]Mark{{Term: 5}}, n)...)
		f.Add([]byte(d.raw[:len(d.raw)-crc32.Size]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
		d, err := Decode(1, string(b))
		if err != nil {
			return
		}
		for o := range d.Len() {
			for field := range analysis.Field(analysis.NumFields) {
				terms := d.Terms(o).Field(field)
				for i := range terms.Len() {
					d.Frequencies(terms.ID(i))
					terms.Position(i)
				}
			}
		}
		d.Owns(1)
		if o := d.Headed(5); o >= d.Len() {
			t.Fatalf("a heading in passage %d of %d", o, d.Len())
		}
		d.TitleSimilarity(NewTrigramSet("a title"))
		d.Signature()
		New(d).Statistics([]analysis.TermID{1})
	})
}

// TestWhatSaysLittle: marks that a document carries of its record.
func TestWhatSaysLittle(t *testing.T) {
	for _, c := range []struct {
		record     catalog.Record
		stub, over bool
	}{
		{record: catalog.Record{Kind: catalog.KindMailMessage, Body: "+1"}, stub: true},
		{record: catalog.Record{Kind: catalog.KindPost, Body: "> Two thirds of all boats are too many.\n\nI agree."},
			stub: true},
		{record: catalog.Record{Kind: catalog.KindComment, Body: "2.5.1 prunes through the whole year."}},
		{record: catalog.Record{Kind: catalog.KindPost, Body: "我同意这个提案的内容。"}},
		{record: catalog.Record{Kind: catalog.KindMailThread, Body: "+1"}},
		{record: catalog.Record{Kind: catalog.KindDoc, Body: "Short."}},
		{record: catalog.Record{Kind: catalog.KindDoc, Body: "Short.", Tags: []string{catalog.TagStub}}, stub: true},
		{record: catalog.Record{Kind: catalog.KindProject, State: catalog.ProjectRetired}, over: true},
		{record: catalog.Record{Kind: catalog.KindProject, State: "live"}},
		{record: catalog.Record{Kind: catalog.KindPackageVersion, State: catalog.VersionDeprecated}, over: true},
		{record: catalog.Record{Kind: catalog.KindDoc, State: catalog.ProjectRetired}},
	} {
		if d := NewDocument(c.record, nil); d.Stub != c.stub || d.Over != c.over {
			t.Errorf("%s %q %q: stub %v, over %v", c.record.Kind, c.record.State, c.record.Body, d.Stub, d.Over)
		}
	}
}
