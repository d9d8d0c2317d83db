package look

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"

	"almanac/api/coding"
	"almanac/api/guard"
)

// AssetPath is where styles and scripts are. Their names have a hash of their
// content, so that browsers keep them for good.
const AssetPath = "/static/"

// asset is a file.
type asset struct {
	name string // with the hash: look.1f3a5b7c.css
	kind string
	body []byte
}

// readAssets reads the files.
func readAssets(files fs.FS) (map[string]*asset, error) {
	out := map[string]*asset{}
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		body, err := fs.ReadFile(files, "assets/"+e.Name())
		if err != nil {
			return nil, err
		}
		if path.Ext(e.Name()) == ".css" {
			body = tight(body)
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(e.Name())
		a := &asset{
			name: strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:4]) + ext,
			kind: mime.TypeByExtension(ext), body: body,
		}
		if a.kind == "" {
			return nil, fmt.Errorf("%s has no media type", e.Name())
		}
		out[e.Name()] = a
	}
	return out, nil
}

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/`)
	loose    = regexp.MustCompile(`\s*([{};])\s*`)
)

// tight leaves out what only people read in a style sheet. None of ours has
// braces, semicolons or comments in a string.
func tight(css []byte) []byte {
	return loose.ReplaceAll(comments.ReplaceAll(css, nil), []byte("$1"))
}

// Asset returns the address of a file.
func (s *Site) Asset(name string) (string, error) {
	a, ok := s.assets[name]
	if !ok {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return s.At(AssetPath + a.name), nil
}

// Assets serves the files.
func (s *Site) Assets() http.Handler {
	byName := map[string]*asset{}
	for _, a := range s.assets {
		byName[a.name] = a
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := byName[strings.TrimPrefix(r.URL.Path, AssetPath)]
		if !ok {
			guard.Refuse(w, http.StatusNotFound, "there is no such file")
			return
		}
		h := w.Header()
		guard.Protect(h)
		h.Set("Content-Type", a.kind)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Vary", "Accept-Encoding")
		body := a.body
		if enc := coding.Choose(r.Header.Get("Accept-Encoding"), len(body)); enc != coding.Identity {
			h.Set("Content-Encoding", string(enc))
			body = enc.Encode(body)
		}
		h.Set("Content-Length", strconv.Itoa(len(body)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(body) // the client may be gone
		}
	})
}

// Size is the length of a file as it is served, in bytes.
func (s *Site) Size(name string) int {
	if a, ok := s.assets[name]; ok {
		return len(a.body)
	}
	return 0
}
