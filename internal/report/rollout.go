package report

import (
	"fmt"
	"strings"
)

// A Rollout is how far a rebuild of VMs of a stack is that was begun and is not done. VMs are named
// by their keys. Its JSON keys are stable.
type Rollout struct {
	Stack     string   `json:"stack"`
	Done      int      `json:"done"`
	All       int      `json:"of"`
	Template  string   `json:"template,omitempty"` // the release of a Template, or the name or VMID of what the VMs are made from
	Unhealthy []string `json:"unhealthy"`          // rebuilt, and not healthy in time
	Begun     []string `json:"begun"`              // their rebuild was begun, and is not complete
	Waiting   []string `json:"waiting"`            // of later waves
}

// text is a line about it.
func (r *Rollout) text() string {
	out := fmt.Sprintf("rebuild of %s: %d of %d", r.Stack, r.Done, r.All)
	if r.Template != "" {
		out += " on " + r.Template
	}
	if len(r.Unhealthy) > 0 {
		out += "; not healthy: " + strings.Join(r.Unhealthy, ", ")
	}
	if len(r.Begun) > 0 {
		out += "; begun: " + strings.Join(r.Begun, ", ")
	}
	return out + "; to go on: `stackgen rebuild " + r.Stack + " --continue`"
}
