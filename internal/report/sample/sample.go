// Package sample makes drift reports of any size with every verdict, for tests of what
// prints them. It reads nothing, and makes the same report every time.
package sample

import (
	"fmt"
	"slices"

	"stackgen/internal/finding"
	"stackgen/internal/report"
)

// nodes are the nodes of the sample cluster. The last one is offline.
var nodes = []string{"pve1", "pve2", "pve3", "pve4", "pve5", "pve6"}

// Drift is a report about some VMs in two stacks, with some findings. The first findings
// have all verdicts, the worst first; some further ones are alike.
func Drift(vms, findings int) *report.Drift {
	all := members(vms)
	var fs []finding.Finding
	for i := range findings {
		c := cases[i%len(cases)]
		m := all[(i*7+3)%len(all)]
		if i >= len(cases) {
			c = common[i%len(common)]
		}
		fs = append(fs, c.finding(m, i))
	}
	finding.Sort(fs)
	r := report.NewDrift(fs, []string{"task logs of 2 nodes begin on 2026-11-01: who made earlier changes is not known"})
	r.Endpoint, r.Taken = "https://pve.lab.example:8006", "2026-11-22T16:05:00Z"
	r.VMs = all
	for i, n := range nodes[:min(len(nodes), 2+vms/20)] {
		r.Nodes = append(r.Nodes, finding.ScopeNode{Name: n, Online: i < 5})
	}
	r.Units = units(all)
	r.Coverage = finding.Coverage{Managed: vms, Unmanaged: []finding.Unmanaged{
		{VMID: 2190, Name: "test-anna", Node: "pve1", Why: "in pool lab"},
		{VMID: 2195, Name: "jenkins-old", Node: "pve2", Why: "its VMID is in 2100-2199 of homelab"},
	}, Steps: []finding.Step{finding.Do("write specs for them", "stackgen discover 2190 2195")}}
	return r
}

// members are VMs, named as people name them. One of each hundred is on no node.
func members(n int) []finding.ScopeVM {
	roles := []string{"web", "db", "worker", "cache", "build"}
	var out []finding.ScopeVM
	for i := range n {
		m := finding.ScopeVM{
			Stack: "homelab", Key: fmt.Sprintf("%s%02d", roles[i%len(roles)], i/len(roles)+1),
			VMID: 2100 + i, Node: nodes[i%min(len(nodes), 2+n/20)],
		}
		if i >= n*2/3 {
			m.Stack, m.Key = "k3s", fmt.Sprintf("w%d", i-n*2/3+1)
		}
		if i%100 == 55 {
			m.Node = ""
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b finding.ScopeVM) int { return a.VMID - b.VMID })
	return out
}

// units are a unit of VMs for each stack and a unit of records for each of some VMs.
func units(all []finding.ScopeVM) []finding.ScopeUnit {
	count := map[string]int{}
	for _, m := range all {
		count[m.Stack]++
	}
	var out []finding.ScopeUnit
	for _, stack := range []string{"homelab", "k3s"} {
		out = append(out, finding.ScopeUnit{Stack: stack, Unit: "proxmox-pool", Resources: 1, Planned: true},
			finding.ScopeUnit{Stack: stack, Unit: "proxmox-vm", Resources: count[stack], Planned: true})
	}
	for i, m := range all {
		if m.Stack == "homelab" {
			out = append(out, finding.ScopeUnit{Stack: m.Stack, Unit: "dns-" + m.Key, Resources: 1 + i%2, Planned: i%40 != 39})
		}
	}
	return out
}

// A change is a case of drift, about any VM.
type change struct {
	kind     finding.Kind
	severity finding.Severity
	reason   string
	of       finding.Change
	says     string // the evidence, with the spec's place as %s
	steps    []finding.Step
}

// finding is the case as a finding about a VM.
func (c change) finding(m finding.ScopeVM, i int) finding.Finding {
	at := &finding.Place{File: "specs/" + m.Stack + ".yaml", Line: 14 + i%60, Column: 13}
	f := finding.Finding{
		Address: finding.Address{Stack: m.Stack, Unit: "proxmox-vm", Type: finding.VM, Key: m.Key},
		Kind:    c.kind, Severity: c.severity, Reason: finding.Why(finding.Code(c.reason)), Steps: c.steps,
		Object: finding.Object{VMID: m.VMID, Node: m.Node, Name: m.Stack + "-" + m.Key},
	}
	of := c.of
	if of.Cause != finding.ByNobody {
		of.At = at
	}
	if of.Cause == finding.ByHand && i%3 != 2 {
		user := []string{"anna@pve", "root@pam"}[i%2]
		of.By = []finding.Act{{Time: fmt.Sprintf("2026-11-%02dT09:41:07Z", 1+i%21), User: user, Task: "qmconfig", Node: m.Node}}
	}
	f.Change = &of
	if c.says != "" {
		f.Because("%s", c.says)
		if of.At != nil {
			f.Evidence[0].Text = fmt.Sprintf(c.says, at)
		}
	}
	if c.kind == finding.Unknown && c.severity == finding.Failed {
		f.Address = finding.Address{Stack: m.Stack, Unit: "dns-" + m.Key, Type: finding.Unit}
		f.Object = finding.Object{Change: f.Change}
	}
	return f
}
