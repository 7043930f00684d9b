package pve

import (
	"strings"

	"stackgen/internal/shell"
)

// Pvesh is a line that calls a method of the API: get, set, create or delete. It works on
// any node, as qm does not. The options are quoted for a shell already.
func Pvesh(method, path string, options ...string) string {
	return strings.Join(append([]string{"pvesh", method, shell.Word(path)}, options...), " ")
}
