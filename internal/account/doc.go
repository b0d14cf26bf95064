// Package account knows who is calling: API keys, and the Actor that every
// operation takes and that says what its caller may do.
package account
