package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/testing/networktest"
)

// TestNetworksByTheirFileAlone serves networks of other prefixes, paddings and
// status words, read by the real connectors.
func TestNetworksByTheirFileAlone(t *testing.T) {
	for _, tt := range []struct {
		name      string
		make      func(testing.TB) (network.Network, string)
		questions []question
	}{
		{"EIP", networktest.EIP, []question{
			{name: "a proposal", target: "/api/v1/cips/EIP-1559", tool: "get_cip", args: `{"id":"EIP-1559"}`,
				want: fields{
					"id": "1559", "label": "EIP-1559", "status": "Final", "status_raw": "Final",
					"type": "Standards Track", "category": "Core",
				}},
			{name: "spellings", target: "/api/v1/cips/1559", tool: "get_cip", args: `{"id":"eip 1559"}`,
				want: fields{"label": "EIP-1559"}},
			{name: "the API's own word", target: "/api/v1/cips/CIP-1559", tool: "get_cip", args: `{"id":"CIP-1559"}`,
				want: fields{"label": "EIP-1559"}},
			{name: "five digits", target: "/api/v1/cips/20000", tool: "get_cip", args: `{"id":20000}`,
				want: fields{"id": "20000"}},
			{name: "no padding", target: "/api/v1/cips/1", tool: "get_cip", args: `{"id":"EIP-1"}`,
				want: fields{"id": "1", "label": "EIP-1"}},
			{name: "the network's own status", target: "/api/v1/cips?status=Living", tool: "list_cips",
				args: `{"status":"Living"}`, want: fields{
					"items.0.status": "Final", "items.0.status_raw": "Living",
				}},
			{name: "the network's own status among all records", target: "/api/v1/records?kind=cip&state=living",
				want: fields{"items.#": 1, "items.0.state": "Final", "items.0.status_raw": "Living"}},
			{name: "one of the six among all records", target: "/api/v1/records?kind=cip&state=final",
				want: fields{"total": 3}},
			{name: "a status of two words", target: "/api/v1/cips?status=last+call", tool: "list_cips",
				args: `{"status":"Last Call"}`,
				want: fields{"items.*.id": "4844", "items.0.status": "Review", "items.0.status_raw": "Last Call"}},
			{name: "a category", target: "/api/v1/cips?type=core", tool: "list_cips", args: `{"type":"Core"}`,
				want: fields{"items.0.id": "1559"}},
			{name: "no such status", target: "/api/v1/cips?status=Idea", tool: "list_cips", args: `{"status":"Idea"}`,
				status: 400, message: "Superseded, Last Call, Living, Stagnant"},
			{name: "not an id", target: "/api/v1/cips/LIP-1", tool: "get_cip", args: `{"id":"LIP-1"}`, status: 400,
				message: "it takes EIP-56, 56, 56, or PR-203"},
		}},
		{"LIP", networktest.LIP, []question{
			{name: "a proposal", target: "/api/v1/cips/LIP-12", tool: "get_cip", args: `{"id":"lip 012"}`, want: fields{
				"id": "012", "label": "LIP-012", "status": "Review", "status_raw": "Candidate",
			}},
			{name: "the network's own status", target: "/api/v1/cips?status=parked", tool: "list_cips",
				args: `{"status":"Parked"}`, want: fields{"items.*.id": "020"}},
			{name: "a status that only a record has", target: "/api/v1/cips?status=Closed", tool: "list_cips",
				args: `{"status":"closed"}`, want: fields{"items.*.id": "PR-11", "items.0.status_raw": "closed"}},
			{name: "one of the six", target: "/api/v1/cips?status=Final", tool: "list_cips", args: `{"status":"final"}`,
				want: fields{"items.*.id": "003,007"}},
			{name: "a chain", tool: "detect_cip_dependency_chain", args: `{"cip_id":"LIP-10012"}`,
				want: fields{"prerequisites.*.id": "003,012,007"}},
			{name: "grants", target: "/api/v1/proposals?state=all", tool: "get_proposals", args: `{"state":"all"}`},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, file := tt.make(t)
			l := serve(t, n, time.Now, func(store *sqlstore.Store) { networktest.Fill(t, store, file) }).ready(t)
			for _, q := range tt.questions {
				t.Run(q.name, func(t *testing.T) { l.ask(t, q, coverage{}) })
			}
			l.walk(t)
			l.speaks(t, n)
			l.prefixes(t, n)
		})
	}
}

// foreignWords are those of other networks: of the program's presets and of the words
// that the service has for statuses.
var foreignWords = regexp.MustCompile(`(?i)canton|causeway|splice|daml|\bCIP\b|\bCIP-\d`)

// speaks holds that pages have the network's words alone, and its statuses as it
// spells them.
func (l *library) speaks(t *testing.T, n network.Network) {
	t.Helper()
	markup := regexp.MustCompile(`(?s)<head>.*?</head>|<(?:script|style|pre)\b.*?</(?:script|style|pre)>|<[^>]*>`)
	for _, page := range []string{"/", "/cips", "/docs", "/discussions", "/changes", "/deadlines", "/network", "/status",
		"/?q=a", "/" + strings.TrimPrefix(l.base.PageURL(l.first(t)), publicURL+"/")} {
		w := visit(l.public, page)
		text := markup.ReplaceAllString(w.Body.String(), " ")
		if word := foreignWords.FindString(text); word != "" || w.Code != http.StatusOK {
			t.Errorf("%s: %d, says %q", page, w.Code, word)
		}
		if page != "/cips" {
			continue
		}
		for _, own := range n.Proposals.Statuses {
			if !strings.Contains(w.Body.String(), ">"+own+"</a>") {
				t.Errorf("the list cannot be filtered by %s", own)
			}
		}
		for _, word := range network.Statuses {
			if !slices.Contains(n.Proposals.Statuses, word) && strings.Contains(text, word) {
				t.Errorf("the list says %s, which the network does not", word)
			}
		}
	}
}

// prefixes holds that proposals are where their prefix says, and that pages name them
// with it.
func (l *library) prefixes(t *testing.T, n network.Network) {
	t.Helper()
	own := "/" + strings.ToLower(n.Proposals.Prefix) + "s"
	for _, rest := range []string{"", "/" + n.Proposals.ID(l.first(t).Key)} {
		w := visit(l.public, own+rest)
		if to := w.Header().Get("Location"); w.Code != http.StatusMovedPermanently || !strings.HasSuffix(to, "/cips"+rest) {
			t.Errorf("%s%s: %d, leads to %q", own, rest, w.Code, to)
		}
	}
	if body := visit(l.public, "/cips").Body.String(); strings.Contains(body, "needs ") &&
		!strings.Contains(body, "needs "+n.Proposals.Prefix+"-") {
		t.Error("the list names what a proposal needs without its prefix")
	}
}

// first is a proposal.
func (l *library) first(t *testing.T) catalog.Record {
	t.Helper()
	records, _, err := l.store.List(t.Context(), catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP}, Limit: 1})
	if err != nil || len(records) == 0 {
		t.Fatal(err)
	}
	return records[0]
}

// walk calls every operation that needs no argument, and those about a proposal
// about each of them; answers are what the network's own schemas say.
func (l *library) walk(t *testing.T) {
	proposals, _, err := l.store.List(t.Context(), catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP}})
	if err != nil || len(proposals) == 0 {
		t.Fatal(len(proposals), err)
	}
	for _, o := range l.ops {
		if text, _ := json.Marshal([]any{o.In, o.Out, o.ToolIn, o.Text()}); o.Tool != "" &&
			bytes.Contains(text, []byte("{{")) {
			t.Errorf("%s has a placeholder left: %s", o.ID, text)
		}
		q := question{tool: o.Tool}
		if o.Method == "GET" && o.Path != "/calendar" && o.ID != "get_reference" {
			q.target = o.Path
		}
		switch required := strings.Join(o.ToolIn.Required, ","); {
		case !strings.Contains(o.Path, "{") && len(o.In.Required) == 0 && required == "":
			if o.ID == "get_stats" { // made by the pipeline, which does not run here
				q.status = http.StatusServiceUnavailable
			}
			l.ask(t, q, coverage{})
		case o.Group == "cips" && required != "tracking_cid" && required != "window_days" &&
			(required != "" || strings.Contains(o.Path, "{id}")):
			for _, r := range proposals {
				about := q
				about.target = strings.Replace(q.target, "{id}", r.Key, 1)
				about.args = `{"` + required + `":"` + r.Key + `"}`
				l.ask(t, about, coverage{})
			}
		}
	}
}
