package remote

import (
	"regexp"

	"almanac/embed"
)

// prefixes are those that a model was trained with.
type prefixes struct {
	query, document string
}

func (p prefixes) of(purpose embed.Purpose) string {
	if purpose == embed.Query {
		return p.query
	}
	return p.document
}

// families are the models whose prefixes are known, from their model cards; the first match counts.
var families = []struct {
	name     *regexp.Regexp // in any spelling of case
	prefixes prefixes
}{
	// nomic-ai/nomic-embed-text-v1, -v1.5, -v2-moe: "task instruction prefix".
	{family(`nomic-embed-text`), prefixes{"search_query: ", "search_document: "}},
	// intfloat/multilingual-e5-large-instruct: an instruction on queries only.
	{family(`e5-[a-z0-9.-]*instruct`), prefixes{"Instruct: " + webSearch + "\nQuery: ", ""}},
	// intfloat/e5-*-v2, intfloat/multilingual-e5-*: "each input text should
	// start with …".
	{family(`e5`), prefixes{"query: ", "passage: "}},
	// BAAI/bge-{small,base,large}-en, -en-v1.5: an instruction on queries only.
	// A name without a language is the English model in Ollama's library.
	{family(`bge-(small|base|large)(-en.*|:.*)?$`), prefixes{representForSearch, ""}},
	// google/embeddinggemma-300m: retrieval prompts, documents without title
	// (ours is part of the passage).
	{family(`embeddinggemma`), prefixes{"task: search result | query: ", "title: none | text: "}},
	// mixedbread-ai/mxbai-embed-large-v1: a prompt on queries only.
	{family(`mxbai-embed-large`), prefixes{representForSearch, ""}},
	// Snowflake/snowflake-arctic-embed-{l,m}-v2.0: a prefix on queries only.
	{family(`snowflake-arctic-embed(2|-[lm]-v2)`), prefixes{"query: ", ""}},
	// Qwen/Qwen3-Embedding-*: an instruction on queries only, without a trailing space.
	{family(`qwen3-embedding`), prefixes{"Instruct: " + webSearch + "\nQuery:", ""}},
}

const (
	webSearch          = "Given a web search query, retrieve relevant passages that answer the query"
	representForSearch = "Represent this sentence for searching relevant passages: "
)

// family matches a model's name after any owner ("BAAI/bge-m3") and before any
// size, version or tag ("bge-m3:567m").
func family(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[/_-])(` + name + `)($|[:@._-])`)
}

// prefixesFor returns the prefixes of a model by its name; none of an unknown family.
func prefixesFor(model string) prefixes {
	for _, f := range families {
		if f.name.MatchString(model) {
			return f.prefixes
		}
	}
	return prefixes{}
}
