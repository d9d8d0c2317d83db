package filesystem

import "golang.org/x/sys/windows"

// Space returns the bytes of a directory's volume that this user may still fill.
func Space(dir string) (float64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return float64(free), err
}
