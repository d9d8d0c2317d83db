//go:build !linux

package gitrepo

func boundMemory(int, uint64) {} // no other system limits a process from outside
