package schema

import "cmp"

// guardOf returns the guard setting of a document.
func guardOf(root *Node) string { return cmp.Or(root.Get("guard").Str(), "full") }

// defaultParallelism is apply.parallelism where no document sets it.
const defaultParallelism = 4

// parallelismOf returns apply.parallelism of a document.
func parallelismOf(root *Node) int {
	return cmp.Or(root.Get("apply", "parallelism").Int(), defaultParallelism)
}
