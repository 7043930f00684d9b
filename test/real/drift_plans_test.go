//go:build unix

package real

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// A planChange is one entry of resource_changes or resource_drift.
type planChange struct {
	Address, Mode string
	Previous      string `json:"previous_address"`
	Change        struct {
		Actions       []string
		Before, After any
		Unknown       any `json:"after_unknown"`
		Importing     any
	}
}

// covers fails unless drift has a finding for every attribute that a plan changes or that
// its refresh has changed. It reads the plans without the code of the product.
func (w *driftWorld) covers(dir string, report *driftReport) {
	w.Helper()
	said := map[string][]string{}
	for _, f := range report.Findings {
		said[f.Resource] = append(said[f.Resource], withoutDevices(f.Change.Attribute))
	}
	leaves := 0
	files, err := filepath.Glob(filepath.Join(dir, ".terragrunt-stack", "*", "tfplan.json"))
	if err != nil || len(files) != 3 {
		w.Fatalf("the stack has the plans %v (%v)", files, err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		check(w.T, err)
		var plan struct {
			Changes []planChange `json:"resource_changes"`
			Drift   []planChange `json:"resource_drift"`
		}
		check(w.T, json.Unmarshal(body, &plan))
		for _, c := range append(plan.Changes, plan.Drift...) {
			if c.Mode != "managed" {
				continue
			}
			whole := len(c.Change.Actions) > 1 || !slices.Contains([]string{"update", "no-op"}, c.Change.Actions[0])
			if (whole || c.Change.Importing != nil || c.Previous != "") && !slices.Contains(said[c.Address], "") {
				w.Errorf("%s: nothing is said about %v", c.Address, c.Change.Actions)
			}
			if whole {
				continue
			}
			for _, leaf := range changedLeaves("", c.Change.Before, c.Change.After, c.Change.Unknown) {
				leaves++
				if !slices.ContainsFunc(said[c.Address], func(s string) bool { return s == leaf || s != "" && strings.HasPrefix(leaf, s+".") }) {
					w.Errorf("%s: nothing is said about %s", c.Address, leaf)
				}
			}
		}
	}
	if leaves == 0 {
		w.Error("no plan changes an attribute")
	}
	w.Logf("%d changes of attributes are covered", leaves)
}

var deviceOfAttribute = regexp.MustCompile(`\.(scsi|virtio|sata|ide|net|usb|serial|hostpci|numa)?[0-9]+\b`)

// withoutDevices removes the numbers and names of devices: disk.scsi0.size is disk.size.
func withoutDevices(attribute string) string {
	return deviceOfAttribute.ReplaceAllString(attribute, "")
}

// changedLeaves are the paths of the values that differ, without the numbers of lists.
func changedLeaves(path string, before, after, unknown any) (out []string) {
	join := func(key string) string { return strings.TrimPrefix(path+"."+key, ".") }
	b, isMap := before.(map[string]any)
	a, _ := after.(map[string]any)
	u, _ := unknown.(map[string]any)
	if isMap || a != nil {
		keys := map[string]bool{}
		for _, m := range []map[string]any{a, b, u} {
			for key := range m {
				keys[key] = true
			}
		}
		for key := range keys {
			out = append(out, changedLeaves(join(key), b[key], a[key], u[key])...)
		}
		return out
	}
	bs, isList := before.([]any)
	as, _ := after.([]any)
	us, _ := unknown.([]any)
	if isList || as != nil {
		at := func(list []any, i int) any {
			if i < len(list) {
				return list[i]
			}
			return nil
		}
		for i := range max(len(as), len(bs), len(us)) {
			out = append(out, changedLeaves(path, at(bs, i), at(as, i), at(us, i))...)
		}
		return out
	}
	if unknown == true || !reflect.DeepEqual(before, after) && !(empty(before) && empty(after)) {
		return []string{path}
	}
	return nil
}

// empty reports whether a value says nothing.
func empty(v any) bool { return v == nil || v == "" || reflect.DeepEqual(v, []any{}) }

// edited runs drift on plans that no real provider of this version makes: they are edited.
func (w *driftWorld) edited(dir string) []driftCase {
	w.Helper()
	file := filepath.Join(dir, ".terragrunt-stack", "proxmox-vm", "tfplan.json")
	body, err := os.ReadFile(file)
	check(w.T, err)
	edit := func(c driftCase, change func(map[string]any)) driftCase {
		var plan map[string]any
		check(w.T, json.Unmarshal(body, &plan))
		done := false
		plan["resource_drift"] = []any{}
		for _, r := range plan["resource_changes"].([]any) {
			if own := r.(map[string]any); own["index"] == c.key {
				change(own["change"].(map[string]any))
				done = true
			}
		}
		if !done {
			w.Fatalf("no change of %s", c.key)
		}
		text, err := json.Marshal(plan)
		check(w.T, err)
		to := filepath.Join(w.TempDir(), "plan.json")
		check(w.T, os.WriteFile(to, text, 0o600))
		w.check(&c, w.drift("--plan", "live/proxmox-vm="+to).of(c.key))
		return c
	}
	return []driftCase{
		edit(driftCase{name: "an attribute that stackgen does not know (edited plan)", key: "same", want: []string{"unknown blocked spec: quantum"}}, func(c map[string]any) {
			c["actions"] = []string{"update"}
			c["before"].(map[string]any)["quantum"], c["after"].(map[string]any)["quantum"] = "off", "on"
		}),
		edit(driftCase{name: "an attribute that the profile ignores (edited plan)", key: "same", want: []string{"unknown blocked spec: started@VM"}}, func(c map[string]any) {
			c["actions"] = []string{"update"}
			c["after"].(map[string]any)["started"] = false
		}),
		edit(driftCase{name: "a disk with the volume of another one (edited plan)", key: "same", want: []string{"disk-loss blocked spec: disk.scsi9@[{interface: scsi0"}}, func(c map[string]any) {
			c["actions"] = []string{"update"}
			after := c["after"].(map[string]any)
			second := maps.Clone(after["disk"].([]any)[0].(map[string]any))
			second["interface"] = "scsi9"
			after["disk"] = append(slices.Clone(after["disk"].([]any)), second)
		}),
		edit(driftCase{name: "an action that stackgen does not know (edited plan)", key: "same", want: []string{"unknown blocked unknown: all of it"}}, func(c map[string]any) { c["actions"] = []string{"teleport"} }),
		edit(driftCase{name: "a forget and a create (edited plan)", key: "same", want: []string{"replace blocked spec: all of it"}}, func(c map[string]any) { c["actions"] = []string{"create", "forget"} }),
	}
}

// offline disconnects a node: the provider cannot plan the unit.
func (w *driftWorld) offline() driftCase {
	w.Helper()
	disconnectNodes("pve3")(w.faultCase)
	c := driftCase{name: "node offline", key: "proxmox-vm", want: []string{"unknown failed unknown: all of it"}}
	w.check(&c, w.drift().of(c.key))
	check(w.T, w.sim.SetNode("pve3", pvesim.NodeOnline))
	return c
}

// unsigned runs drift with a secret that the DNS server refuses, and without one: the
// provider cannot plan the unit, and no error has the secret.
func (w *driftWorld) unsigned() (out []driftCase) {
	w.Helper()
	tools := w.tools
	defer func() { w.tools = tools }()
	for _, c := range []struct{ name, secret string }{{"secret of the DNS server is wrong", "d3Jvbmd3cm9uZw=="}, {"secret of the DNS server is not set", ""}} {
		w.tools = tools.With("DNS_UPDATE_KEYSECRET=" + c.secret)
		dns := driftCase{name: c.name, key: "dns", want: []string{"unknown blocked unknown: all of it", "unknown failed unknown: all of it"}}
		report := w.drift()
		w.check(&dns, report.of("dns", "site.lab.test."))
		for _, f := range report.Findings {
			if c.secret != "" && strings.Contains(fmt.Sprintf("%+v", f), c.secret) {
				w.Errorf("the secret is in %+v", f)
			}
		}
		out = append(out, dns)
	}
	return out
}

const driftTableHead = "<!-- Generated by UPDATE=1 go test ./test/real -run TestDriftTable. Do not edit. -->\n" + `# What drift says about each case

Each row is one VM of one stack, in which something happened after the last apply. The plans are those of the real provider against
a simulated cluster, unless the row says that its plan was edited. A verdict that is blocked ends drift with exit code 3. The cause is
who made the difference: by hand, the spec, both, or nobody, where it is only read. After @ is the text of the spec that the finding points to.

| what happened | what drift says |
|---|---|
`

// driftTable is the table of cases and verdicts.
func driftTable(cases []driftCase) string {
	var b strings.Builder
	b.WriteString(driftTableHead)
	for _, c := range cases {
		says := strings.Join(c.says, "<br>")
		if says == "" {
			says = "nothing"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", c.name, strings.ReplaceAll(says, "|", `\|`))
	}
	return b.String()
}

// compareDocs compares a generated page of the documentation, or writes it.
func compareDocs(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(repository, "docs", name)
	if os.Getenv("UPDATE") != "" {
		check(t, os.WriteFile(file, []byte(text), 0o666))
		return
	}
	if body, err := os.ReadFile(file); err != nil || string(body) != text {
		t.Errorf("%s differs from the results; UPDATE=1 go test ./test/real -run TestDriftTable writes it", file)
	}
}
