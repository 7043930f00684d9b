package starter

import "fmt"

// Lines say what the example uses of the cluster, what it needs first, and what to run
// next. in is the folder of the project, as commands take it after a space, or empty.
func (e *Example) Lines(file, in string) []string {
	template := ""
	if e.Template != nil {
		template = fmt.Sprintf("template %d, ", e.Template.VMID)
		if e.Template.Name != "" {
			template = fmt.Sprintf("template %d (%s), ", e.Template.VMID, e.Template.Name)
		}
	}
	room := ""
	if e.Free > 0 {
		room = fmt.Sprintf(" with %d GiB free", e.Free>>30)
	}
	out := []string{fmt.Sprintf("The example uses %snode %s, storage %s%s, bridge %s and VMIDs %d-%d of the cluster.",
		template, e.Node, e.Datastore, room, e.Bridge, e.First, e.First+vmidRange-1)}
	if e.Unseen {
		out = append(out, "Some VMs and containers may be hidden from this token, so one of these VMIDs may be taken: "+
			"`stackgen preflight` checks it.")
	}
	if e.Commands != nil {
		out = append(out, "The cluster has no template that can be used. "+
			"To make the one that the example names of a cloud image, run as root on node "+e.Node+":")
		for _, c := range e.Commands {
			out = append(out, "  "+c)
		}
	}
	if len(e.Obstacles) > 0 {
		out = append(out, "An apply would fail until this is solved; `stackgen preflight` says how:")
		for _, o := range e.Obstacles {
			out = append(out, "  "+o)
		}
	}
	return append(out, fmt.Sprintf("Next: read %s, then run `stackgen render%s`.", file, in))
}
