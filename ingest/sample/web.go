package sample

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"strings"
)

// web answers requests as the servers of the fiction would: with the files
// below web/HOST/PATH. Where a path is both a page and a directory of others,
// the page is PATH.json or PATH/index.html. A last part that is a digest
// (sha256:…) names the file of the directory whose content has it, as in a
// registry of images. Queries are not looked at: every list fits on its first
// page.
type web struct{ files fs.FS }

// Servers answers as the servers of a rendered sample do.
func Servers(files fs.FS) http.RoundTripper { return web{files} }

// mediaTypes are those of the files by extension, the same on every machine.
var mediaTypes = map[string]string{
	".csv": "text/csv; charset=utf-8", ".html": "text/html; charset=utf-8",
	".ics": "text/calendar; charset=utf-8", ".json": "application/json; charset=utf-8",
	".mbox": "application/mbox", ".md": "text/markdown; charset=utf-8", ".pdf": "application/pdf",
	".txt": "text/plain; charset=utf-8", ".vtt": "text/vtt; charset=utf-8", ".xml": "application/xml",
}

// RoundTrip implements http.RoundTripper.
func (w web) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	at := path.Join("web", req.URL.Hostname(), path.Clean("/"+req.URL.Path))
	if req.Method == http.MethodPost {
		if data, ok := w.graph(at, body); ok {
			return answer(req, http.StatusOK, ".json", data), nil
		}
	}
	for _, name := range []string{at, at + ".json", at + "/index.html"} {
		if data, err := fs.ReadFile(w.files, name); err == nil {
			return answer(req, http.StatusOK, path.Ext(name), data), nil
		}
	}
	if data, ok := w.digest(at); ok {
		return answer(req, http.StatusOK, "", data), nil
	}
	return answer(req, http.StatusNotFound, ".txt", []byte("not found")), nil
}

// digest finds a file by its content.
func (w web) digest(at string) ([]byte, bool) {
	want, ok := strings.CutPrefix(path.Base(at), "sha256:")
	if !ok {
		return nil, false
	}
	entries, _ := fs.ReadDir(w.files, path.Dir(at)) // none that can be read is none
	for _, e := range entries {
		data, err := fs.ReadFile(w.files, path.Join(path.Dir(at), e.Name()))
		if sum := sha256.Sum256(data); err == nil && hex.EncodeToString(sum[:]) == want {
			return data, true
		}
	}
	return nil, false
}

func answer(req *http.Request, status int, extension string, data []byte) *http.Response {
	header := http.Header{}
	if kind, ok := mediaTypes[extension]; ok {
		header.Set("Content-Type", kind)
	}
	if status == http.StatusOK {
		sum := sha256.Sum256(data)
		tag := `"` + hex.EncodeToString(sum[:8]) + `"`
		header.Set("ETag", tag)
		if req.Header.Get("If-None-Match") == tag {
			status, data = http.StatusNotModified, nil
		}
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)), Request: req,
	}
}

// graph answers a forge's GraphQL query about a repository from the document
// of all its fields, PATH/OWNER/NAME.json: with those that the query names.
func (w web) graph(at string, body []byte) ([]byte, bool) {
	var ask struct {
		Query     string `json:"query"`
		Variables struct {
			Owner string `json:"owner"`
			Name  string `json:"name"`
		} `json:"variables"`
	}
	if json.Unmarshal(body, &ask) != nil || ask.Query == "" {
		return nil, false
	}
	var document struct {
		Data struct {
			Repository map[string]json.RawMessage `json:"repository"`
		} `json:"data"`
	}
	raw, err := fs.ReadFile(w.files, path.Join(at, ask.Variables.Owner, ask.Variables.Name+".json"))
	if err = errors.Join(err, json.Unmarshal(raw, &document)); err != nil {
		return nil, false
	}
	maps.DeleteFunc(document.Data.Repository, func(field string, _ json.RawMessage) bool {
		return !regexp.MustCompile(`\b` + regexp.QuoteMeta(field) + `\b *[:({]`).MatchString(ask.Query)
	})
	data, err := json.Marshal(document)
	return data, err == nil
}
