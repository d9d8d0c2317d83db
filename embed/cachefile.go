package embed

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// cacheFile keeps vectors in its own SQLite database, which is safe to share
// between processes that may be killed. Writes do not wait for the disk: a
// power cut loses the last vectors, not the file.
//
// A row is the first eight bytes of the key and the vector with a CRC-32C over
// key and vector, which detects both damage and, all but once in 2^96, two keys
// that begin alike.
type cacheFile struct {
	path string
	size int // bytes of a stored vector with its checksum
	log  *slog.Logger

	mu sync.RWMutex // guards db, which is replaced when the file is damaged
	db *sql.DB
}

const (
	cacheSchema  = `CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL)`
	cacheVersion = 1
	cacheLookup  = `SELECT id, vector FROM vectors WHERE id IN (SELECT value FROM json_each(?))`
	cacheInsert  = `INSERT OR REPLACE INTO vectors (id, vector) VALUES (?, ?)`
	// lookupChunk bounds the parameter of one lookup.
	lookupChunk = 2000
)

func openCacheFile(path string, dimensions int, log *slog.Logger) (*cacheFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f := &cacheFile{path: path, size: 4*dimensions + crc32.Size, log: log}
	var err error
	if f.db, err = openCacheDB(path); isDamage(err) {
		f.db, err = f.replace(err)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

var errCacheVersion = errors.New("written by another version")

func openCacheDB(path string) (*sql.DB, error) {
	location := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "_pragma=busy_timeout(5000)" +
		"&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate"}
	db, err := sql.Open("sqlite", location.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := prepareCacheDB(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func prepareCacheDB(db *sql.DB) error {
	if _, err := db.Exec(cacheSchema); err != nil {
		return err
	}
	var version int
	if err := db.QueryRow(`PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	switch version {
	case cacheVersion:
		return nil
	case 0:
		_, err := db.Exec(fmt.Sprintf(`PRAGMA user_version = %d`, cacheVersion))
		return err
	default:
		return errCacheVersion
	}
}

// isDamage distinguishes a file that will never be readable from one that is
// busy or on a full disk.
func isDamage(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		code := e.Code() & 0xff // without the extension
		return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
	}
	return errors.Is(err, errCacheVersion)
}

// replace sets a damaged file aside and starts a new one.
func (f *cacheFile) replace(cause error) (*sql.DB, error) {
	aside := f.path + ".damaged"
	f.log.Warn("embedding cache is damaged and was replaced by a new one", "path", f.path, "kept_as", aside,
		"error", cause)
	if err := os.Rename(f.path, aside); err != nil {
		return nil, err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(f.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return openCacheDB(f.path)
}

// failed logs an error and, if the file is damaged, replaces it.
func (f *cacheFile) failed(ctx context.Context, operation string, db *sql.DB, err error) {
	if ctx.Err() != nil {
		return
	}
	if !isDamage(err) {
		f.log.Warn("embedding cache: "+operation+" failed", "path", f.path, "error", err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db != db { // another caller was first
		return
	}
	_ = db.Close() // nothing in a damaged file can be saved
	if f.db, err = f.replace(err); err != nil {
		f.log.Warn("embedding cache is no longer used", "path", f.path, "error", err)
	}
}

func (f *cacheFile) database() *sql.DB {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.db
}

// read adds the vectors it has to known.
func (f *cacheFile) read(ctx context.Context, keys []cacheKey, known map[cacheKey][]float32) {
	db := f.database()
	if db == nil {
		return
	}
	for chunk := range slices.Chunk(keys, lookupChunk) {
		if err := f.lookup(ctx, db, chunk, known); err != nil {
			f.failed(ctx, "read", db, err)
			return
		}
	}
}

func (f *cacheFile) lookup(ctx context.Context, db *sql.DB, keys []cacheKey, known map[cacheKey][]float32) error {
	byID := make(map[int64]cacheKey, len(keys))
	ids := make([]int64, len(keys))
	for i, k := range keys {
		ids[i] = k.id()
		byID[ids[i]] = k
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, cacheLookup, string(list))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var raw sql.RawBytes
		if err := rows.Scan(&id, &raw); err != nil {
			return err
		}
		if k, ok := byID[id]; ok {
			if v := f.decode(k, raw); v != nil {
				known[k] = v
			}
		}
	}
	return rows.Err()
}

// write stores vectors in one transaction.
func (f *cacheFile) write(ctx context.Context, keys []cacheKey, vectors [][]float32) {
	db := f.database()
	if db == nil {
		return
	}
	if err := f.insert(ctx, db, keys, vectors); err != nil {
		f.failed(ctx, "write", db, err)
	}
}

func (f *cacheFile) insert(ctx context.Context, db *sql.DB, keys []cacheKey, vectors [][]float32) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	stmt, err := tx.PrepareContext(ctx, cacheInsert)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i, k := range keys {
		if _, err := stmt.ExecContext(ctx, k.id(), f.encode(k, vectors[i])); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (f *cacheFile) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db == nil {
		return nil
	}
	db := f.db
	f.db = nil
	if err := db.Close(); err != nil {
		return fmt.Errorf("embed: close cache: %w", err)
	}
	return nil
}

func (k cacheKey) id() int64 { return int64(binary.LittleEndian.Uint64(k[:])) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (k cacheKey) checksum(raw []byte) uint32 {
	return crc32.Update(crc32.Checksum(k[:], castagnoli), castagnoli, raw)
}

// encode returns the vector as little-endian float32 with its checksum.
func (f *cacheFile) encode(k cacheKey, v []float32) []byte {
	raw := make([]byte, 0, f.size)
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return binary.LittleEndian.AppendUint32(raw, k.checksum(raw))
}

// decode returns nil if the row does not hold the key's vector.
func (f *cacheFile) decode(k cacheKey, raw []byte) []float32 {
	if len(raw) != f.size {
		return nil
	}
	raw, sum := raw[:len(raw)-crc32.Size], binary.LittleEndian.Uint32(raw[len(raw)-crc32.Size:])
	if k.checksum(raw) != sum {
		return nil
	}
	v := make([]float32, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return v
}
