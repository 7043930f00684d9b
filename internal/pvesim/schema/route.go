package schema

import "strings"

// node is one segment of the path tree; a wildcard matches {name}.
type node struct {
	children map[string]*node
	wild     *node
	wildName string
	methods  map[string]*Method
}

func (n *node) add(segments []string, methods map[string]*Method) {
	if len(segments) == 0 || segments[0] == "" {
		n.methods = methods
		return
	}
	name, rest := segments[0], segments[1:]
	if strings.HasPrefix(name, "{") {
		if n.wild == nil {
			n.wild = &node{}
			n.wildName = strings.Trim(name, "{}")
		}
		n.wild.add(rest, methods)
		return
	}
	if n.children == nil {
		n.children = map[string]*node{}
	}
	child, ok := n.children[name]
	if !ok {
		child = &node{}
		n.children[name] = child
	}
	child.add(rest, methods)
}

// Find returns the call for a method and path segments, and its path
// parameters, or nil if the API has no such call.
func (a *API) Find(verb string, segments []string) (*Method, map[string]string) {
	args := map[string]string{}
	n := a.root
	for i, s := range segments {
		if child, ok := n.children[s]; ok {
			n = child
			continue
		}
		if n.wild == nil {
			return nil, nil
		}
		if n.wildName == "volume" {
			// The name of a volume may contain slashes, so it matches the rest of the path.
			args["volume"] = strings.Join(segments[i:], "/")
			return n.wild.methods[verb], args
		}
		args[n.wildName] = s
		n = n.wild
	}
	m := n.methods[verb]
	return m, args
}
