//go:build !amd64 && !arm64

package corpus

func fetch(string, int) {}
