//go:build unix

package real

import (
	"encoding/json"
	"slices"
	"testing"

	"stackgen/schema"
)

// TestEveryAttributeHasAnEffect compares the tables of effects with the schema of the
// released provider: each attribute has exactly one row, and each row is about an
// attribute or a block that exists.
func TestEveryAttributeHasAnEffect(t *testing.T) {
	t.Parallel()
	p := newStack(t, "vms: {a: {}}\n").render()
	dir := "modules/proxmox-vm"
	p.succeeds(dir, "tofu", "init", "-input=false", "-backend=false")
	var out struct {
		Providers map[string]struct {
			Resources map[string]struct{ Block providerBlock } `json:"resource_schemas"`
		} `json:"provider_schemas"`
	}
	check(t, json.Unmarshal(p.run(dir, "tofu", "providers", "schema", "-json").Stdout, &out))
	vm, ok := out.Providers["registry.opentofu.org/bpg/proxmox"].Resources["proxmox_virtual_environment_vm"]
	if !ok {
		t.Fatal("the provider has no VM resource")
	}
	attributes, blocks := vm.Block.paths("")
	if len(attributes) < 150 {
		t.Fatalf("the provider's schema has only %d attributes", len(attributes))
	}
	for _, path := range attributes {
		if rows := schema.AttributesAt(path); len(rows) != 1 {
			t.Errorf("%s has %d rows, want one", path, len(rows))
		}
	}
	for _, a := range schema.Attributes() {
		if !slices.Contains(attributes, a.HCL) && !slices.Contains(blocks, a.HCL) {
			t.Errorf("the provider has no %s", a.HCL)
		}
	}
}

// A providerBlock is a block of a provider's schema.
type providerBlock struct {
	Attributes map[string]struct{ Type json.RawMessage }
	BlockTypes map[string]struct{ Block providerBlock } `json:"block_types"`
}

// paths are the paths of all attributes and blocks.
func (b *providerBlock) paths(prefix string) (attributes, blocks []string) {
	for name, a := range b.Attributes {
		var kind []json.RawMessage
		var of []json.RawMessage
		var members map[string]json.RawMessage
		if json.Unmarshal(a.Type, &kind) == nil && len(kind) == 2 && json.Unmarshal(kind[1], &of) == nil && len(of) == 2 && json.Unmarshal(of[1], &members) == nil {
			blocks = append(blocks, prefix+name) // an attribute that is written as blocks
			for member := range members {
				attributes = append(attributes, prefix+name+"."+member)
			}
			continue
		}
		attributes = append(attributes, prefix+name)
	}
	for name, sub := range b.BlockTypes {
		blocks = append(blocks, prefix+name)
		a, bs := sub.Block.paths(prefix + name + ".")
		attributes, blocks = append(attributes, a...), append(blocks, bs...)
	}
	return attributes, blocks
}
