package lock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stackgen/schema"
)

// TestFormerAddresses: a stack is rendered once for each spec; then every VM has
// its address and the former ones, oldest first.
func TestFormerAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		specs []string
		want  string
	}{
		"new":                          {[]string{"vms: {x: {}}"}, "default/x"},
		"unchanged":                    {[]string{"vms: {x: {}}", "vms: {x: {cores: 4}}"}, "default/x"},
		"profile":                      {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}"}, "default/x > protected/x"},
		"profile and back":             {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}", "vms: {x: {}}"}, "protected/x > default/x"},
		"there, back and there":        {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}", "vms: {x: {}}", "vms: {x: {profile: protected}}"}, "default/x > protected/x"},
		"three profiles":               {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}", "vms: {x: {profile: adopted}}"}, "default/x > protected/x > adopted/x"},
		"key":                          {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}"}, "default/x > default/y"},
		"key, line kept":               {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "renamed: {x: y}\nvms: {y: {}}"}, "default/x > default/y"},
		"key, line removed":            {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "vms: {y: {}}"}, "default/x > default/y"},
		"key and back":                 {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "renamed: {y: x}\nvms: {x: {}}"}, "default/y > default/x"},
		"key and profile at once":      {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {profile: protected}}"}, "default/x > protected/y"},
		"profile, then key":            {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}", "renamed: {x: y}\nvms: {y: {profile: protected}}"}, "default/x > protected/x > protected/y"},
		"two keys at once":             {[]string{"vms: {x: {}}", "renamed: {x: y, y: z}\nvms: {z: {}}"}, "default/x > default/z"},
		"two keys, line kept":          {[]string{"vms: {x: {}}", "renamed: {x: y, y: z}\nvms: {z: {}}", "renamed: {x: y, y: z}\nvms: {z: {}}"}, "default/x > default/z"},
		"two keys, lines in any order": {[]string{"vms: {x: {}}", "renamed: {y: z, x: y}\nvms: {z: {}}"}, "default/x > default/z"},
		"second rename":                {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "renamed: {y: z}\nvms: {z: {}}"}, "default/x > default/y > default/z"},
		"second rename, one line":      {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "renamed: {x: z}\nvms: {z: {}}"}, "default/x > default/y > default/z"},
		"second rename, line removed":  {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "vms: {y: {}}", "renamed: {y: z}\nvms: {z: {}}", "vms: {z: {}}"}, "default/x > default/y > default/z"},
		"back, other line":             {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "renamed: {x: y, y: z}\nvms: {z: {}}", "renamed: {z: x}\nvms: {x: {}}"}, "default/y > default/z > default/x"},
		"renamed, then forgotten":      {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "forgotten: [y]\nvms: {}", "vms: {}"}, "default/x > default/y"},
		"lost lock":                    {[]string{"vms: {y: {}}", "renamed: {x: y}\nvms: {y: {}}", "renamed: {x: y}\nvms: {y: {profile: protected}}"}, "default/x > default/y > protected/y"},
		"retired":                      {[]string{"vms: {x: {}}", "retired: [x]\nvms: {}"}, "default/x"},
		"protected, retired":           {[]string{"vms: {x: {profile: protected}}", "retired: [x]\nvms: {}"}, "protected/x > default/x"},
		"protected, brought back":      {[]string{"vms: {x: {profile: protected}}", "retired: [x]\nvms: {}", "vms: {x: {profile: protected}}"}, "default/x > protected/x"},
		"moved, then retired":          {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}", "retired: [x]\nvms: {}"}, "protected/x > default/x"},
		"forgotten":                    {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}", "forgotten: [x]\nvms: {}"}, "default/x > protected/x"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Lock{Version: Version}
			for _, spec := range c.specs {
				l = rendered(t, l, spec)
			}
			var got []string
			for _, e := range l.Stacks.Get("a").VMs {
				got = append(got, strings.Join(addresses(e), " > "))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %s, want %s", strings.Join(got, " "), c.want)
			}
		})
	}
}

// TestFormerAddressesOfStack: a retired stack leaves the blocks that prevent its
// destruction too.
func TestFormerAddressesOfStack(t *testing.T) {
	l := rendered(t, &Lock{Version: Version}, "vms: {x: {profile: protected}}")
	p := &schema.Project{Retired: []schema.ListItem{{Name: "a"}}}
	r := Decide(p, l, Options{Specs: map[string]string{}, Selected: func(string) bool { return true }})
	if got := strings.Join(addresses(r.Lock.Stacks.Get("a").VMs[0]), " > "); got != "protected/x > default/x" {
		t.Errorf("got %s", got)
	}
}

// TestFormerAddressesInAnyOrder renames two VMs and changes their profiles at
// random. Wherever the state has them, one chain leads to where they are now: all
// addresses that a VM ever had are in its chain and in no other one.
func TestFormerAddressesInAnyOrder(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		keys, profiles := []string{"k0", "k1"}, []string{"default", "default"}
		had := []map[string]bool{{}, {}}
		l := &Lock{Version: Version}
		for step := range 8 {
			spec := ""
			if i := random.IntN(2); step > 0 && random.IntN(2) == 0 {
				key := fmt.Sprintf("k%d", random.IntN(5))
				if free := l.Stacks.Get("a").VMs; !slices.Contains(keys, key) && !slices.ContainsFunc(free, func(e Entry[VM]) bool {
					return e.Key != keys[i] && slices.ContainsFunc(e.Value.Former, func(a Address) bool { return a.Key == key })
				}) {
					spec, keys[i] = fmt.Sprintf("renamed: {%s: %s}\n", keys[i], key), key
				}
			} else if step > 0 {
				profiles[i] = []string{"default", "protected", "adopted"}[random.IntN(3)]
			}
			spec += fmt.Sprintf("vms: {%s: {profile: %s}, %s: {profile: %s}}", keys[0], profiles[0], keys[1], profiles[1])
			l = rendered(t, l, spec)
			for i := range keys {
				had[i][profiles[i]+"/"+keys[i]] = true
			}
			for i, key := range keys {
				s := l.Stacks.Get("a")
				chain := addresses(s.VMs[s.VMs.index(key)])
				if len(chain) != len(had[i]) || slices.ContainsFunc(chain, func(a string) bool { return !had[i][a] }) {
					t.Fatalf("seed %d, step %d: %s has the chain %v; it was at %v", seed, step, key, chain, had[i])
				}
			}
		}
	}
}

func rendered(t *testing.T, old *Lock, spec string) *Lock {
	t.Helper()
	r := decided(t, old, nil, head+spec+"\n")
	if len(r.Problems) > 0 || len(r.Refusals) > 0 {
		t.Fatalf("%s: %s", spec, said(r))
	}
	body, err := r.Lock.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	l, problems := Read("lock", body)
	if l == nil {
		t.Fatal(problems)
	}
	return l
}

// addresses are those that a VM had, and the one that it has.
func addresses(e Entry[VM]) []string {
	var out []string
	for _, a := range append(slices.Clone(e.Value.Former), e.Value.Address(e.Key)) {
		out = append(out, a.String())
	}
	return out
}

// TestRenamedAndApplied: an apply drops the former address of a VM when no state has it. A line of `renamed`
// that is kept does not bring it back: render and apply would take turns.
func TestRenamedAndApplied(t *testing.T) {
	spec := head + "renamed: {x: y}\nvms: {y: {}}\n"
	l := decided(t, &Lock{Version: Version}, nil, head+"vms: {x: {}}\n").Lock
	l = decided(t, l, nil, spec).Lock
	v := l.Stacks[0].Value.VMs.Get("y")
	if len(v.Former) != 1 {
		t.Fatalf("after the rename, it is %+v", v)
	}
	v.Former, v.Fingerprint = nil, &Fingerprint{UUID: "u"} // an apply was done, and recorded
	if v = decided(t, l, nil, spec).Lock.Stacks[0].Value.VMs.Get("y"); len(v.Former) != 0 {
		t.Errorf("after the next render, it is %+v", v)
	}
}
