package tf

import tfjson "github.com/hashicorp/terraform-json"

// keepOnce makes the changes of a plan share the values that are the same: a plan has all
// values of a VM up to four times, and of most of them nothing differs.
func keepOnce(p *Plan) {
	planned := map[string]*tfjson.Change{}
	for _, r := range p.ResourceChanges {
		if c := r.Change; c != nil {
			c.After, _ = shared(c.After, c.Before)
			planned[r.Address] = c
		}
	}
	for _, r := range p.ResourceDrift {
		if c, other := r.Change, planned[r.Address]; c != nil && other != nil {
			c.After, _ = shared(c.After, other.Before)
			c.Before, _ = shared(c.Before, other.After)
		}
	}
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
