//go:build !linux

package worker

// Adopt does nothing: only Linux knows subreapers.
func Adopt() error { return nil }
