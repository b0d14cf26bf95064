package cli

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion prints a shell's completion.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c *Completion) Run(app *kong.Kong) error {
	write := map[string]func([]command) string{"bash": bash, "zsh": zsh, "fish": fish}[c.Shell]
	_, err := os.Stdout.WriteString(write(commandsOf(app.Model.Node, "")))
	return err
}

// Man prints the manual.
type Man struct{}

// Run prints the page as roff: tas man > /usr/local/share/man/man1/tas.1
func (*Man) Run(app *kong.Kong) error {
	_, err := os.Stdout.WriteString(roff(app.Model.Help, commandsOf(app.Model.Node, "")))
	return err
}

// command is one that can be called, with the path to it: "project create".
type command struct {
	path  string
	help  string
	args  []*kong.Positional
	flags []*kong.Flag
}

// commandsOf answers every command below a node, in their order.
func commandsOf(n *kong.Node, path string) (out []command) {
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		at := strings.TrimSpace(path + " " + child.Name)
		if len(child.Children) > 0 {
			out = append(out, commandsOf(child, at)...)
			continue
		}
		c := command{path: at, help: child.Help, args: child.Positional}
		for _, group := range child.AllFlags(true) {
			c.flags = append(c.flags, group...)
		}
		out = append(out, c)
	}
	return out
}

// words answers what can be written behind a command: its flags, and the values of an
// argument that has few.
func (c command) words() []string {
	var out []string
	for _, a := range c.args {
		for _, v := range a.EnumSlice() {
			if v != "" {
				out = append(out, v)
			}
		}
	}
	for _, f := range c.flags {
		out = append(out, "--"+f.Name)
	}
	return out
}

// beginnings answers what can be written behind the words of a path, level by level.
func beginnings(all []command) map[string][]string {
	out := map[string][]string{}
	for _, c := range all {
		at := ""
		for part := range strings.SplitSeq(c.path, " ") {
			if known := out[at]; len(known) == 0 || known[len(known)-1] != part {
				out[at] = append(known, part)
			}
			at = strings.TrimSpace(at + " " + part)
		}
		out[c.path] = c.words()
	}
	return out
}

func bash(all []command) string {
	var b strings.Builder
	b.WriteString("# tas completion bash > /etc/bash_completion.d/tas\n_tas() {\n\tlocal i path= words=\n\tfor ((i = 1; i < COMP_CWORD; i++)); do\n" +
		"\t\t[[ ${COMP_WORDS[i]} == -* ]] || path=\"${path:+$path }${COMP_WORDS[i]}\"\n\tdone\n\tcase \"$path\" in\n")
	for _, at := range longestFirst(beginnings(all)) {
		pattern := fmt.Sprintf("%q|%q*", at.path, at.path+" ")
		if at.path == "" {
			pattern = "*"
		}
		fmt.Fprintf(&b, "\t%s) words='%s' ;;\n", pattern, strings.Join(at.words, " "))
	}
	b.WriteString("\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F _tas tas\n")
	return b.String()
}

type beginning struct {
	path  string
	words []string
}

// longestFirst orders paths so that "project create" is tried before "project".
func longestFirst(by map[string][]string) []beginning {
	out := make([]beginning, 0, len(by))
	for path, words := range by {
		out = append(out, beginning{path, words})
	}
	slices.SortFunc(out, func(a, b beginning) int {
		return cmp.Or(len(strings.Fields(b.path))-len(strings.Fields(a.path)), strings.Compare(a.path, b.path))
	})
	return out
}

func zsh(all []command) string {
	return "#compdef tas\n# tas completion zsh > \"${fpath[1]}/_tas\"\nautoload -U +X bashcompinit && bashcompinit\n" + bash(all)
}

func fish(all []command) string {
	var b strings.Builder
	b.WriteString("# tas completion fish > ~/.config/fish/completions/tas.fish\ncomplete -c tas -f\n")
	seen := map[string]bool{}
	for _, c := range all {
		parts := strings.Split(c.path, " ")
		for i, part := range parts {
			before := strings.Join(parts[:i], " ")
			condition, help := "__fish_use_subcommand", ""
			if i > 0 {
				condition = fmt.Sprintf("__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from %s", before, part)
			}
			if i == len(parts)-1 {
				help = " -d " + quote(c.help)
			}
			if !seen[before+" "+part] {
				fmt.Fprintf(&b, "complete -c tas -n %s -a %s%s\n", quote(condition), part, help)
			}
			seen[before+" "+part] = true
		}
		within := quote("__fish_seen_subcommand_from " + parts[len(parts)-1])
		for _, a := range c.args {
			if len(a.EnumSlice()) > 0 {
				fmt.Fprintf(&b, "complete -c tas -n %s -a %s\n", within, quote(strings.Join(a.EnumSlice(), " ")))
			}
		}
		for _, f := range c.flags {
			value := ""
			if !f.IsBool() {
				value = " -r"
			}
			fmt.Fprintf(&b, "complete -c tas -n %s -l %s%s -d %s\n", within, f.Name, value, quote(f.Help))
		}
	}
	return b.String()
}

// quote makes text one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// roff is the manual page, see man-pages(7).
func roff(about string, all []command) string {
	escape := strings.NewReplacer(`\`, `\\`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH TAS 1\n.SH NAME\ntas \\- the Test Automation Service\n.SH SYNOPSIS\n.B tas\n.I command\n.RI [ flags ]\n.SH DESCRIPTION\n%s\n", escape.Replace(about))
	b.WriteString(".PP\nThe service's address is read from\n.B SERVICE_BASE_URL\nand the project's API key from\n.BR SERVICE_API_KEY .\n.SH COMMANDS\n")
	for _, c := range all {
		fmt.Fprintf(&b, ".SS tas %s", escape.Replace(c.path))
		for _, a := range c.args {
			fmt.Fprintf(&b, " %s", escape.Replace(a.Summary()))
		}
		fmt.Fprintf(&b, "\n%s\n", escape.Replace(c.help))
		for _, f := range c.flags {
			if f.Name == "help" || f.Name == "version" {
				continue
			}
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escape.Replace(flagName(f)), escape.Replace(f.Help))
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, s := range []struct{ code, meaning string }{{"0", "The run passed, or the command did what it says."}, {"1", "The run ended and did not pass."}, {"2", "Wrong use."},
		{"3", "The service cannot be reached, or the key is not allowed to."}, {"4", "No verdict."}, {"130", "Interrupted."}} {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", s.code, s.meaning)
	}
	return b.String()
}

func flagName(f *kong.Flag) string {
	switch {
	case f.Tag.Negatable != "":
		return "--[no-]" + f.Name
	case f.IsBool():
		return "--" + f.Name
	}
	return "--" + f.Name + "=" + f.FormatPlaceHolder()
}
