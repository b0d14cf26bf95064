package web

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"tas-service/internal/fault"
)

// linesOf writes variables as NAME=value, one on each line. A value with new lines, or in
// quotes, stands in quotes as JSON writes it.
func linesOf(env map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		if strings.ContainsAny(value, "\r\n") || strings.HasPrefix(value, `"`) {
			if quoted, err := json.Marshal(value); err == nil {
				value = string(quoted)
			}
		}
		b.WriteString(name + "=" + value + "\n")
	}
	return b.String()
}

// readLines reads what linesOf writes.
func readLines(text string) (map[string]string, error) {
	env := map[string]string{}
	bad := fault.New(fault.Invalid, "The variables cannot be read.").WithFix("Write one on each line, as NAME=value.")
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			bad.At("variables", "line %d has no = after a name", n)
			continue
		}
		if _, twice := env[name]; twice {
			bad.At("variables", "%s is there twice", name)
		}
		if strings.HasPrefix(value, `"`) {
			quoted := value
			if err := json.Unmarshal([]byte(quoted), &value); err != nil {
				bad.At("variables", "the quotes in line %d do not end, or hold what JSON does not know", n)
			}
		}
		env[name] = value
	}
	if len(bad.Details) > 0 {
		return env, bad
	}
	return env, nil
}

// hostOf answers the host of a clone address, which may be written as ssh does.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return strings.ToLower(u.Scheme + "://" + u.Host)
	}
	host, _, _ := strings.Cut(address, ":")
	return strings.ToLower(host)
}
