// Package optest holds operations for tests of the interfaces: every kind of
// argument, answer and failure, on a small shelf of invented books.
package optest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"almanac/api/op"
)

// Book is an item of the shelf.
type Book struct {
	ID        string     `json:"id"`
	Title     string     `json:"title"`
	Kind      string     `json:"kind" enum:"Novel,Atlas"`
	Tags      []string   `json:"tags"`
	Added     time.Time  `json:"added"`
	Withdrawn *time.Time `json:"withdrawn" doc:"null while it is on the shelf"`
	Sequel    *Note      `json:"sequel"`
	Shelved   string     `json:"shelved,omitempty" required:"true" doc:"the place"`
}

// Note is a part of a Book that may be missing.
type Note struct {
	Text  string         `json:"text"`
	Extra map[string]int `json:"extra"`
}

// Lean implements op.Leaner.
func (b *Book) Lean() { b.Shelved = "" }

// Shelf is a list of books.
type Shelf struct {
	Items  []Book `json:"items"`
	Total  int    `json:"total"`
	Limit  int    `json:"limit"`
	Offset int    `json:"offset"`
}

// Next implements op.Paged.
func (s Shelf) Next() (offset int, more bool) {
	return s.Offset + len(s.Items), s.Offset+len(s.Items) < s.Total
}

// Echo returns the arguments of the call.
type Echo struct {
	Query string         `json:"query"`
	Kinds []string       `json:"kinds"`
	Since *time.Time     `json:"since"`
	Exact *bool          `json:"exact"`
	Pages []int          `json:"pages"`
	More  map[string]any `json:"more"`
}

// Kind is a kind of book.
type Kind string

// Constraints implements op.Constrained.
func (Kind) Constraints() reflect.StructTag {
	return `enum:"{{kinds}}" doc:"only books of this kind, such as {{first}}"`
}

var words = strings.NewReplacer("{{kinds}}", "Novel,Atlas", "{{first}}", "Novel")

type limit int

func (limit) Constraints() reflect.StructTag { return `minimum:"1" maximum:"100" toolmaximum:"50"` }

type listIn struct {
	Kind   Kind  `json:"kind"`
	Limit  limit `json:"limit" default:"20" tooldefault:"10" doc:"how many to return"`
	Offset int   `json:"offset" default:"0" minimum:"0"`
}

type getIn struct {
	ID string `json:"id" tool:"book_id" required:"true" pattern:"^(\\d{1,4}|BOOK-\\d{1,4})$" like:"56 or BOOK-0056"`
}

type batchIn struct {
	IDs []string `json:"ids" required:"true" maxItems:"3" pattern:"^\\d{1,4}$" doc:"ids such as 0056"`
}

type pathIn struct {
	Path string `json:"path" required:"true"`
}

type searchIn struct {
	Q     string         `json:"q" tool:"query" required:"true" maxLength:"100"`
	Kinds []string       `json:"kinds" enum:"Novel,Atlas"`
	Since *time.Time     `json:"since"`
	Exact *bool          `json:"exact"`
	Pages []int          `json:"pages" minimum:"1"`
	More  map[string]any `json:"more" rest:"-"`
}

// Batch holds books in the order of the ids.
type Batch struct {
	Items []*Book `json:"items"`
}

type none struct{}

// Operations returns the shelf's operations, tools in groups shelf and desk.
func Operations() []op.Operation {
	missing := []error{op.ErrNotFound}
	return []op.Operation{
		op.New(op.Spec{
			ID: "list_books", Group: "shelf", Path: "/api/v1/books", Tool: "list_books", Title: "List books",
			Words: words, Summary: "Books by id, {{kinds}}.", Example: listIn{Kind: "{{first}}", Limit: 5},
		}, list),
		op.New(op.Spec{
			ID: "get_book", Group: "shelf", Path: "/api/v1/books/{id}", Tool: "get_book", Title: "Read a book",
			MayFail: missing, Summary: "One book.", Description: "Reads one book by its id.",
			Forms: []op.Form{{Type: "text/plain; charset=utf-8", Write: func(answer any) ([]byte, error) {
				return []byte(answer.(*Book).Title), nil
			}}},
		}, get),
		op.New(op.Spec{
			ID: "batch_books", Group: "shelf", Method: "POST", Path: "/api/v1/books/batch",
			Summary: "Several books, null for misses.",
		}, batch),
		op.New(op.Spec{
			ID: "get_page", Group: "shelf", Path: "/api/v1/pages/{path...}", Summary: "A page by its path.",
		}, page),
		op.New(op.Spec{
			ID: "search_books", Group: "desk", Path: "/api/v1/search", Tool: "search_books", Title: "Search books",
			Post: true, Summary: "Echoes the arguments.",
		}, search),
		op.New(op.Spec{
			ID: "burn_book", Group: "attic", Tool: "burn_book", Title: "Burn", Extra: true,
			Summary: "Is listed only if its toolset is requested.",
		}, func(context.Context, none) (Note, error) { return Note{Text: "no"}, nil }),
		op.New(op.Spec{
			ID: "break_book", Group: "desk", Path: "/api/v1/break", Tool: "break_book", Title: "Panic",
			Effects: op.Effects{OpenWorld: true, Writes: true, NotIdempotent: true}, Summary: "Panics.",
		}, func(context.Context, none) (Shelf, error) { panic("broken on purpose") }),
		op.New(op.Spec{
			ID: "lose_book", Group: "desk", Path: "/api/v1/lose", Tool: "lose_book", Title: "Fail",
			Summary: "Fails with an internal error.",
		}, func(context.Context, none) (Shelf, error) { return Shelf{}, errors.New("sqlite: secret path /var/x") }),
		op.New(op.Spec{
			ID: "wait_book", Group: "desk", Path: "/api/v1/wait", Tool: "wait_book", Title: "Wait",
			Summary: "Waits until it is stopped.",
		}, func(ctx context.Context, _ none) (Shelf, error) {
			<-ctx.Done()
			return Shelf{}, fmt.Errorf("wait: %w", ctx.Err())
		}),
		op.New(op.Spec{
			ID: "closed_book", Group: "desk", Path: "/api/v1/closed", Tool: "closed_book", Title: "Closed",
			MayFail: []error{op.ErrUnavailable}, Summary: "Is never open.",
		}, func(context.Context, none) (Shelf, error) {
			return Shelf{}, op.Unavailable(90*time.Second, "the shelf is being painted")
		}),
		op.New(op.Spec{
			ID: "about", Group: "desk", Path: "/api/v1/about", Tool: "about", Title: "About", BeforeReady: true,
			Summary: "Answers at any time.",
		}, func(context.Context, none) (Note, error) { return Note{Text: "a <shelf> & more"}, nil }),
	}
}

// book makes one; only ids below 100 exist.
func book(id string) (Book, bool) {
	var n int
	if _, err := fmt.Sscanf(id, "BOOK-%d", &n); err != nil {
		if _, err := fmt.Sscanf(id, "%d", &n); err != nil {
			return Book{}, false
		}
	}
	added := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	b := Book{
		ID: fmt.Sprintf("%04d", n), Title: fmt.Sprintf("Book %d", n), Kind: "Novel", Added: added, Shelved: "hall",
	}
	return b, n < 100
}

func list(_ context.Context, in listIn) (Shelf, error) {
	s := Shelf{Total: 100, Limit: int(in.Limit), Offset: in.Offset}
	if in.Kind == "Atlas" {
		return s, nil
	}
	for n := s.Offset; n < s.Offset+s.Limit; n++ {
		if b, ok := book(fmt.Sprint(n)); ok {
			s.Items = append(s.Items, b)
		}
	}
	return s, nil
}

func get(_ context.Context, in getIn) (*Book, error) {
	b, ok := book(in.ID)
	if !ok {
		return nil, op.NotFound("no book %s", b.ID)
	}
	return &b, nil
}

func batch(_ context.Context, in batchIn) (Batch, error) {
	var out Batch
	for _, id := range in.IDs {
		if b, ok := book(id); ok {
			out.Items = append(out.Items, &b)
		} else {
			out.Items = append(out.Items, nil)
		}
	}
	return out, nil
}

func page(_ context.Context, in pathIn) (Note, error) {
	return Note{Text: in.Path}, nil
}

func search(_ context.Context, in searchIn) (Echo, error) {
	return Echo{in.Q, in.Kinds, in.Since, in.Exact, in.Pages, in.More}, nil
}
