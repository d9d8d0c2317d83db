// Package filesystem holds what each operating system answers in a way of its own: access, owners and free space.
package filesystem
