package pve

import (
	"strings"

	"stackgen/internal/shell"
)

// SetPool is a line that changes a pool. The path with the id of a pool is not for nested ones.
func SetPool(id string, options ...string) string {
	if strings.Contains(id, "/") {
		return Pvesh("set", "/pools", append([]string{"--poolid " + shell.Word(id)}, options...)...)
	}
	return Pvesh("set", "/pools/"+id, options...)
}

// SetStorage is a line that changes an option of a storage.
func SetStorage(id, option, value string) string {
	return "pvesm set " + shell.Word(id) + " --" + option + " " + shell.Word(value)
}

// Pvesh is a line that calls a method of the API: get, set, create or delete. It works on
// any node, as qm does not. The options are quoted for a shell already.
func Pvesh(method, path string, options ...string) string {
	return strings.Join(append([]string{"pvesh", method, shell.Word(path)}, options...), " ")
}
