package sample

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"mime"
	"mime/quotedprintable"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/text/encoding/charmap"
)

// The templates below answers/ say what servers answer, in the txtar format: below a line "-- HOST/PATH --" comes
// what the server of HOST sends for PATH. Each has the functions of dates and those of world.functions.
//
//go:embed answers
var answers embed.FS

// section begins an answer.
var section = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// serve replaces the authored files by the answers of servers.
func serve(files map[string][]byte, anchor time.Time) error {
	w := world{files: files}
	var err error
	if w.pages, err = readPages(files, anchor); err != nil {
		return err
	}
	out := map[string][]byte{}
	err = fs.WalkDir(answers, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := w.render(name, anchor)
		if err != nil {
			return err
		}
		sections := section.FindAllStringSubmatchIndex(text, -1)
		for i, at := range sections {
			end := len(text)
			if i+1 < len(sections) {
				end = sections[i+1][0]
			}
			answer, data := "web/"+text[at[2]:at[3]], []byte(text[at[1]:end])
			if path.Ext(answer) == ".json" {
				var compact bytes.Buffer
				if err := json.Compact(&compact, data); err != nil {
					return fmt.Errorf("%s: %s: %w", name, answer, err)
				}
				data = compact.Bytes()
			}
			if _, ok := files[answer]; ok || out[answer] != nil {
				return fmt.Errorf("%s: %s: is there already", name, answer)
			}
			out[answer] = data
		}
		return nil
	})
	for _, p := range w.pages {
		delete(files, p.Path)
	}
	maps.Copy(files, out)
	return err
}

// world is what the templates of answers render.
type world struct {
	files map[string][]byte // with their dates rendered
	pages []*page
}

func (w world) render(name string, anchor time.Time) (string, error) {
	text, err := answers.ReadFile(name)
	if err != nil {
		return "", err
	}
	t := template.New(path.Base(name))
	return execute(t.Funcs(w.functions(t)), string(text), anchor)
}

// functions are those of the templates of answers.
func (w world) functions(t *template.Template) template.FuncMap {
	return template.FuncMap{
		"pages": w.find, "entries": entries, "newest": newest, "oldest": oldest, "person": w.person,
		// decode reads a file in JSON.
		"decode": func(name string) (value any, err error) {
			err = json.Unmarshal(w.files[name], &value)
			return value, err
		},
		// each renders a list by the template of that name, with commas between what is not empty.
		"each": func(name string, list any) (string, error) {
			var parts []string
			for i, v := 0, reflect.ValueOf(list); i < v.Len(); i++ {
				var out strings.Builder
				if err := t.ExecuteTemplate(&out, name, v.Index(i).Interface()); err != nil {
					return "", err
				}
				if part := strings.TrimSpace(out.String()); part != "" {
					parts = append(parts, part)
				}
			}
			return strings.Join(parts, ",\n"), nil
		},
		"json": func(value any) (string, error) {
			data, err := json.Marshal(value)
			return string(data), err
		},
		"fail": func(parts ...any) (string, error) { return "", errors.New(fmt.Sprint(parts...)) },
		"add":  func(a, b int) int { return a + b },
		"has":  func(list []any, item any) bool { return slices.Contains(list, item) },
		"id":   identity,
		"replace": func(pattern, with, text string) (string, error) {
			re, err := regexp.Compile(pattern)
			if err != nil {
				return "", err
			}
			return re.ReplaceAllString(text, with), nil
		},
		"lower": strings.ToLower, "trim": strings.TrimSpace,
		"markdown": markdownToHTML, "captions": captions, "pdf": writePDF, "latin1": latin1,
		"base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"sha256": func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
		"header": func(s string) string { return mime.QEncoding.Encode("UTF-8", s) },
	}
}

// find returns the pages whose paths match a pattern.
func (w world) find(pattern string) ([]*page, error) {
	var found []*page
	for _, p := range w.pages {
		ok, err := path.Match(pattern, p.Path)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, p)
		}
	}
	return found, nil
}

// person is who writes under a login or a name.
func (w world) person(key string) (any, error) {
	for _, p := range w.pages {
		if p.Path != "people.yaml" {
			continue
		}
		for _, row := range p.Head.([]any) {
			if one := row.(map[string]any); one["login"] == key || one["name"] == key {
				return one, nil
			}
		}
	}
	return nil, fmt.Errorf("%q is not in people.yaml", key)
}

// entries are those of the pages, oldest first.
func entries(lists ...[]*page) []*entry {
	var all []*entry
	for _, p := range slices.Concat(lists...) {
		all = append(all, p.Entries...)
	}
	slices.SortStableFunc(all, func(a, b *entry) int { return a.At.Compare(b.At) })
	return all
}

func oldest(lists ...[]*page) []*page {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b *page) int { return a.Updated().Compare(b.Updated()) })
	return all
}

func newest(list []*page) []*page {
	slices.SortStableFunc(list, func(a, b *page) int { return b.Updated().Compare(a.Updated()) })
	return list
}

// identity is a number that servers give out, the same for the same parts.
func identity(parts ...any) int {
	sum := sha256.Sum256(fmt.Append(nil, parts...))
	return int(binary.BigEndian.Uint32(sum[:4])%90_000_000) + 10_000_000
}

var commonMark = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Linkify))

func markdownToHTML(text string) (string, error) {
	var out bytes.Buffer
	err := commonMark.Convert([]byte(text), &out)
	return strings.TrimSpace(out.String()), err
}

// latin1 is a text as old programs mail it.
func latin1(text string) (string, error) {
	latin, err := charmap.ISO8859_1.NewEncoder().String(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	q := quotedprintable.NewWriter(&out)
	_, err = q.Write([]byte(latin))
	err = errors.Join(err, q.Close())
	return out.String(), err
}
