package outputs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ansible is an inventory: a group for the stack, and one for each group of its spec.
func (r *Registration) ansible() ([]byte, error) {
	hosts, groups := mapping(), map[string]*yaml.Node{}
	var names []string
	for i := range r.VMs {
		v := &r.VMs[i]
		vars, err := v.variables()
		if err != nil {
			return nil, err
		}
		add(hosts, v.Name, vars)
		if v.group == "" {
			continue
		}
		group := r.Stack + "_" + v.group
		if groups[group] == nil {
			groups[group], names = mapping(), append(names, group)
		}
		add(groups[group], v.Name, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"})
	}
	stack := mapping()
	add(stack, "hosts", hosts)
	if len(names) > 0 {
		slices.Sort(names)
		children := mapping()
		for _, name := range names {
			members := mapping()
			add(members, "hosts", groups[name])
			add(children, groupName(name), members)
		}
		add(stack, "children", children)
	}
	stacks, all, root := mapping(), mapping(), mapping()
	add(stacks, groupName(r.Stack), stack)
	add(all, "children", stacks)
	add(root, "all", all)
	var out bytes.Buffer
	out.WriteString(r.comment())
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("writing the inventory of %s: %w", r.Stack, err)
	}
	return out.Bytes(), e.Close()
}

// groupName is a name that Ansible accepts for a group: letters, digits and
// underscores, not those of its own groups, and no digit first.
func groupName(name string) string {
	name = strings.ReplaceAll(name, "-", "_")
	if name == "all" || name == "ungrouped" {
		return name + "_"
	}
	if name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// variables are what the inventory says of a VM.
func (v *VM) variables() (*yaml.Node, error) {
	out := mapping()
	word := func(key, value string) {
		if value != "" {
			add(out, key, scalar(value))
		}
	}
	word("ansible_host", string(v.IPv4))
	word("ansible_user", v.User)
	word("stackgen_key", v.Key)
	word("stackgen_role", v.Role)
	word("stackgen_member", v.Member)
	add(out, "stackgen_ordinal", number(strconv.Itoa(v.Ordinal)))
	add(out, "stackgen_vmid", number(strconv.Itoa(v.VMID)))
	word("stackgen_node", v.Node)
	word("stackgen_mac", string(v.MAC))
	word("stackgen_dns", v.DNS)
	if len(v.Extra) > 0 {
		body, err := json.Marshal(v.Extra)
		if err != nil {
			return nil, err
		}
		if err := addJSON(out, "stackgen_extra", body); err != nil {
			return nil, err
		}
	}
	if len(v.Meta) > 0 && string(v.Meta) != "null" {
		if err := addJSON(out, "stackgen_meta", v.Meta); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

func add(to *yaml.Node, key string, value *yaml.Node) {
	to.Content = append(to.Content, scalar(key), value)
	if ours(key) {
		to.Content[len(to.Content)-2].Style = 0
	}
}

// ours reports whether a key is one of this package, which needs no quotes.
func ours(key string) bool {
	return slices.Contains([]string{"all", "children", "hosts"}, key) ||
		strings.HasPrefix(key, "ansible_") || strings.HasPrefix(key, "stackgen_")
}

// scalar is text. Ansible evaluates templates in the values of variables unless they
// have the tag !unsafe; no other program knows the tag, so only text that looks like
// a template gets it.
func scalar(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text}
	if template(text) {
		n.Tag = "!unsafe"
	}
	return n
}

func number(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

// template reports whether Ansible would evaluate a text.
func template(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%") || strings.Contains(text, "{#")
}

// addJSON adds a JSON value.
func addJSON(to *yaml.Node, key string, body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	n, err := readJSON(d)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s is no JSON: %w", key, err)
	}
	add(to, key, n)
	return nil
}

// readJSON reads one JSON value, with the keys of objects in their order.
func readJSON(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case string:
		return scalar(token), nil
	case json.Number:
		return number(token.String()), nil
	case bool:
		return number(strconv.FormatBool(token)), nil
	case json.Delim:
		return readJSONList(d, token == '{')
	}
	return number("null"), nil
}

func readJSONList(d *json.Decoder, object bool) (*yaml.Node, error) {
	out := &yaml.Node{Kind: yaml.SequenceNode}
	if object {
		out.Kind = yaml.MappingNode
	}
	for d.More() {
		n, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		if object && len(out.Content)%2 == 0 {
			n.Tag = "!!str" // Ansible does not evaluate keys
		}
		out.Content = append(out.Content, n)
	}
	_, err := d.Token()
	return out, err
}
