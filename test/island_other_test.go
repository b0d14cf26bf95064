//go:build !linux

package test

// island is for Linux, whose processes can have a network of their own.
func island() {}
