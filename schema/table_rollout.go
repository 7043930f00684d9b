package schema

import "stackgen/guest"

var rolloutFields = []Field{
	{Key: "wave", Type: String, Number: true, Min: 1, Max: 9999, Format: "wave", Doc: "Number of VMs that are rebuilt at the same time, or a percentage of those that the command is about, rounded up. Without it, all."},
	{Key: "canary", Type: List, Elem: &Field{Type: String, Format: "key"}, Doc: "Keys of the VMs that are the first wave."},
	{Key: "healthy", Type: Object, Fields: healthyFields, Doc: "When a rebuilt VM is healthy. Without it, when its agent answers; where the agent of a VM is off, when the VM runs."},
	{Key: "pause", Type: String, Format: "wait", Doc: "Time between two waves. The VMs of the last one must be healthy at its end, too."},
	{Key: "on_failure", Type: String, Enum: []string{"stop"}, Default: "stop", Doc: "What happens when a VM fails or does not become healthy in time. `stop` leaves the VMs of later waves as they are."},
}

var healthyFields = []Field{
	{Key: guest.Agent, Type: Bool, Default: "true", Doc: "Its agent answers. A VM whose `agent` is off needs none."},
	{Key: "tcp", Type: List, Wrap: true, Most: 16, Elem: &Field{Type: Int, Min: 1, Max: 65535}, Doc: "TCP ports that accept a connection from here: at the address of the spec, else at one that the agent reports, else at one that the lock records."},
	{Key: guest.Timeout, Type: String, Format: "wait", Default: "5m", Doc: "How long that may take after its creation."},
}
