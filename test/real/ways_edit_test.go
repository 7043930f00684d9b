//go:build unix

package real

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// wayFile is the file that a step says to write into.
var wayFile = regexp.MustCompile(`\b(specs/[^\s,]+\.yaml|stackgen\.yaml)\b`)

// edit writes a line of a step into the file that the step names, at the place that
// the line names: an entry of a VM, or the top.
func (w *faultCase) edit(step *way, lines ...string) error {
	m := wayFile.FindString(step.what)
	if m == "" {
		return fmt.Errorf("no file to write %q into", lines)
	}
	file := filepath.Join(w.dir, m)
	body, err := os.ReadFile(file)
	if os.IsNotExist(err) && strings.Contains(step.what, "create "+m) {
		body, err = nil, nil
	}
	if err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(body, &doc); err != nil {
		return err
	}
	if doc.Kind == 0 {
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	if err := editNode(doc.Content[0], step, lines); err != nil {
		return err
	}
	out, err := yaml.Marshal(&doc)
	if err != nil {
		return err
	}
	return os.WriteFile(file, out, 0o666)
}

// editNode changes the content of a file.
func editNode(root *yaml.Node, step *way, lines []string) error {
	for _, line := range lines {
		text, place, _ := strings.Cut(line, "  # ")
		var value yaml.Node
		if err := yaml.Unmarshal([]byte(text), &value); err != nil || value.Content[0].Kind != yaml.MappingNode {
			return fmt.Errorf("%q is no line of a spec: %w", line, err)
		}
		at := root
		if m := networkPlace.FindStringSubmatch(place); m != nil {
			if err := setMAC(root, m[1], m[2], value.Content[0].Content); err != nil {
				return err
			}
			continue
		}
		for key := range strings.SplitSeq(strings.TrimPrefix(place, "and the rest of its entry"), ".") {
			if key == "" {
				continue
			}
			key, _, _ = strings.Cut(key, ", ")
			if at = child(at, key); at == nil || at.Kind != yaml.MappingNode {
				return fmt.Errorf("%q names %s, which the file does not have", line, place)
			}
		}
		if strings.HasPrefix(place, "and the rest") {
			if at = child(root, "vms"); at == nil {
				return fmt.Errorf("the file has no vms")
			}
		}
		pair := value.Content[0].Content
		if strings.Contains(step.what, " remove") && place != "" && !strings.Contains(step.what, "write") {
			unset(at, pair[0].Value)
			continue
		}
		set(at, pair[0], pair[1])
		if strings.HasPrefix(place, "and the rest") { // a person knows it
			var rest yaml.Node
			if err := yaml.Unmarshal([]byte(`{node: pve2, profile: adopted, networks: [{mac: "BC:24:11:77:01:37"}]}`), &rest); err != nil {
				return err
			}
			pair[1].Content = append(pair[1].Content, rest.Content[0].Content...)
		}
		if _, former, ok := strings.Cut(step.what, "instead of "); ok {
			unset(at, former)
		}
	}
	for _, key := range step.keys() {
		vms := child(root, "vms")
		if containers := child(root, "containers"); child(containers, key) != nil {
			vms = containers
		}
		switch {
		case strings.Contains(step.what, "remove it from vms"), strings.Contains(step.what, "remove it from containers"), strings.Contains(step.what, "remove it from its spec"):
			unset(vms, key)
		case strings.Contains(step.what, "new key"):
			rename(vms, key, wayPlaceholders["NEW-KEY"])
			if strings.Contains(step.what, "without `adopt`") {
				unset(child(vms, wayPlaceholders["NEW-KEY"]), "adopt")
			}
		}
	}
	return nil
}

// networkPlace is the place of a property of a VM's network.
var networkPlace = regexp.MustCompile(`^networks of (\S+), entry (\d+)$`)

// setMAC sets a property of a network of a VM, which gets the networks that are
// missing.
func setMAC(root *yaml.Node, key, entry string, pair []*yaml.Node) error {
	vm := child(child(root, "vms"), key)
	if vm == nil {
		return fmt.Errorf("the file has no VM %s", key)
	}
	list := child(vm, "networks")
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode}
		vm.Content = append(vm.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "networks"}, list)
	}
	n, err := strconv.Atoi(entry)
	for err == nil && len(list.Content) < n {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.MappingNode})
	}
	if err == nil {
		set(list.Content[n-1], pair[0], pair[1])
	}
	return err
}

// keys are the keys of the VMs that the findings are about.
func (w *way) keys() []string {
	var out []string
	for _, about := range w.about {
		name, _, _ := strings.Cut(about, ":")
		if _, key, ok := strings.Cut(name, "/"); ok {
			out = append(out, key)
		}
	}
	return out
}

// child is the value of a key of a mapping.
func child(of *yaml.Node, key string) *yaml.Node {
	if of == nil {
		return nil
	}
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == key {
			v := of.Content[i+1]
			if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
				*v = yaml.Node{Kind: yaml.MappingNode}
			}
			return v
		}
	}
	return nil
}

// set sets a key of a mapping. Lists and mappings also keep what they have.
func set(of, key, value *yaml.Node) {
	is := child(of, key.Value)
	switch {
	case is == nil:
		of.Content = append(of.Content, key, value)
	case key.Value != "serial" && key.Value != "boot_order" && is.Kind == yaml.SequenceNode && value.Kind == yaml.SequenceNode && (len(value.Content) == 0 || value.Content[0].Kind != yaml.MappingNode):
		for _, e := range value.Content {
			if !slices.ContainsFunc(is.Content, func(o *yaml.Node) bool { return o.Value == e.Value }) {
				is.Content = append(is.Content, e)
			}
		}
	case key.Value == "renamed" || key.Value == "profiles":
		for i := 0; i+1 < len(value.Content); i += 2 {
			set(is, value.Content[i], value.Content[i+1])
		}
	default:
		*is = *value
	}
}

func unset(of *yaml.Node, key string) {
	for i := 0; of != nil && i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == key {
			of.Content = slices.Delete(of.Content, i, i+2)
			return
		}
	}
}

func rename(of *yaml.Node, key, to string) {
	for i := 0; of != nil && i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == key {
			of.Content[i].Value = to
		}
	}
}

// wayPlaceholders are the words in printed lines that a person replaces. Those of a
// state replace these.
var wayPlaceholders = map[string]string{
	"NEW-KEY": "fresh", "BRIDGE": "vmbr0", "BACKUP": "/var/lib/vz/dump/backup.vma.zst", "KEYFILE": "/etc/ddns.key",
	"ANOTHER_NAME": "live-another", "<NEW-TEXT>": "text", "<USER>": "debian", "...": "clone",
}

// placeholder is a word in capitals that is no part of a variable, an option or a name.
var placeholder = regexp.MustCompile(`(?:^|[\s:,\[{=/])(\.\.\.|<?[A-Z][A-Z]+(?:-[A-Z]+)*>?|ANOTHER_NAME|N)(?:$|[\s,\]}])`)

var macAddress = regexp.MustCompile(`(?:[0-9A-F]{2}:){5}[0-9A-F]{2}`)

// notReplaced are capitals that are no placeholder: the FB of a MAC address, and what a filter of Git keeps.
var notReplaced = regexp.MustCompile(macAddress.String() + `|--diff-filter=[A-Z]+`)

// fill replaces placeholders.
func (s *wayState) fill(line string) (string, error) {
	for {
		m := placeholder.FindStringSubmatchIndex(notReplaced.ReplaceAllStringFunc(line, strings.ToLower))
		if m == nil {
			return line, nil
		}
		word := line[m[2]:m[3]]
		value, known := s.words[word]
		if !known {
			value, known = wayPlaceholders[word]
		}
		if !known {
			return "", fmt.Errorf("placeholder %s of %q is not in the table", word, line)
		}
		line = line[:m[2]] + value + line[m[3]:]
	}
}
