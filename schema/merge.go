package schema

// A merger merges documents: built-in defaults, the project, the stack's
// defaults, the group, the VM. Maps merge deeply; lists are replaced, except
// those that add up.
type merger struct {
	defaults map[*Field]*Node // parsed once; a class has thousands of VMs
}

func newMerger() *merger { return &merger{defaults: map[*Field]*Node{}} }

// merge returns base with the values of over. Either may be nil.
func merge(base, over *Node, f *Field) *Node {
	switch {
	case base == nil:
		return over
	case over == nil:
		return base
	case f.Type == List && f.Sum:
		return &Node{Pos: over.Pos, Shape: ShapeList, Items: append(append([]*Node(nil), base.Items...), over.Items...)}
	case f.Whole || base.Shape != ShapeMap || over.Shape != ShapeMap:
		return over
	case f.Type == Object:
		return mergeMaps(base, over, func(key string) *Field { return find(f.Fields, key) })
	case f.Type == Map:
		return mergeMaps(base, over, func(string) *Field { return f.Elem })
	default:
		return over
	}
}

func mergeMaps(base, over *Node, field func(string) *Field) *Node {
	out := &Node{Pos: over.Pos, Shape: ShapeMap,
		Keys: append([]*Node(nil), base.Keys...), Items: append([]*Node(nil), base.Items...)}
	for i, key := range over.Keys {
		at := out.index(key.Text)
		if at < 0 {
			out.Keys, out.Items = append(out.Keys, key), append(out.Items, over.Items[i])
			continue
		}
		value := over.Items[i]
		if f := field(key.Text); f != nil {
			value = merge(out.Items[at], value, f)
		}
		out.Keys[at], out.Items[at] = key, value
	}
	return out
}

// fallback returns a row's default in long form, or nil. Its position is empty,
// because it is in no file.
func (m *merger) fallback(f *Field) *Node {
	if f.Default == "" {
		return nil
	}
	n, ok := m.defaults[f]
	if !ok {
		n, _ = ParseYAML("", []byte(f.Default)) // a literal; TestDefaults reads them all
		n = m.fill(withoutPos(longForm(n, f)), f)
		m.defaults[f] = n
	}
	return n
}

func withoutPos(n *Node) *Node {
	out := *n
	out.Pos = Pos{}
	out.Items, out.Keys = nil, nil
	for i, item := range n.Items {
		out.Items = append(out.Items, withoutPos(item))
		if n.Shape == ShapeMap {
			out.Keys = append(out.Keys, withoutPos(n.Keys[i]))
		}
	}
	return &out
}

// fill adds the defaults of missing values, down to the elements of lists.
func (m *merger) fill(n *Node, f *Field) *Node {
	switch {
	case n == nil:
		return nil
	case f.Type == List && n.Shape == ShapeList && f.Elem.Type == Object:
		out := &Node{Pos: n.Pos, Shape: ShapeList}
		for _, item := range n.Items {
			out.Items = append(out.Items, m.fill(item, f.Elem))
		}
		return out
	case f.Type == Object && n.Shape == ShapeMap:
		out := &Node{Pos: n.Pos, Shape: ShapeMap}
		for i := range f.Fields {
			sub := &f.Fields[i]
			key, value := n.key(sub.Key), n.Get(sub.Key)
			if value == nil {
				if value = m.fallback(sub); value == nil {
					continue
				}
				key = Scalar(n.Pos, ShapeString, sub.Key)
			}
			out.Keys, out.Items = append(out.Keys, key), append(out.Items, m.fill(value, sub))
		}
		return out
	default:
		return n
	}
}
