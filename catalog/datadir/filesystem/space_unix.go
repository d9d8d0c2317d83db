//go:build unix

package filesystem

import "syscall"

// Space returns the bytes of a directory's file system that this user may still fill.
func Space(dir string) (float64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return float64(st.Bavail) * float64(st.Bsize), nil
}
