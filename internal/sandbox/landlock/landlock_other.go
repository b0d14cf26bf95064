//go:build !linux

// Package landlock exists on Linux only.
package landlock

import (
	"errors"

	"tas-service/internal/sandbox"
)

// ConfineCommand is the argument that makes our binary call Confine.
const ConfineCommand = "confine"

var errLinuxOnly = errors.New("Landlock exists on Linux only")

// New answers why there is no box here.
func New() (sandbox.Box, error) { return nil, errLinuxOnly }

// Confine is not possible here.
func Confine([]string) error { return errLinuxOnly }
