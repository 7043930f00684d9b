package replay

import (
	"regexp"
	"strings"
)

// Reason is why a difference from a recording is not a fault of the simulator.
type Reason string

// The reasons. A difference without one of them is a fault.
const (
	// Machine is a value of the recorded machine: its name resolution, its keys.
	Machine Reason = "machine"
	// Substitute is the output of a program that the recorded server ran in place
	// of the one of Proxmox VE.
	Substitute Reason = "substitute"
	// Speed is a value that depends on how fast the recorded machine was.
	Speed Reason = "speed"
	// Foreign is the effect of other work on the recorded server at the same time.
	Foreign Reason = "foreign work"
)

// explanation says why some differences are not faults: those of a scenario, or
// of all scenarios if it is empty, whose call and text match.
type explanation struct {
	reason   Reason
	scenario string
	call     *regexp.Regexp
	text     *regexp.Regexp
	why      string
}

// explanations lists every difference that is known and is not a fault. Each must
// still explain a difference of the recordings in the repository, or be removed.
func explanations() []explanation {
	rule := func(r Reason, scenario, call, text, why string) explanation {
		return explanation{r, scenario, regexp.MustCompile(call), regexp.MustCompile(text), why}
	}
	return []explanation{
		rule(Machine, "", `^GET /nodes/[^/]+/`, `hostname lookup '[^']+' failed - .*: Temporary failure in name resolution(\\n)?"`,
			"the resolver of the recorded machine does not respond"),
		rule(Machine, "", `^GET /nodes/[^/]+/certificates/info$`, `\.public-key-(bits|type): `,
			"the simulator makes elliptic-curve keys, which take no time"),
		rule(Substitute, "m03b-migrate-slow", `^GET .*:qmigrate:`, `query-backup|\.total: want 16, got 15`,
			"the recorded server ran a substitute for the emulator, which logs that it does not know query-backup"),
		rule(Substitute, "", `^GET /nodes/[^/]+/qemu/\d+/(snapshot/[^/]+/)?config$`, `\.runningcpu: `,
			"the recorded server ran the emulator without hardware virtualization"),
		rule(Speed, "m03b-migrate-slow", `^GET /nodes/pve2/storage/local/content$`, `vm-308-cloudinit\.raw\]\.size`,
			"the progress of a copy at its cancellation"),
		rule(Foreign, "g08-lifecycle", `^GET .*:(qmclone|qmdestroy):.*/log$`, `want "trying to acquire lock\.\.\."|\.total: want`,
			"other work held the lock of the storage"),
	}
}

// explain adds the reason to a difference that has one.
func explain(d *Difference) {
	for _, e := range explanations() {
		if (e.scenario == "" || e.scenario == d.Scenario) && e.call.MatchString(d.Call) && e.text.MatchString(d.Text) {
			d.Reason, d.Why = e.reason, e.why
			return
		}
	}
}

// Unused returns the explanations that explain none of the differences.
func Unused(all []Difference) []string {
	used := map[string]bool{}
	for _, d := range all {
		used[d.Why] = true
	}
	var out []string
	for _, e := range explanations() {
		if !used[e.why] {
			out = append(out, e.scenario+" "+e.why)
		}
	}
	return out
}

// family returns the recordings that a scenario belongs to: its folder, and the
// letter that its name begins with.
func family(folder, scenario string) string {
	return folder + "/" + strings.TrimRight(scenario[:1], "0123456789") + "*"
}
