package recordingtest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	maxPlain = 64 << 10  // bytes of a recording that is written uncompressed
	maxFile  = 400 << 10 // bytes of any recording in the repository
	maxRead  = 64 << 20  // bytes of a recording, decompressed
)

// header is the first line of a recording.
type header struct {
	Server   string `json:"server"`
	Recorded string `json:"recorded"` // the day
}

// load reads a recording: the file, or the file with .gz appended to its name.
func load(file string) ([]Call, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if raw, err = os.ReadFile(file + ".gz"); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("recording %s does not exist", file)
		}
	}
	if err != nil {
		return nil, err
	}
	calls, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", file, err)
	}
	return calls, nil
}

func decode(raw []byte) ([]Call, error) {
	var r io.Reader = bytes.NewReader(raw)
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		r = z
	}
	lines := bufio.NewScanner(io.LimitReader(r, maxRead))
	lines.Buffer(nil, maxRead)
	var calls []Call
	for n := 1; lines.Scan(); n++ {
		var c Call
		var target any = &c
		if n == 1 {
			target = new(header)
		}
		if err := json.Unmarshal(lines.Bytes(), target); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if n > 1 {
			calls = append(calls, c)
		}
	}
	return calls, lines.Err()
}

// save writes a recording, replacing the present one.
func save(file, server string, calls []Call) error {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(header{server, time.Now().UTC().Format(time.DateOnly)}); err != nil {
		return err
	}
	for _, x := range calls {
		if err := e.Encode(x); err != nil {
			return fmt.Errorf("%s: %w", x.name(), err)
		}
	}
	path, other, content := file, file+".gz", plain.Bytes()
	if plain.Len() > maxPlain {
		path, other = other, path
		var zipped bytes.Buffer
		z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := z.Write(content); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		content = zipped.Bytes()
	}
	if len(content) > maxFile {
		return fmt.Errorf("recording %s: %d bytes, more than %d: record fewer calls per file", path, len(content),
			maxFile)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return err
	}
	if err := os.Remove(other); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
