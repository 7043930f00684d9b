package tf

// keepOnce makes the changes of a plan share the values that are the same: a plan has all
// values of a VM up to four times, and of most of them nothing differs.
func keepOnce(p *Plan) {
	planned := map[string]*ResourceChange{}
	for _, c := range p.Changes {
		c.After = sharing(c.After, c.Before)
		planned[c.Address] = c
	}
	for _, d := range p.Drift {
		if c := planned[d.Address]; c != nil {
			d.After, d.Before = sharing(d.After, c.Before), sharing(d.Before, c.After)
		}
	}
}

// sharing is a value from JSON with the parts of another one where they are the same.
func sharing(value, other map[string]any) map[string]any {
	one, _ := shared(value, other)
	return one.(map[string]any)
}

// shared is a value from JSON with the parts of another one where they are the same. same
// reports whether it is all of the other one.
func shared(value, other any) (one any, same bool) {
	switch value := value.(type) {
	case map[string]any:
		block, ok := other.(map[string]any)
		same = ok && len(block) == len(value)
		for name, sub := range value {
			part, has := block[name]
			kept, equal := shared(sub, part)
			if value[name] = kept; !has || !equal {
				same = false
			}
		}
	case []any:
		list, ok := other.([]any)
		same = ok && len(list) == len(value)
		for i := range min(len(value), len(list)) {
			kept, equal := shared(value[i], list[i])
			if value[i] = kept; !equal {
				same = false
			}
		}
	default: // of a type that can be compared
		switch other.(type) {
		case map[string]any, []any:
			return value, false
		}
		same = value == other
	}
	if same {
		return other, true
	}
	return value, false
}
