// Package meilitest is a fake Meilisearch server for tests: as much of its API
// as package meili uses, in memory, with faults that are hard to provoke in a
// real server.
//
// It ranks by words alone, as an index of package meili does: a search requires
// its first word and scores more for each following one that matches too. Its
// tokenizer splits at white space, which is enough for our spelling of terms.
package meilitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Server is a fake that listens on loopback.
type Server struct {
	URL string

	mu      sync.Mutex // guards everything below
	key     string
	full    bool
	indexes map[string]*index
	tasks   map[int]task
	last    int // number of the newest task
	holding bool
	held    []func() // tasks to do
}

// index is an index of a server.
type index struct {
	documents map[string]document
	order     []string // ids in insertion order
	settings  map[string]any
}

type document map[string]any

// task is work that the server has done or failed to do.
type task struct {
	UID    int      `json:"uid"`
	Status string   `json:"status"`
	Error  *refusal `json:"error"`
}

// refusal is an error of the server.
type refusal struct {
	status  int
	Message string `json:"message"`
	Code    string `json:"code"`
	Type    string `json:"type"`
}

func (r *refusal) Error() string { return r.Message }

func refuse(status int, code, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...), code, "invalid_request"}
}

// Start starts a server without indexes; it stops when tb ends.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := New()
	server := httptest.NewServer(s.Handler())
	tb.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// New returns a server without indexes that does not listen.
func New() *Server { return &Server{indexes: map[string]*index{}, tasks: map[int]task{}} }

// do runs f between two requests.
func (s *Server) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// RequireKey makes the server require an API key.
func (s *Server) RequireKey(key string) { s.do(func() { s.key = key }) }

// Empty simulates a restart with an empty disk: indexes and tasks are gone.
func (s *Server) Empty() {
	s.do(func() {
		clear(s.indexes)
		clear(s.tasks)
	})
}

// Full makes writes fail as on a full disk, or work again.
func (s *Server) Full(on bool) { s.do(func() { s.full = on }) }

// Hold makes tasks wait, as behind one that takes long, or does them.
func (s *Server) Hold(on bool) {
	s.do(func() {
		s.holding = on
		for ; !on && len(s.held) > 0; s.held = s.held[1:] {
			s.held[0]()
		}
	})
}

// each runs f on every index.
func (s *Server) each(f func(*index)) {
	s.do(func() {
		for _, x := range s.indexes {
			f(x)
		}
	})
}

// Lose removes the documents with an id from every index.
func (s *Server) Lose(id string) {
	s.each(func(x *index) { x.remove(func(d document) bool { return d[primaryKey] == id }) })
}

// ChangeSettings changes the settings of every index, as another program may.
func (s *Server) ChangeSettings(change func(settings map[string]any)) {
	s.each(func(x *index) { change(x.settings) })
}

// ChangeDocuments changes every document with an id, in every index.
func (s *Server) ChangeDocuments(id string, change func(document map[string]any)) {
	s.each(func(x *index) {
		if d := x.documents[id]; d != nil {
			change(d)
		}
	})
}

// Passages returns the passages that the indexes hold, ascending: one in two
// indexes is there twice.
func (s *Server) Passages() (ids []int64) {
	s.each(func(x *index) {
		for id := range x.documents {
			if n, err := strconv.ParseInt(id, 10, 64); err == nil {
				ids = append(ids, n)
			}
		}
	})
	slices.Sort(ids)
	return ids
}

// Handler is the server's API.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (any, error){
		"GET /version":    constant(map[string]string{"pkgVersion": "1.50.0", "commitSha": "", "commitDate": ""}),
		"GET /indexes":    s.list,
		"GET /tasks/{id}": s.task,

		"GET /indexes/{uid}": s.on(func(r *http.Request, _ *index) (any, error) {
			return named(r.PathValue("uid")), nil
		}),
		"GET /indexes/{uid}/settings": s.on(func(_ *http.Request, x *index) (any, error) {
			return x.settings, nil
		}),
		"GET /indexes/{uid}/documents":         s.on(page),
		"GET /indexes/{uid}/documents/{id}":    s.on(get),
		"POST /multi-search":                   s.search,
		"POST /indexes/{uid}/documents":        s.write(s.add),
		"POST /indexes/{uid}/documents/delete": s.write(s.remove),
		"DELETE /indexes/{uid}":                s.write(s.drop),
		"PATCH /indexes/{uid}/settings":        s.write(s.patch),
		"PUT /indexes/{uid}/settings/{name}":   s.write(s.put),
		"DELETE /indexes/{uid}/settings/{name}": s.write(func(r *http.Request, body []byte) error {
			return s.set(r, defaults()[settingName(r)])
		}),
		"POST /swap-indexes": s.write(s.swap),
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, answer) })
	}
	// This request needs no key.
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, map[string]string{"status": "available"})
	})
	return mux
}

func constant(v any) func(*http.Request) (any, error) {
	return func(*http.Request) (any, error) { return v, nil }
}

// answer holds the lock for a whole request, so that each is atomic.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, f func(*http.Request) (any, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := any(nil), s.authorise(r)
	if err == nil {
		v, err = f(r)
	}
	if err == nil {
		status := http.StatusOK
		if _, ok := v.(accepted); ok {
			status = http.StatusAccepted
		}
		send(w, status, v)
		return
	}
	refused := refusalOf(err)
	send(w, refused.status, refused)
}

// refusalOf is an error as the server says it.
func refusalOf(err error) *refusal {
	if refused, ok := err.(*refusal); ok {
		return refused
	}
	return refuse(http.StatusBadRequest, "bad_request", "%v", err)
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client may be gone
}

func (s *Server) authorise(r *http.Request) error {
	switch given := r.Header.Get("Authorization"); {
	case s.key == "" || given == "Bearer "+s.key:
		return nil
	case given == "":
		return refuse(http.StatusUnauthorized, "missing_authorization_header",
			"The Authorization header is missing. It must use the bearer authorization method.")
	}
	return refuse(http.StatusForbidden, "invalid_api_key", "The provided API key is invalid.")
}

// accepted returns the response to a request that becomes a task.
type accepted struct {
	TaskUID  int    `json:"taskUid"`
	IndexUID string `json:"indexUid"`
	Status   string `json:"status"`
}

// write makes a change, completed before the response unless tasks wait, and its task; an error
// of the change is in the task. A full disk refuses at once.
func (s *Server) write(change func(r *http.Request, body []byte) error) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if s.full {
			return nil, refuse(http.StatusUnprocessableEntity, "no_space_left_on_device",
				"There is no more space left on the device. Consider increasing the size of the disk/partition.")
		}
		s.last++
		uid := s.last
		s.tasks[uid] = task{UID: uid, Status: "enqueued"}
		do := func() {
			done := task{UID: uid, Status: "succeeded"}
			if err := change(r, body); err != nil {
				done.Status, done.Error = "failed", refusalOf(err)
			}
			s.tasks[uid] = done
		}
		if s.holding {
			s.held = append(s.held, do)
		} else {
			do()
		}
		return accepted{uid, r.PathValue("uid"), "enqueued"}, nil
	}
}

func (s *Server) task(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if done, ok := s.tasks[id]; ok {
		return done, nil
	}
	return nil, refuse(http.StatusNotFound, "task_not_found", "Task `%d` not found.", id)
}

func (s *Server) find(uid string) (*index, error) {
	if x := s.indexes[uid]; x != nil {
		return x, nil
	}
	return nil, refuse(http.StatusNotFound, "index_not_found", "Index `%s` not found.", uid)
}

// on handles a request on an index that must exist.
func (s *Server) on(f func(*http.Request, *index) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		x, err := s.find(r.PathValue("uid"))
		if err != nil {
			return nil, err
		}
		return f(r, x)
	}
}

// results is a part of a list.
type results struct {
	Results any `json:"results"`
	Offset  int `json:"offset"`
	Limit   int `json:"limit"`
	Total   int `json:"total"`
}

func part[T any](r *http.Request, all []T) results {
	number := func(name string, value int) int {
		if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil {
			return n
		}
		return value
	}
	out := results{Offset: number("offset", 0), Limit: number("limit", 20), Total: len(all)}
	out.Results = append([]T{}, all[min(out.Offset, len(all)):min(out.Offset+out.Limit, len(all))]...)
	return out
}

func named(uid string) map[string]any { return map[string]any{"uid": uid, "primaryKey": primaryKey} }

func (s *Server) list(r *http.Request) (any, error) {
	var all []map[string]any
	for _, uid := range slices.Sorted(maps.Keys(s.indexes)) {
		all = append(all, named(uid))
	}
	return part(r, all), nil
}

func page(r *http.Request, x *index) (any, error) {
	var all []document
	for _, id := range x.order {
		all = append(all, x.shown(x.documents[id], nil))
	}
	return part(r, all), nil
}

func get(r *http.Request, x *index) (any, error) {
	if d := x.documents[r.PathValue("id")]; d != nil {
		return x.shown(d, nil), nil
	}
	return nil, refuse(http.StatusNotFound, "document_not_found", "Document `%s` not found.", r.PathValue("id"))
}

// primaryKey is the attribute that identifies a document.
const primaryKey = "id"

// add adds a list of documents, or one per line.
func (s *Server) add(r *http.Request, body []byte) error {
	var documents []document
	if strings.Contains(r.Header.Get("Content-Type"), "ndjson") {
		body = slices.Concat([]byte("["), bytes.ReplaceAll(bytes.TrimSpace(body), []byte("\n"), []byte(",")), []byte("]"))
	}
	if err := json.Unmarshal(body, &documents); err != nil {
		return err
	}
	uid := r.PathValue("uid")
	x := s.indexes[uid]
	if x == nil {
		x = &index{documents: map[string]document{}, settings: defaults()}
		s.indexes[uid] = x
	}
	for _, d := range documents {
		id := fmt.Sprint(d[primaryKey])
		if x.documents[id] == nil {
			x.order = append(x.order, id)
		}
		x.documents[id] = d
	}
	return nil
}

func (s *Server) remove(r *http.Request, body []byte) error {
	x, err := s.find(r.PathValue("uid"))
	if err != nil {
		return err
	}
	var request struct{ Filter string }
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	holds, err := x.filter(request.Filter, "invalid_document_filter")
	if err != nil {
		return err
	}
	x.remove(holds)
	return nil
}

// remove removes the documents that a filter holds for.
func (x *index) remove(holds func(document) bool) {
	x.order = slices.DeleteFunc(x.order, func(id string) bool {
		gone := holds(x.documents[id])
		if gone {
			delete(x.documents, id)
		}
		return gone
	})
}

func (s *Server) drop(r *http.Request, _ []byte) error {
	_, err := s.find(r.PathValue("uid"))
	delete(s.indexes, r.PathValue("uid"))
	return err
}

// swap exchanges the names of two indexes, or renames the first.
func (s *Server) swap(_ *http.Request, body []byte) error {
	var swaps []struct {
		Indexes []string
		Rename  bool
	}
	if err := json.Unmarshal(body, &swaps); err != nil {
		return err
	}
	for _, swap := range swaps {
		a, b := swap.Indexes[0], swap.Indexes[1]
		x, err := s.find(a)
		if err != nil {
			return err
		}
		y := s.indexes[b]
		switch {
		case swap.Rename && y != nil:
			return refuse(http.StatusBadRequest, "invalid_swap_rename",
				"Cannot rename `%s` to `%s`: it already exists.", a, b)
		case swap.Rename:
			delete(s.indexes, a)
		case y == nil:
			return refuse(http.StatusNotFound, "index_not_found", "Index `%s` not found.", b)
		default:
			s.indexes[a] = y
		}
		s.indexes[b] = x
	}
	return nil
}
