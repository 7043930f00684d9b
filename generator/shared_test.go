package generator

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// machineOf is a VM with attributes as in "cpu=2 tags=a".
func machineOf(key, values string) machine {
	m := machine{key: key, adopted: strings.HasPrefix(key, "old")}
	for _, word := range strings.Fields(values) {
		name, value, _ := strings.Cut(word, "=")
		m.values = append(m.values, pair{name, text(value)})
	}
	return m
}

// written is an object expression as it is rendered.
func written(ts hclwrite.Tokens) string {
	return strings.Join(strings.Fields(string(ts.Bytes())), " ")
}

func TestShareValues(t *testing.T) {
	for name, c := range map[string]struct {
		vms    []string
		shared string
		last   string // the last VM, as it is rendered
	}{
		"one VM":                {[]string{"cpu=2"}, "{}", `{ cpu = "2" }`},
		"two equal ones":        {[]string{"cpu=2", "cpu=2"}, `{ cpu = "2" }`, "merge(local.vm, {})"},
		"two unlike ones":       {[]string{"cpu=2", "cpu=4"}, "{}", `{ cpu = "4" }`},
		"most of them":          {[]string{"cpu=2", "cpu=2", "cpu=4"}, `{ cpu = "2" }`, `merge(local.vm, { cpu = "4" })`},
		"half of them":          {[]string{"cpu=2", "cpu=2", "cpu=4", "cpu=4"}, "{}", `{ cpu = "4" }`},
		"not in all":            {[]string{"tags=x", "tags=x", "cpu=4"}, "{}", `{ cpu = "4" }`},
		"what each VM says":     {[]string{"vm_id=1 name=x node_name=x clone=x cpu=2", "vm_id=1 name=x node_name=x clone=x cpu=2"}, `{ cpu = "2" }`, `merge(local.vm, { vm_id = "1" name = "x" node_name = "x" clone = "x" })`},
		"beside an adopted one": {[]string{"cpu=2", "cpu=2", "old cpu=2"}, `{ cpu = "2" }`, `{ cpu = "2" }`},
		"of adopted ones":       {[]string{"old cpu=2", "old cpu=2"}, "{}", `{ cpu = "2" }`},
		"in the order of one":   {[]string{"b=1 a=1", "a=1 b=1"}, `{ b = "1" a = "1" }`, "merge(local.vm, {})"},
	} {
		var machines []machine
		for i, values := range c.vms {
			values, old := strings.CutPrefix(values, "old ")
			key := fmt.Sprintf("vm%d", i)
			if old {
				key = "old" + key
			}
			machines = append(machines, machineOf(key, values))
		}
		shared := shareValues(machines)
		if got := written(object(shared...)); got != c.shared {
			t.Errorf("%s: %s is shared, want %s", name, got, c.shared)
		}
		last := machines[len(machines)-1]
		if got := written(last.literal(map[bool]string{true: "vm"}[len(shared) > 0])); got != c.last {
			t.Errorf("%s: %s, want %s", name, got, c.last)
		}
	}
}

// TestSharedValuesMeanTheSame: with what VMs share written once, each VM has the values that it
// has by itself.
func TestSharedValuesMeanTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sharing := 0
	for range 300 {
		var machines []machine
		want := map[string]string{}
		for i := range 1 + random.IntN(6) {
			var values []string
			for _, name := range []string{"name", "cpu", "memory", "tags", "disk"} {
				if random.IntN(8) > 0 {
					values = append(values, fmt.Sprintf("%s=%d", name, random.IntN(2)))
				}
			}
			key := fmt.Sprintf("vm%d", i)
			if random.IntN(5) == 0 {
				key = "old" + key
			}
			m := machineOf(key, strings.Join(values, " "))
			want[key] = string(object(machineOf(key, strings.Join(values, " ")).values...).Bytes())
			machines = append(machines, m)
		}
		shared := shareValues(machines)
		if len(shared) > 0 {
			sharing++
		}
		body := "locals {\n  vm = " + string(object(shared...).Bytes()) + "\n}\nunit \"proxmox-vm\" {\n  values = {\n"
		for _, m := range machines {
			body += m.key + " = " + string(m.literal(map[bool]string{true: "vm"}[len(shared) > 0]).Bytes()) + "\n"
		}
		got, err := renderedValues([]byte(body+"  }\n}\n"), lock.UnitVM)
		if err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		for key, object := range want {
			file, diags := hclsyntax.ParseExpression([]byte(object), "", hcl.InitialPos)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if alone, _ := file.Value(nil); !alone.RawEquals(member(got, key)) {
				t.Fatalf("%s is %#v, want %#v\n%s", key, member(got, key), alone, body)
			}
		}
	}
	if sharing < 100 {
		t.Errorf("values are shared in %d of 300 stacks", sharing)
	}
}

// TestOtherVMsShared: a VM is another one although its own text is the same, if what it shares
// with others makes it so.
func TestOtherVMsShared(t *testing.T) {
	const vms = "unit \"proxmox-vm\" {\n  values = {\n    vms = {\n      a = merge(local.vm, {\n        vm_id = 300\n      })\n\n" +
		"      b = merge(local.vm, {\n        vm_id    = 301\n        efi_disk = { type = \"2m\" }\n      })\n    }\n  }\n}\n"
	stack := func(efi string) []byte {
		return []byte("locals {\n  vm = {\n    efi_disk = { type = \"" + efi + "\" }\n  }\n}\n\n" + vms)
	}
	p := &schema.Project{Stacks: []*schema.Stack{{Name: "lab", VMs: []*schema.VM{{Key: "a"}, {Key: "b"}}}}}
	rendered := &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab"}}}
	if got, err := OtherVMs(p, rendered, "lab", stack("4m"), stack("4m")); err != nil || len(got) > 0 {
		t.Errorf("the same: %+v, %v", got, err)
	}
	changed := bytes.Replace(stack("4m"), []byte("\"2m\""), []byte("\"4m\""), 1)
	if got, err := OtherVMs(p, rendered, "lab", stack("4m"), changed); err != nil || len(got) != 1 || got[0].Key != "b" {
		t.Errorf("another EFI disk of one: %+v, %v", got, err)
	}
	got, err := OtherVMs(p, rendered, "lab", stack("4m"), stack("2m"))
	if err != nil || len(got) != 1 || got[0].Key != "a" || !strings.Contains(got[0].Reason.String(), "4m 2m") {
		t.Errorf("another EFI disk: %+v, %v", got, err)
	}
}
