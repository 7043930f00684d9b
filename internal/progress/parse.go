package progress

import (
	"encoding/json"
	"strconv"
	"strings"

	"stackgen/guest"
)

// kinds are the resource types that have rows.
var kinds = map[string]Kind{
	guest.VMResource:        VM,
	guest.ContainerResource: VM,
	guest.PoolResource:      Pool,
	guest.RecordResource:    Record,
}

// actions are OpenTofu's words for what it does with a resource.
var actions = map[string]Action{
	"create": Create, "update": Change, "delete": Destroy, "import": Import, "move": Move, "replace": Create,
}

// A streamLine is one line of OpenTofu's stream, as far as it is used here.
type streamLine struct {
	Type string `json:"type"`
	Hook struct {
		Resource streamResource `json:"resource"`
		Action   string         `json:"action"`
	} `json:"hook"`
	Changes    Counts `json:"changes"`
	Diagnostic struct {
		Severity string `json:"severity"`
		Summary  string `json:"summary"`
		Detail   string `json:"detail"`
		Address  string `json:"address"`
	} `json:"diagnostic"`
}

type streamResource struct {
	Addr string `json:"addr"`
}

// Parse reads one line of the stream that OpenTofu 1.12 writes with -json-into, for a
// unit of a stack. ok is false for lines that are not about a VM, pool or record, for
// types of lines that it does not know, and for what is no line of the stream.
func Parse(stack, unit string, line []byte) (e Event, ok bool) {
	var l streamLine
	if json.Unmarshal(line, &l) != nil {
		return Event{}, false
	}
	switch l.Type {
	case "change_summary":
		return Event{Type: Summary, Target: Target{Kind: Unit, Stack: stack, Unit: unit}, Counts: l.Changes}, true
	case "diagnostic":
		return problem(stack, unit, l), l.Diagnostic.Severity == "error"
	}
	types := map[string]Type{"apply_start": Began, "apply_progress": Working, "apply_complete": Ended, "apply_errored": Failed}
	e.Type, ok = types[l.Type]
	if !ok {
		return Event{}, false
	}
	e.Target, ok = resource(stack, unit, l.Hook.Resource.Addr)
	if !ok {
		return Event{}, false
	}
	e.Action, ok = actions[l.Hook.Action]
	return e, ok // a read has no row
}

// problem is the text of an error: of a VM, pool or record if the line has an address,
// and otherwise of the unit.
func problem(stack, unit string, l streamLine) Event {
	e := Event{Type: Problem, Target: Target{Kind: Unit, Stack: stack, Unit: unit}}
	if of, ok := resource(stack, unit, l.Diagnostic.Address); ok {
		e.Target = of
	}
	e.Text = strings.TrimSpace(l.Diagnostic.Summary)
	if detail := strings.TrimSpace(l.Diagnostic.Detail); detail != "" && detail != e.Text {
		e.Text += "\n" + detail
	}
	return e
}

// resource is what a resource address of a unit is about, such as
// proxmox_virtual_environment_vm.default["web01"]. ok is false for other resources, and for
// containers that a module of VMs has: no spec knows them.
func resource(stack, unit, address string) (t Target, ok bool) {
	rest := address
	for strings.HasPrefix(rest, "module.") { // of a catalog with modules in its units
		_, after, found := strings.Cut(strings.TrimPrefix(rest, "module."), ".")
		if !found {
			return Target{}, false
		}
		rest = after
	}
	name, index, indexed := strings.Cut(rest, "[")
	resource := name[:max(strings.IndexByte(name, '.'), 0)]
	kind, ok := kinds[resource]
	index, closed := strings.CutSuffix(index, "]")
	if !ok || !indexed || !closed || resource == guest.ContainerResource && unit != guest.ContainerUnit {
		return Target{}, false
	}
	key, err := strconv.Unquote(index)
	t = Target{Kind: kind, Stack: stack, Unit: unit, Key: key}
	if resource == guest.ContainerResource {
		t.Guest = guest.Container
	}
	return t, err == nil && key != ""
}
