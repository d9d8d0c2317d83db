package ranking

// Feature is one signal.
type Feature int

// The signals. Every one is computed for every candidate.
const (
	DocumentBM25    Feature = iota // whole document, one field
	PassageBM25                    // the best passage, with title and heading path
	Dense                          // cosine of the best passage
	TitleBM25                      // title and path
	Coverage                       // share of the query's IDF found in the document
	PassageCoverage                // share found in the best passage
	TitleTrigrams                  // Dice coefficient of character trigrams
	Bigrams                        // share of the query's neighbouring words that are adjacent
	Window                         // share of IDF inside the best eight-word window
	TitlePhrase                    // share of IDF in the longest run of the query in the title, times its share of that
	Identifier                     // share of the query's IDF in identifiers that are the document's own
	HeadingExact                   // share of the typed words' IDF in names that are headings here and no record's own
	Recency                        // age against the newest document, halved every year
	Authority                      // prior of source and kind
	Length                         // logarithm of the document's length
	Stub                           // 1 for a page or message with hardly any content, or a test
	NumFeatures     int     = iota
)

var names = [NumFeatures]string{"document_bm25", "passage_bm25", "dense", "title_bm25", "coverage",
	"passage_coverage", "title_trigrams", "bigrams", "window", "title_phrase", "identifier", "heading_exact",
	"recency", "authority", "length", "stub"}

func (f Feature) String() string { return names[f] }

// FeatureNamed returns the feature with the name.
func FeatureNamed(name string) (Feature, bool) {
	for i, n := range names {
		if n == name {
			return Feature(i), true
		}
	}
	return 0, false
}

// Vector holds one value per feature.
type Vector [NumFeatures]float64
