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
	"strings"

	"almanac/api/edge"
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

// tight removes from a style sheet what only people read. No string in ours has
// braces, semicolons or comments.
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
func (s *Site) Assets() edge.Route {
	byName := map[string]*asset{}
	for _, a := range s.assets {
		byName[a.name] = a
	}
	return edge.Route{Method: http.MethodGet, Path: AssetPath + "{name...}",
		Serve: func(r *http.Request) (*edge.Answer, error) {
			a, ok := byName[r.PathValue("name")]
			if !ok {
				return nil, &edge.Refusal{Status: http.StatusNotFound, Message: "there is no such file"}
			}
			return &edge.Answer{Type: a.kind, Body: a.body, Keep: edge.Immutable}, nil
		}}
}

// Size is the length of a file as it is served, in bytes.
func (s *Site) Size(name string) int {
	if a, ok := s.assets[name]; ok {
		return len(a.body)
	}
	return 0
}
