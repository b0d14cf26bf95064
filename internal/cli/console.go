package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mattn/go-isatty"
)

// Exit codes, as the user's guide lists them.
const (
	exitPass        = 0
	exitFail        = 1 // the verdict is fail
	exitUsage       = 2 // what was asked for cannot be done as it was asked for
	exitUnreachable = 3 // the service cannot be reached, or does not let this key do it
	exitNoVerdict   = 4 // the run did not become terminal while the command looked
	exitInterrupted = 130
)

// Exit is an error that ends the program with a code of its own. An empty message prints
// nothing: everything was said.
type Exit struct {
	Code    int
	Message string
}

// Error answers the message.
func (e *Exit) Error() string { return e.Message }

// ExitCode answers the program's exit code.
func (e *Exit) ExitCode() int { return e.Code }

func usage(format string, args ...any) *Exit {
	return &Exit{Code: exitUsage, Message: fmt.Sprintf(format, args...)}
}

// Usage answers what arguments get wrong. It goes to standard error alone: standard output
// is for results.
func Usage(err error) *Exit {
	command := "tas"
	if p, ok := errors.AsType[*kong.ParseError](err); ok && p.Context != nil && p.Context.Selected() != nil {
		command = "tas " + p.Context.Selected().Path()
	}
	return usage("%s. `%s --help` lists what there is.", err.Error(), command)
}

// console is where a command writes. What it prints of others' words must have gone
// through clean.
type console struct {
	out      io.Writer // results
	err      io.Writer // progress and trouble of a command whose output is a document
	terminal *os.File  // where bars may be drawn; nil where they may not
	color    bool
	owes     bool // the one document, still to be written
}

// newConsole answers the console of this process. With a document on standard output
// everything for people goes to standard error.
func newConsole(document bool) *console {
	c := &console{out: os.Stdout, err: os.Stderr, owes: document}
	people := os.Stdout
	if document {
		people, c.out = os.Stderr, os.Stderr
	}
	if isatty.IsTerminal(people.Fd()) && os.Getenv("TERM") != "dumb" {
		c.terminal = people
		c.color = os.Getenv("NO_COLOR") == ""
	}
	return c
}

// newReader answers the console of a command that only reads: with a document there is
// nothing else to say.
func newReader(document bool) *console {
	c := newConsole(document)
	if document {
		c.out = io.Discard
	}
	return c
}

// Colours of a terminal.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
	bold   = "1"
)

// paint answers s in a colour where colours are wanted. s must be clean.
func (c *console) paint(color, s string) string {
	if !c.color || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func (c *console) printf(format string, args ...any) {
	fmt.Fprintf(c.out, format, args...) //nolint:errcheck // a reader that left changes no verdict
}

func (c *console) warnf(format string, args ...any) {
	fmt.Fprintf(c.err, format, args...) //nolint:errcheck // see printf
}

// answer writes the command's one JSON document, where one was asked for.
func (c *console) answer(v any) error {
	if !c.owes {
		return nil
	}
	c.owes = false
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(os.Stdout, escapeControls(text.String()))
	return err
}

// escapeControls escapes what encoding/json leaves as it is and terminals obey: DEL, and
// the control characters that take two bytes. Outside of strings JSON has none of them.
func escapeControls(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= 0x7f && r <= 0x9f {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// trouble is the document of a command that failed.
type trouble struct {
	ExitCode int    `json:"exitCode"`
	Problem  string `json:"problem"`
}

// ended answers err as an Exit; a command whose output is a document writes one about it.
func (c *console) ended(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*Exit](err)
	if !ok {
		e = explain(err)
	}
	if err := c.answer(trouble{e.Code, e.Message}); err != nil {
		return err
	}
	return e
}
