package video

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"almanac/ingest/outbound"
)

// transcriptTypes are the media types that transcripts are served with.
var transcriptTypes = []string{"text/vtt", "text/srt", "text/plain", "application/x-subrip", "application/srt",
	"application/octet-stream"}

// readableAs reports whether the format of a transcript is supported, by its
// media type or name.
func readableAs(mediaType, name string) bool {
	if mediaType != "" && mediaType != "text/plain" && mediaType != "application/octet-stream" {
		return slices.Contains(transcriptTypes, strings.ToLower(mediaType))
	}
	return isTranscript(name)
}

func isTranscript(name string) bool {
	e := strings.ToLower(path.Ext(name))
	return e == ".vtt" || e == ".srt"
}

// directory lists the transcripts of a directory.
func (c connector) directory(dir string) ([]string, error) {
	files, dir := c.env.Place(dir)
	entries, err := fs.ReadDir(files, dir)
	var names []string
	for _, e := range entries {
		if !e.IsDir() && isTranscript(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// candidates returns the possible locations of a recording's transcript, in
// order.
func (c connector) candidates(v recording, names []string) []source {
	list := slices.Clone(v.Transcripts)
	slices.SortStableFunc(list, func(a, b source) int { return c.rank(a.Language) - c.rank(b.Language) })
	if isRemote(c.Transcripts) {
		for _, language := range c.Languages {
			address := strings.NewReplacer("{id}", url.PathEscape(v.ID), "{language}", url.PathEscape(language)).
				Replace(c.Transcripts)
			if !slices.ContainsFunc(list, func(s source) bool { return s.Address == address }) {
				list = append(list, source{address, language})
			}
		}
		return list
	}
	var files []source
	for _, name := range names {
		if language, ok := named(name, v.ID); ok {
			files = append(files, source{filepath.Join(c.Transcripts, name), language})
		}
	}
	slices.SortStableFunc(files, func(a, b source) int { return c.rank(a.Language) - c.rank(b.Language) })
	return append(list, files...)
}

// prints returns a digest that changes with the files.
func (c connector) prints(candidates []source) []string {
	var all []string
	for _, s := range candidates {
		if isRemote(s.Address) {
			continue
		}
		files, name := c.env.Place(s.Address)
		if info, err := fs.Stat(files, name); err == nil {
			all = append(all, fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()))
		}
	}
	return all
}

// rank orders languages as the options do; an unknown one comes after the
// first.
func (c connector) rank(language string) int {
	if language == "" {
		return 1
	}
	for i, l := range c.Languages {
		if prefix := strings.ToLower(l); strings.HasPrefix(strings.ToLower(language), prefix) {
			return 2 * i
		}
	}
	return 2 * len(c.Languages)
}

// named reports whether a file is named after a recording, and returns its
// language.
func named(file, id string) (language string, ok bool) {
	base := strings.TrimSuffix(file, path.Ext(file))
	rest, ok := strings.CutPrefix(base, id)
	if !ok {
		_, rest, ok = strings.Cut(base, "["+id+"]")
	}
	if !ok || rest != "" && rest[0] != '.' {
		return "", false
	}
	return strings.TrimPrefix(rest, "."), true
}

// transcript reads the first candidate that exists; having none is not an error.
func (c connector) transcript(ctx context.Context, hosts *outbound.Hosts, candidates []source) (transcript, error) {
	for _, s := range candidates {
		var data []byte
		var answer outbound.Response
		var err error
		if isRemote(s.Address) {
			answer, err = hosts.Do(ctx, outbound.Request{URL: s.Address, Accept: transcriptTypes, MaxBody: maxTranscript})
			data = answer.Body
		} else {
			data, err = c.env.Read(s.Address, maxTranscript)
		}
		switch {
		case outbound.BlameOf(err) == outbound.Gone, errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return transcript{}, err
		}
		t, err := parseTranscript(data, answer.Header.Get("Content-Type"))
		t.language = cmp.Or(t.language, s.Language)
		return t, err
	}
	return transcript{}, nil
}
