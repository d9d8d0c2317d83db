package forge_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) {
	_ = os.Setenv("CAUSEWAY_FORGE_TOKEN", token)
	goleak.VerifyTestMain(m)
}

// object is a JSON object as the forge sends it.
type object = map[string]any

// project is one repository of the hub.
type project struct {
	Repo     object              `json:"repo"`
	Readme   object              `json:"readme"`
	Issues   []object            `json:"issues"`
	Comments []object            `json:"comments"`
	Reviews  []object            `json:"reviews"`
	Releases []object            `json:"releases"`
	Tree     object              `json:"tree"`
	Pulls    []object            `json:"pulls"`
	Files    map[string][]object `json:"files"`

	Discussions []object          `json:"discussions"`
	Details     map[string]object `json:"details"`
}

// hub is a forge that serves fixtures as the real one does: pages with Link
// headers, since, ETags, rate limits.
type hub struct {
	mu       sync.Mutex // guards all below
	projects map[string]*project
	blobs    map[string]string
	board    object
	size     int               // most items on a page
	left     int               // requests left; negative: no limit
	reset    time.Time         //
	before   func(path string) // called before each response, unlocked
}

// token is the only one that the hub accepts.
const token = "ghp_notARealToken0123456789"

func read(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newHub(t testing.TB) *hub {
	node := &project{}
	for name, into := range map[string]any{
		"repo": &node.Repo, "readme": &node.Readme, "issues": &node.Issues, "comments": &node.Comments,
		"reviews":  &node.Reviews,
		"releases": &node.Releases, "discussions": &node.Discussions, "details": &node.Details,
	} {
		read(t, "node-"+name, into)
	}
	proposals, grants := &project{}, &project{}
	read(t, "proposals", proposals)
	read(t, "grants", grants)
	h := &hub{projects: map[string]*project{"causeway/node": node, "causeway/proposals": proposals,
		"causeway/grants": grants}, size: 2, left: -1}
	read(t, "blobs", &h.blobs)
	read(t, "board", &h.board)
	return h
}

// change edits the hub.
func (h *hub) change(edit func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	edit()
}

var restPath = regexp.MustCompile(`^/repos/([^/]+/[^/]+)(/.*)?$`)

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.before != nil {
		h.before(r.URL.Path)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-GitHub-Media-Type", "github.v3; format=json")
	authorized := r.Header.Get("Authorization") == "Bearer "+token
	if a := r.Header.Get("Authorization"); a != "" && !authorized {
		fail(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	var answer any
	switch m := restPath.FindStringSubmatch(r.URL.EscapedPath()); {
	case r.Method == http.MethodPost && r.URL.Path == "/graphql":
		if !authorized {
			fail(w, http.StatusForbidden, "This endpoint requires you to be authenticated.")
			return
		}
		answer = h.graphql(r)
	case m != nil && h.projects[m[1]] != nil:
		answer = h.rest(w, r, h.projects[m[1]], m[2])
	}
	if answer == nil {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	body, _ := json.Marshal(answer)
	sum := sha256.Sum256(body)
	etag := `W/"` + hex.EncodeToString(sum[:]) + `"`
	same := r.Method == http.MethodGet && r.Header.Get("If-None-Match") == etag
	if !h.spend(w, same && authorized) {
		return
	}
	if r.Method == http.MethodGet {
		w.Header().Set("ETag", etag)
	}
	if same {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(body)
}

// spend counts a request against the rate limit.
func (h *hub) spend(w http.ResponseWriter, free bool) bool {
	if h.left < 0 {
		return true
	}
	w.Header().Set("X-RateLimit-Limit", "60")
	w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(h.reset.Unix(), 10))
	if h.left == 0 && !free {
		w.Header().Set("X-RateLimit-Remaining", "0")
		fail(w, http.StatusForbidden, "API rate limit exceeded for 192.0.2.7.")
		return false
	}
	if !free {
		h.left--
	}
	w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(h.left))
	return true
}

func fail(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"message":%q,"documentation_url":"https://docs.forge.example.org/rest","status":"%d"}`,
		message, status)
}

func (h *hub) rest(w http.ResponseWriter, r *http.Request, p *project, path string) any {
	switch {
	case path == "":
		return p.Repo
	case path == "/readme" && p.Readme != nil:
		return p.Readme
	case path == "/issues":
		return h.page(w, r, p.Issues)
	case path == "/issues/comments":
		return h.page(w, r, p.Comments)
	case path == "/pulls/comments":
		return h.page(w, r, p.Reviews)
	case path == "/releases":
		return h.page(w, r, p.Releases)
	case path == "/pulls":
		return h.page(w, r, p.Pulls)
	case strings.HasPrefix(path, "/git/trees/main"):
		return p.Tree
	case strings.HasPrefix(path, "/git/blobs/"):
		sha := strings.TrimPrefix(path, "/git/blobs/")
		text, ok := h.blobs[sha]
		if !ok {
			return nil
		}
		return object{"sha": sha, "size": len(text), "encoding": "base64",
			"content": base64.StdEncoding.EncodeToString([]byte(text)) + "\n"}
	case strings.HasPrefix(path, "/pulls/") && strings.HasSuffix(path, "/files"):
		return h.page(w, r, p.Files[strings.Split(path, "/")[2]])
	}
	return nil
}

// page returns the page of a list that the query requests.
func (h *hub) page(w http.ResponseWriter, r *http.Request, items []object) any {
	q := r.URL.Query()
	field := map[string]string{"updated": "updated_at", "created": "created_at"}[q.Get("sort")]
	items = slices.Clone(items)
	if field != "" {
		slices.SortStableFunc(items, func(a, b object) int {
			return cmp.Compare(fmt.Sprint(a[field]),
				fmt.Sprint(b[field]))
		})
		if q.Get("direction") != "asc" {
			slices.Reverse(items)
		}
	}
	items = slices.DeleteFunc(items, func(i object) bool {
		return fmt.Sprint(i["updated_at"]) < q.Get("since") &&
			i["updated_at"] != nil
	})
	size, _ := strconv.Atoi(q.Get("per_page"))
	size = min(max(size, 1), h.size)
	number, _ := strconv.Atoi(q.Get("page"))
	start := min((max(number, 1)-1)*size, len(items))
	end := min(start+size, len(items))
	if end < len(items) {
		q.Set("page", strconv.Itoa(max(number, 1)+1))
		w.Header().Set("Link", fmt.Sprintf(
			`<https://api.forge.example.org/repositories/1/x?%s>; rel="next", <https://api.forge.example.org/x?page=9>; rel="last"`, q.Encode()))
	}
	return append([]object{}, items[start:end]...)
}

var askedPull = regexp.MustCompile(`p(\d+): pullRequest\(number: (\d+)\)`)

func (h *hub) graphql(r *http.Request) any {
	var in struct {
		Query     string `json:"query"`
		Variables object `json:"variables"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		return nil
	}
	name := fmt.Sprintf("%v/%v", in.Variables["owner"], in.Variables["name"])
	p := h.projects[name]
	repository := func(o object) any { return object{"data": object{"repository": o}} }
	switch {
	case strings.Contains(in.Query, "projectV2("):
		if in.Variables["owner"] != h.board["owner"] || in.Variables["number"] != h.board["number"] {
			return object{"data": object{"repositoryOwner": object{"projectV2": nil}},
				"errors": []object{{"type": "NOT_FOUND", "path": []string{"repositoryOwner", "projectV2"},
					"message": "Could not resolve to a ProjectV2 with the number 99."}}}
		}
		items, info := h.connection(h.board["items"].([]any), in.Variables)
		return object{"data": object{"repositoryOwner": object{"projectV2": object{"items": object{"pageInfo": info,
			"nodes": items}}}}}
	case p == nil:
		return object{"data": object{"repository": nil},
			"errors": []object{{"type": "NOT_FOUND", "path": []string{"repository"},
				"message": "Could not resolve to a Repository with the name '" + name + "'."}}}
	case strings.Contains(in.Query, "discussions("):
		all := slices.Clone(p.Discussions)
		slices.SortStableFunc(all, func(a, b object) int {
			return cmp.Compare(b["updatedAt"].(string),
				a["updatedAt"].(string))
		})
		nodes := make([]any, len(all))
		for i, d := range all {
			nodes[i] = d
		}
		nodes, info := h.connection(nodes, in.Variables)
		return repository(object{"discussions": object{"pageInfo": info, "nodes": nodes}})
	case strings.Contains(in.Query, "totalCount"):
		pulls := 0
		for _, i := range p.Issues {
			if i["pull_request"] != nil {
				pulls++
			}
		}
		return repository(object{"issues": object{"totalCount": len(p.Issues) - pulls},
			"pullRequests": object{"totalCount": pulls}})
	}
	out, errs := object{}, []object{}
	for _, m := range askedPull.FindAllStringSubmatch(in.Query, -1) {
		d, ok := p.Details[m[2]]
		out["p"+m[1]] = d
		if !ok {
			out["p"+m[1]] = nil
			errs = append(errs, object{"type": "NOT_FOUND", "path": []string{"repository", "p" + m[1]},
				"message": "Could not resolve to a PullRequest with the number of " + m[2] + "."})
		}
	}
	answer := object{"data": object{"repository": out}}
	if len(errs) > 0 {
		answer["errors"] = errs
	}
	return answer
}

func (h *hub) connection(nodes []any, variables object) ([]any, object) {
	start := 0
	if after, ok := variables["after"].(string); ok {
		start, _ = strconv.Atoi(strings.TrimPrefix(after, "Y3Vyc29y"))
	}
	end := min(start+h.size, len(nodes))
	return nodes[start:end], object{"hasNextPage": end < len(nodes), "endCursor": "Y3Vyc29y" + strconv.Itoa(end)}
}

// serve starts a hub.
func serve(t testing.TB, h *hub) *connectortest.Server { return connectortest.NewServer(t, h) }
