package deploy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackgen/guest"
	"stackgen/internal/guard"
	"stackgen/internal/health"
	"stackgen/internal/project"
	"stackgen/internal/rollout"
	"stackgen/schema"
)

// A Rollout is what a command line says of waves, which overrides the specs. Empty fields are left
// to them.
type Rollout struct {
	Wave    string   // a number or a percentage
	Canary  []string // each as STACK/KEY, or as a KEY of each stack that has it
	Healthy []string // agent, tcp:PORT, or only none
	Timeout string   // for a VM to become healthy
	Pause   string
	Flags   string // these options, to be repeated
}

// given reports whether a command line says anything of waves.
func (o *Rollout) given() bool {
	return o.Wave != "" || len(o.Canary)+len(o.Healthy) > 0 || o.Timeout != "" || o.Pause != ""
}

// A waving is how the VMs of one stack are rebuilt.
type waving struct {
	size   rollout.Size
	canary []string     // keys
	rule   *health.Rule // nil without a check
	pause  time.Duration
}

// wavings says for each selected stack how its VMs are rebuilt. vms are all of them, as STACK/KEY. A
// canary that a rollout has named which goes on need not be one of them.
func (o *Rollout) wavings(p *project.Project, vms []string, goesOn bool) (map[string]waving, error) {
	for _, c := range o.Canary {
		if !goesOn && !slices.ContainsFunc(vms, func(vm string) bool { return isCanary(vm, c) }) {
			return nil, fmt.Errorf("--canary %s is none of the VMs to rebuild", c)
		}
	}
	out := map[string]waving{}
	for _, s := range p.SelectedStacks() {
		w, err := o.waving(s)
		if err != nil {
			return nil, fmt.Errorf("rollout of %s: %w", s.Name, err)
		}
		for _, vm := range vms {
			stack, key, _ := strings.Cut(vm, "/")
			if stack == s.Name && slices.ContainsFunc(o.Canary, func(c string) bool { return isCanary(vm, c) }) {
				w.canary = append(w.canary, key)
			}
		}
		out[s.Name] = w
	}
	return out, nil
}

// isCanary reports whether a VM, as STACK/KEY, is the one that a word names.
func isCanary(vm, word string) bool { return vm == word || strings.HasSuffix(vm, "/"+word) }

// waving is how the VMs of a stack are rebuilt, without the canaries of the command line.
func (o *Rollout) waving(s *schema.Stack) (w waving, err error) {
	spec := s.Rollout
	if spec == nil {
		if !o.given() {
			return w, nil
		}
		spec = schema.DefaultRollout()
	}
	if len(o.Canary) == 0 {
		for _, c := range spec.Canary {
			w.canary = append(w.canary, c.Name)
		}
	}
	if w.size, err = rollout.ParseSize(cmp.Or(o.Wave, spec.Wave)); err != nil {
		return w, err
	}
	if w.pause, err = duration(cmp.Or(o.Pause, spec.Pause, "0s")); err != nil {
		return w, err
	}
	w.rule = &health.Rule{Agent: spec.Agent, TCP: spec.TCP}
	if w.rule.Timeout, err = duration(cmp.Or(o.Timeout, spec.Timeout)); err != nil {
		return w, err
	}
	if len(o.Healthy) > 0 {
		w.rule.Agent, w.rule.TCP, err = healthy(o.Healthy)
	}
	return w, err
}

// duration reads a duration such as 10m.
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration: write it as 30s, 10m or 1h", text)
	}
	return d, nil
}

// healthy reads what makes a VM healthy.
func healthy(words []string) (agent bool, tcp []int, err error) {
	for _, w := range words {
		port, isPort := strings.CutPrefix(w, "tcp:")
		n, bad := strconv.Atoi(port)
		switch {
		case w == guest.Agent:
			agent = true
		case w == "none" && len(words) == 1:
		case isPort && bad == nil && n >= 1 && n <= 65535:
			tcp = append(tcp, n)
		default:
			return false, nil, fmt.Errorf("--healthy %s: give agent, tcp:PORT, or only none", w)
		}
	}
	return agent, tcp, nil
}

// cut cuts the VMs that are replaced in a stack into waves.
func (b *rebuilding) cut(w waving, again []string, all int) {
	order := rollout.Order{Keys: b.keys(), Again: of(b.stack.name, again), Canary: w.canary, Size: w.size, All: all}
	b.waving, b.waves = w, b.apart(order.Waves())
}

// only are the VMs of one wave.
func (b *rebuilding) only(w rollout.Wave) *rebuilding {
	out := *b
	out.Replaced = slices.DeleteFunc(slices.Clone(b.Replaced), func(vm guard.Replacement) bool { return !slices.Contains(w.Keys, vm.Key) })
	return &out
}

// waveName is what a person reads of a wave, or empty if there is one only.
func (b *rebuilding) waveName(i int) string {
	if len(b.waves) < 2 {
		return ""
	}
	name := fmt.Sprintf("wave %d of %d", i+1, len(b.waves))
	switch {
	case b.waves[i].Canary:
		name += " (canary)"
	case b.waves[i].Again:
		name += " (again)"
	}
	return name
}

// waveOf is the wave of a VM.
func (b *rebuilding) waveOf(key string) int {
	return slices.IndexFunc(b.waves, func(w rollout.Wave) bool { return slices.Contains(w.Keys, key) })
}

// says is what makes VMs healthy, for people. agents: one of them has an agent.
func (w waving) says(agents bool) string {
	var parts []string
	if w.rule.Agent && agents {
		parts = append(parts, "its agent answers")
	}
	for _, p := range w.rule.TCP {
		parts = append(parts, fmt.Sprintf("TCP port %d is open", p))
	}
	if len(parts) == 0 {
		parts = append(parts, "it runs")
	}
	text := fmt.Sprintf("a VM is healthy if %s, within %s", strings.Join(parts, " and "), w.rule.Timeout)
	if w.pause > 0 {
		text += fmt.Sprintf("; %s between two waves", w.pause)
	}
	return text
}
