package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// series are the snapshot series of a catalog.
var series = []string{catalog.SeriesNetwork, catalog.SeriesMarket, catalog.SeriesStats}

// Write writes the catalog of a network to a directory that is missing or empty
// (else ErrNotEmpty). The corpus appears there complete or not at all: it is
// first written to a temporary directory. progress is called after every
// record.
func Write(
	ctx context.Context, store *sqlstore.Store, n network.Network, dir string, progress func(done, total int),
) (Summary, error) {
	sum, err := write(ctx, store, n, filepath.Clean(dir), progress)
	if err != nil {
		err = fmt.Errorf("archive: %w", err)
	}
	return sum, err
}

func write(
	ctx context.Context, store *sqlstore.Store, n network.Network, dir string, progress func(done, total int),
) (Summary, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return Summary{}, fmt.Errorf("%s is %w; name a new directory", dir, ErrNotEmpty)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Summary{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Summary{}, err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-")
	if err != nil {
		return Summary{}, err
	}
	w := &writer{dir: temporary, files: map[string]*file{}}
	err = w.all(ctx, store, n, progress)
	if err = errors.Join(err, w.close()); err == nil {
		if err = os.Remove(dir); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Chmod(temporary, 0o755) // readable by others, unlike a temporary directory
	}
	if err == nil {
		err = os.Rename(temporary, dir)
	}
	if err != nil {
		return Summary{}, errors.Join(err, os.RemoveAll(temporary))
	}
	return w.sum, nil
}

// writer writes the files of a corpus, several at once.
type writer struct {
	dir   string
	files map[string]*file
	sum   Summary
}

// file is an output file that lines are appended to.
type file struct {
	row row
	f   *os.File
	buf *bufio.Writer
	*meter
}

func (w *writer) all(
	ctx context.Context, store *sqlstore.Store, n network.Network, progress func(done, total int),
) error {
	text, err := yaml.Marshal(n)
	if err != nil {
		return err
	}
	if err := w.open(row{Path: networkName, Type: typeNetwork}); err != nil {
		return err
	}
	if _, err := w.files[networkName].Write(text); err != nil {
		return err
	}
	if err := w.records(ctx, store, progress); err != nil {
		return err
	}
	if err := w.events(ctx, store); err != nil {
		return err
	}
	if err := w.snapshots(ctx, store); err != nil {
		return err
	}
	if err := w.sources(ctx, store); err != nil {
		return err
	}
	return w.manifest()
}

func (w *writer) records(ctx context.Context, store *sqlstore.Store, progress func(done, total int)) error {
	counts, err := store.Counts(ctx)
	if err != nil {
		return err
	}
	total := 0
	for _, c := range counts {
		total += c.N
	}
	return store.Dump(ctx, func(source string, e catalog.Entry) error {
		if e.Record.ID == 0 {
			w.sum.Additions++
			return w.line("additions", typeAdditions, source, lineOf(e))
		}
		w.sum.Records++
		progress(w.sum.Records, total)
		return w.line("records", typeRecords, source, lineOf(e))
	})
}

func (w *writer) events(ctx context.Context, store *sqlstore.Store) error {
	events, err := store.Events(ctx, catalog.EventQuery{})
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(events) { // oldest first
		w.sum.Events++
		if err := w.line("events", typeEvents, e.Source, eventLineOf(e)); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) snapshots(ctx context.Context, store *sqlstore.Store) error {
	for _, name := range series {
		list, err := store.Snapshots(ctx, name, 0)
		if err != nil {
			return err
		}
		for _, s := range slices.Backward(list) {
			w.sum.Snapshots++
			if err := w.line("", typeSnapshots, "", snapshotLine(s)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) sources(ctx context.Context, store *sqlstore.Store) error {
	list, err := store.Sources(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		w.sum.Sources++
		err := w.line("", typeSources, "", sourceLine{s.Name, s.Kind, s.LastRun, s.LastSuccess, s.Error, s.Skipped,
			s.Remark, s.Freshness})
		if err != nil {
			return err
		}
	}
	return nil
}

// line appends to the file of a source in a directory, or to the single file of
// a type.
func (w *writer) line(dir, contentType, source string, v any) error {
	name := path.Join(dir, url.PathEscape(source)+".jsonl")
	if dir == "" {
		name = contentType[len("catalog_"):] + ".jsonl"
	}
	if w.files[name] == nil {
		if err := w.open(row{Path: name, Type: contentType, Source: source}); err != nil {
			return err
		}
	}
	f := w.files[name]
	f.row.Lines++
	return writeLine(f, v)
}

func writeLine(f *file, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the files are read by programs and people, not embedded in HTML
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := f.Write(b.Bytes())
	return err
}

func (w *writer) open(r row) error {
	name := filepath.Join(w.dir, filepath.FromSlash(r.Path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	r.Format = format
	buf := bufio.NewWriterSize(f, 64<<10)
	w.files[r.Path] = &file{row: r, f: f, buf: buf, meter: newMeter(buf)}
	return nil
}

// manifest writes the manifest of the written files.
func (w *writer) manifest() error {
	names := slices.Sorted(maps.Keys(w.files))
	if err := w.open(row{Path: manifestName}); err != nil {
		return err
	}
	for _, name := range names {
		f := w.files[name]
		f.row.Bytes, f.row.SHA256 = f.n, f.sum()
		if err := writeLine(w.files[manifestName], f.row); err != nil {
			return err
		}
	}
	return nil
}

// close flushes everything to disk.
func (w *writer) close() error {
	var errs []error
	for _, f := range w.files {
		errs = append(errs, f.buf.Flush(), f.f.Sync(), f.f.Close())
	}
	return errors.Join(errs...)
}
