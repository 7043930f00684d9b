package guard

import (
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestAddresses: the state has web1 at an address, and web1 has a profile and
// former addresses.
func TestAddresses(t *testing.T) {
	renamed := lock.Address{Profile: "default", Key: "old"}
	for name, c := range map[string]struct {
		at, key string // in state
		vm      lock.VM
		want    finding.Kind
		moves   string // the addresses of the state mv that is printed
	}{
		"where it is expected":             {"this", "web1", lock.VM{}, finding.Managed, ""},
		"at a former profile":              {"this", "web1", lock.VM{Profile: "protected", Former: []lock.Address{{Profile: "default", Key: "web1"}}}, finding.Managed, ""},
		"at a former key":                  {"this", "old", lock.VM{Former: []lock.Address{renamed}}, finding.Managed, ""},
		"at a profile not recorded":        {"adopted", "web1", lock.VM{Profile: "protected", Former: []lock.Address{{Profile: "default", Key: "web1"}}}, finding.WouldDestroy, "adopted web1 > protected web1"},
		"at a former key, another profile": {"protected", "old", lock.VM{Former: []lock.Address{renamed}}, finding.WouldDestroy, "protected old > default web1"},
		"retired, and on its way":          {"protected", "web1", lock.VM{Status: lock.Retired, Profile: "protected", Former: []lock.Address{{Profile: "protected", Key: "web1"}}}, finding.Retiring, ""},
		"retired, and protected":           {"protected", "web1", lock.VM{Status: lock.Retired, Profile: "protected"}, finding.WouldDestroy, "protected web1 > default web1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := inState(c.key, 100)
			r.Address, r.Name = schema.VMAddress(c.at, c.key), "web1"
			in := input([]tf.Resource{r}, newGuest(100, "web1"))
			entry := in.Lock.Stacks[0].Value.VMs.Get("web1")
			c.vm.VMID, c.vm.Node = entry.VMID, entry.Node
			*entry = c.vm
			vs := Judge(in)
			if len(vs) != 3 || vs[0].Kind != c.want {
				t.Fatalf("got %s: %v, want web1 %s", words(vs), vs[0].Evidence, c.want)
			}
			lines := ""
			for _, n := range vs[0].Steps {
				for _, l := range n.Lines {
					lines += l.String() + "\n"
				}
			}
			want := ""
			if from, to, ok := strings.Cut(c.moves, " > "); ok {
				address := func(s string) string {
					profile, key, _ := strings.Cut(s, " ")
					return "'" + schema.VMAddress(profile, key) + "'"
				}
				want = "terragrunt state mv " + address(from) + " " + address(to)
			}
			if !strings.Contains(lines, want) || want == "" && strings.Contains(lines, "state mv") {
				t.Errorf("printed\n%s\nwant %q", lines, want)
			}
		})
	}
}
