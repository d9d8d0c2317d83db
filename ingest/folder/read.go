package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// TooLarge is the error of a file that has more bytes than this limit.
type TooLarge int64

func (limit TooLarge) Error() string {
	if limit%(1<<20) == 0 {
		return fmt.Sprintf("is larger than %d MB", limit>>20)
	}
	return fmt.Sprintf("is larger than %d bytes", int64(limit))
}

// Read returns the content of a file of at most limit bytes. Its errors are
// *fs.PathError; that of a larger file has TooLarge.
func Read(files fs.FS, name string, limit int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	return read(f, name, limit)
}

// ReadFile is Read of any file of this machine that the operator names, as a link
// or a pipe too.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return read(f, name, limit)
}

// read reads and closes a file.
func read(f fs.File, name string, limit int64) ([]byte, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: name, Err: TooLarge(limit)}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Reason drops the name from the error of a file, for messages that already have
// it.
func Reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
