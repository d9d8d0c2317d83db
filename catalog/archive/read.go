package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/ingest/folder"
)

const (
	maxLine      = 64 << 20 // bytes of one line
	maxManifest  = 16 << 20 // bytes
	batchEntries = 500
	batchBytes   = 4 << 20
)

// metaImport holds the checksum of the manifest while its corpus is read into a
// catalog.
const metaImport = "import"

// Unfinished reports whether reading a corpus into the catalog was interrupted.
func Unfinished(ctx context.Context, store *sqlstore.Store) (bool, error) {
	sum, err := store.Meta(ctx, metaImport)
	return sum != "", err
}

// Network reads the network description of a corpus.
func Network(fsys fs.FS) (network.Network, error) {
	text, err := folder.Read(fsys, networkName, network.MaxBytes)
	if err != nil {
		return network.Network{}, fmt.Errorf("archive: %w", err)
	}
	return network.Parse(networkName, text)
}

// Read reads a corpus into an empty catalog. It checks all files against the
// manifest before the first write. An interrupted read is resumed by reading
// the same corpus again; any other catalog that is not empty is ErrNotEmpty. A
// corpus that contradicts its manifest is ErrDamaged. progress is called after
// every record.
func Read(ctx context.Context, store *sqlstore.Store, fsys fs.FS, progress func(done, total int)) (Summary, error) {
	r := reader{store: store, fsys: fsys, progress: progress}
	err := r.all(ctx)
	if err != nil {
		err = fmt.Errorf("archive: %w", err)
	}
	return r.sum, err
}

type reader struct {
	store    *sqlstore.Store
	fsys     fs.FS
	progress func(done, total int)
	rows     []row
	total    int // records, according to the manifest
	sum      Summary
}

func (r *reader) all(ctx context.Context) error {
	checksum, err := r.check(ctx)
	if err != nil {
		return err
	}
	if err := r.begin(ctx, checksum); err != nil {
		return err
	}
	// Owned records before additions to them.
	for _, contentType := range []string{typeRecords, typeAdditions, typeEvents, typeSnapshots, typeSources} {
		for _, row := range r.rows {
			if row.Type != contentType {
				continue
			}
			if err := r.file(ctx, row); err != nil {
				return fmt.Errorf("%s: %w", row.Path, err)
			}
		}
	}
	return r.store.SetMeta(ctx, metaImport, "")
}

// check reads the manifest and verifies every file. It returns the checksum of
// the manifest itself.
func (r *reader) check(ctx context.Context) (string, error) {
	text, err := folder.Read(r.fsys, manifestName, maxManifest)
	switch _, large := errors.AsType[folder.TooLarge](err); {
	case large:
		return "", fmt.Errorf("%w: %s: %w", ErrDamaged, manifestName, folder.Reason(err))
	case err != nil:
		return "", fmt.Errorf("no %s there: %w", manifestName, err)
	}
	if r.rows, err = parseManifest(text); err != nil {
		return "", err
	}
	for _, row := range r.rows {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if row.Type == typeRecords {
			r.total += row.Lines
		}
		if err := r.intact(row); err != nil {
			return "", fmt.Errorf("%w: %s: %w", ErrDamaged, row.Path, err)
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// parseManifest returns the rows that belong to a catalog.
func parseManifest(text []byte) ([]row, error) {
	var rows []row
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%w: %s:%d: %w", ErrDamaged, manifestName, n, err)
		}
		if !strings.HasPrefix(r.Type, "catalog_") {
			continue
		}
		switch {
		case r.Format > format:
			return nil, fmt.Errorf("%s:%d: written in format %d by a newer almanac; this one reads %d",
				manifestName, n, r.Format, format)
		case r.Format < format:
			return nil, fmt.Errorf("%s:%d: written in format %d before almanac 0.2.0: import it with that one, and export "+
				"it again", manifestName, n, r.Format)
		}
		if !fs.ValidPath(r.Path) {
			return nil, fmt.Errorf("%w: %s:%d: %q is not a path inside the corpus", ErrDamaged, manifestName, n, r.Path)
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s lists no catalog; a directory of documents is read by a source of kind snapshot",
			manifestName)
	}
	return rows, nil
}

func (r *reader) intact(row row) error {
	f, err := r.fsys.Open(row.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	m := newMeter(io.Discard)
	if _, err := io.Copy(m, f); err != nil {
		return err
	}
	if m.sum() != row.SHA256 {
		return errors.New("differs from its checksum in the manifest")
	}
	return nil
}

// begin checks that the catalog may be written to and marks it unfinished.
func (r *reader) begin(ctx context.Context, checksum string) error {
	unfinished, err := r.store.Meta(ctx, metaImport)
	if err != nil {
		return err
	}
	last, err := r.store.LastChange(ctx)
	switch {
	case err != nil:
		return err
	case unfinished != "" && unfinished != checksum:
		return fmt.Errorf("the data directory is %w: another corpus was read into it in part; "+
			"read that one again, or name another directory with --data", ErrNotEmpty)
	case unfinished == "" && last > 0:
		return fmt.Errorf("the data directory is %w; name another with --data", ErrNotEmpty)
	}
	return r.store.SetMeta(ctx, metaImport, checksum)
}

func (r *reader) file(ctx context.Context, row row) error {
	f, err := r.fsys.Open(row.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	switch row.Type {
	case typeRecords, typeAdditions:
		return r.entries(ctx, row, f)
	case typeEvents:
		return r.events(ctx, row, f)
	case typeSnapshots:
		return Snapshots(f, func(s catalog.Snapshot) error {
			r.sum.Snapshots++
			return r.store.PutSnapshot(ctx, s)
		})
	}
	return eachLine(f, func(l sourceLine) error {
		r.sum.Sources++
		return r.store.SetSource(ctx, catalog.SourceState{Name: l.Name, Kind: l.Kind, LastRun: l.LastRun,
			LastSuccess: l.LastSuccess, Error: l.Error, Skipped: l.Skipped, Remark: l.Remark,
			Freshness: l.Freshness})
	})
}

func (r *reader) entries(ctx context.Context, row row, f io.Reader) error {
	b := catalog.Batch{Source: row.Source, Restore: true}
	bytes := 0
	flush := func() error {
		_, err := r.store.Apply(ctx, b)
		b.Entries, bytes = nil, 0
		return err
	}
	err := Entries(f, func(e catalog.Entry) error {
		e, err := checked(e, row)
		if err != nil {
			return err
		}
		if row.Type == typeRecords {
			r.sum.Records++
			r.progress(r.sum.Records, r.total)
		} else {
			r.sum.Additions++
		}
		b.Entries = append(b.Entries, e)
		if bytes += len(e.Record.Body) + len(e.Record.Data) + 512; len(b.Entries) < batchEntries && bytes < batchBytes {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// checked returns the stored form of an entry. The content of a record must match its hash.
func checked(e catalog.Entry, row row) (catalog.Entry, error) {
	hash := e.Record.Hash
	e, err := e.Normalize()
	if err != nil {
		return e, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if row.Type == typeRecords && e.ContentHash() != hash {
		return e, fmt.Errorf("%w: %s does not match its hash", ErrDamaged, e.Record.Ref())
	}
	return e, nil
}

func (r *reader) events(ctx context.Context, row row, f io.Reader) error {
	// Events of one reference must be in one batch, so all of a source are.
	b := catalog.Batch{Source: row.Source}
	err := Events(f, func(e catalog.Event) error {
		b.Events = append(b.Events, e)
		return nil
	})
	if err != nil {
		return err
	}
	r.sum.Events += len(b.Events)
	_, err = r.store.Apply(ctx, b)
	return err
}

// Entries calls use with each entry of a file of records or additions. It checks nothing but that they are JSON.
func Entries(f io.Reader, use func(catalog.Entry) error) error {
	return eachLine(f, func(l entryLine) error { return use(l.entry()) })
}

// Events calls use with each event of a file of events.
func Events(f io.Reader, use func(catalog.Event) error) error {
	return eachLine(f, func(l eventLine) error { return use(l.event()) })
}

// Snapshots calls use with each state of a file of series.
func Snapshots(f io.Reader, use func(catalog.Snapshot) error) error {
	return eachLine(f, func(l snapshotLine) error { return use(catalog.Snapshot(l)) })
}

// eachLine calls use with each line of a file of JSON lines. Errors name the
// line.
func eachLine[T any](f io.Reader, use func(T) error) error {
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 0
	for in.Scan() {
		n++
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var v T
		err := json.Unmarshal(in.Bytes(), &v)
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		} else {
			err = use(v)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%w: line %d: %w", ErrDamaged, n+1, err)
	}
	return nil
}
