// Package account knows who is calling: API keys, people with their sessions, invitations
// and roles, and the Actor that every operation takes and that says what its caller may do.
package account
