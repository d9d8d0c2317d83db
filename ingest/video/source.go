package video

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"almanac/ingest/folder"
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
func (c *connector) directory(dir string) ([]string, error) {
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
func (s *syncRun) candidates(v recording) []source {
	list := slices.Clone(v.Transcripts)
	slices.SortStableFunc(list, func(a, b source) int { return s.rank(a.Language) - s.rank(b.Language) })
	if isRemote(s.opts.Transcripts) {
		for _, language := range s.opts.Languages {
			address := strings.NewReplacer("{id}", url.PathEscape(v.ID), "{language}", url.PathEscape(language)).
				Replace(s.opts.Transcripts)
			if !slices.ContainsFunc(list, func(c source) bool { return c.Address == address }) {
				list = append(list, source{address, language})
			}
		}
		return list
	}
	var files []source
	for _, name := range s.files {
		if language, ok := named(name, v.ID); ok {
			files = append(files, source{filepath.Join(s.opts.Transcripts, name), language})
		}
	}
	slices.SortStableFunc(files, func(a, b source) int { return s.rank(a.Language) - s.rank(b.Language) })
	return append(list, files...)
}

// prints returns a digest that changes with the files.
func (s *syncRun) prints(candidates []source) []string {
	var all []string
	for _, c := range candidates {
		if isRemote(c.Address) {
			continue
		}
		files, name := s.env.Place(c.Address)
		if info, err := fs.Stat(files, name); err == nil {
			all = append(all, fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()))
		}
	}
	return all
}

// rank orders languages as the options do; an unknown one comes after the
// first.
func (s *syncRun) rank(language string) int {
	if language == "" {
		return 1
	}
	for i, l := range s.opts.Languages {
		if prefix := strings.ToLower(l); strings.HasPrefix(strings.ToLower(language), prefix) {
			return 2 * i
		}
	}
	return 2 * len(s.opts.Languages)
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

// maxFailed is the number of consecutive failed requests for transcripts after
// which the rest is left to the next run.
const maxFailed = 3

var errLeft = errors.New("too many transcripts before it could not be read; it is left to the next run")

// transcript reads the first candidate that exists; having none is not an
// error.
func (s *syncRun) transcript(ctx context.Context, candidates []source) (transcript, error) {
	for _, c := range candidates {
		if !isRemote(c.Address) {
			t, err := s.fromFile(c)
			if !errors.Is(err, fs.ErrNotExist) {
				return t, err
			}
			continue
		}
		if s.failed >= maxFailed {
			return transcript{}, errLeft
		}
		answer, err := s.env.HTTP.Do(ctx, outbound.Request{URL: c.Address, Accept: transcriptTypes,
			MaxBody: maxTranscript})
		if status, ok := errors.AsType[*outbound.StatusError](err); ok &&
			(status.Status == http.StatusNotFound || status.Status == http.StatusGone) {
			s.failed = 0
			continue
		}
		if err != nil {
			s.failed++
			return transcript{}, err
		}
		s.failed = 0
		t, err := parseTranscript(answer.Body, answer.Header.Get("Content-Type"))
		return t.in(c.Language), err
	}
	return transcript{}, nil
}

// in sets a transcript's language to that of its source if it has none.
func (t transcript) in(language string) transcript {
	if t.language == "" {
		t.language = language
	}
	return t
}

func (s *syncRun) fromFile(c source) (transcript, error) {
	files, name := s.env.Place(c.Address)
	data, err := folder.Read(files, name, maxTranscript)
	if err != nil {
		return transcript{}, err
	}
	t, err := parseTranscript(data, "")
	return t.in(c.Language), err
}
