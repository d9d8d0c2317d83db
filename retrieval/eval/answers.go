package eval

import (
	"context"
	"slices"

	"almanac/retrieval"
	"almanac/retrieval/passage"
)

// Answers is the cost for a client that reads results from the top until it has
// the answer: tokens of title, heading path, snippet and whole best passage of
// each result, up to and including the first relevant one, or of all ten if
// none is.
type Answers struct {
	MedianTokens int     `json:"median_tokens"`
	P90Tokens    int     `json:"p90_tokens"`
	Never        float64 `json:"never"` // share of queries without an answer among ten results
}

// AnswerOptions configure the reading.
type AnswerOptions struct {
	// Tokens returns the number of tokens of a text.
	Tokens func(text string) int
	// Texts returns the texts of passages, in the order of ids.
	Texts func(ctx context.Context, ids []passage.ID) ([]string, error)
}

// reading is the cost of one query.
type reading struct {
	tokens  int
	reached bool
}

func (o AnswerOptions) read(ctx context.Context, results []retrieval.Result, names map[int64]string,
	judgments map[string]int, relevantFrom int) (*reading, error) {
	ids := make([]passage.ID, len(results))
	for i, r := range results {
		ids[i] = r.Passage
	}
	texts, err := o.Texts(ctx, ids)
	if err != nil {
		return nil, err
	}
	got := &reading{}
	for i, r := range results {
		for _, text := range []string{r.Title, r.Heading, r.Snippet, texts[i]} {
			got.tokens += o.Tokens(text)
		}
		if grade, ok := judgments[names[r.Record]]; ok && grade >= relevantFrom {
			got.reached = true
			break
		}
	}
	return got, nil
}

// answers summarises the readings of queries that were measured; nil if there are
// none.
func answers(of []QueryReport) *Answers {
	var tokens []float64
	never := 0
	for _, x := range of {
		if x.Failure != "" {
			continue
		}
		if x.reading == nil {
			return nil
		}
		tokens = append(tokens, float64(x.reading.tokens))
		if !x.reading.reached {
			never++
		}
	}
	slices.Sort(tokens)
	return &Answers{int(percentile(tokens, 0.5)), int(percentile(tokens, 0.9)),
		float64(never) / float64(max(1, len(tokens)))}
}
