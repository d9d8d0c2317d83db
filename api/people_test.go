package api_test

import (
	"testing"

	"almanac/catalog"
)

// peopleQuestions are the questions about people, projects and what sources
// say, on the records that all tests share.
func peopleQuestions(t *testing.T, l *library) []question {
	topic := l.id(t, catalog.KindTopic, "1234")
	return []question{
		{name: "no code", tool: "find_code_examples", args: `{"topic":"tide oracle"}`,
			want: fields{"items.#": 0, "total": 0}},
		{name: "an open question is not an open issue", tool: "find_known_issues",
			args: `{"description":"gauge reads zero","limit":2}`,
			want: fields{"sources.*.source": "forum,forge", "sources.0.total": 0}},
		{name: "guidance", tool: "find_maintainer_guidance", args: `{"topic":"tide oracle"}`,
			want: fields{"maintainers": 1, "items.0.author": "bo", "items.0.share": 0}},
		{name: "experts", tool: "find_expert", args: `{"topic":"gauge"}`,
			want: fields{"items.*.name": "bo", "items.0.score": 1, "items.0.pulls": 1}},
		{name: "a project alone", tool: "find_collaboration_opportunities", args: `{"project":"ferryline"}`,
			want: fields{"project.title": "Ferryline", "items.#": 0,
				"hint": "it names nothing that it seeks, and no project seeks what it is: try find_similar_projects"}},
		{name: "an unknown project", tool: "find_collaboration_opportunities",
			args: `{"project":"ferry tickets company"}`, status: 404,
			message: `there is no project "ferry tickets company": the nearest are "Ferryline"`},
		{name: "no consensus", tool: "community_consensus", args: `{"topic":"seagulls"}`,
			want: fields{"verdict": "none", "votes": nil, "evidence.#": 0}},
		{name: "formal votes on a topic", tool: "community_consensus", args: `{"topic":"oracle questions"}`,
			want: fields{"votes.in_favour": 1, "votes.against": 0, "votes.abstained": 1,
				"evidence.0.title": "Oracle questions"}},
		{name: "no drift", tool: "detect_drift", args: `{"topic":"berths"}`,
			want: fields{"total": 0, "compared.*.source": "docs,forum,forge"}},
		{name: "the foundation", tool: "get_foundation_info", args: `{"topic":"lights"}`,
			want: fields{"items.*.title": "About the foundation"}},
		{name: "topics", target: "/api/v1/discussions",
			want: fields{"items.*.id": topic, "items.0.source": "forum", "items.0.page": publicURL +
				"/discussions/1234", "total": 1, "limit": 20, "offset": 0}},
		{name: "threads of a source", target: "/api/v1/discussions?source=FORGE",
			want: fields{"items.*.title": "Which gauge?", "items.0.source": "forge", "items.0.page": publicURL +
				"/forge-discussions/D_kw1"}},
		{name: "mail threads", target: "/api/v1/discussions?source=mail",
			want: fields{"items.*.kind": "mail_thread", "items.0.source": "mail"}},
		{name: "topics of no category", target: "/api/v1/discussions?category=birds", want: fields{"total": 0}},
		{name: "a search of one source", target: "/api/v1/discussions?q=gauge&source=forge",
			want: fields{"items.0.title": "Which gauge?", "items.*.source": "forge,forge"}},
		{name: "a page past the end of discussions", target: "/api/v1/discussions?offset=9",
			want: fields{"items.#": 0, "hint": "there are 1 in all: the offset is past the end"}},
	}
}
