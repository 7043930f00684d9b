package proxmox

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// A program that failed in a task, such as `command '/usr/bin/qemu-img resize -f raw ...' failed: exit code 1` or
// `start failed: QEMU exited with code 1`. The command of a start has more than a thousand characters.
// Source: run_command of PVE::Tools, vm_start_nolock of PVE::QemuServer.
var (
	command = regexp.MustCompile(`(?s)command '(\S+) .*' failed: `)
	program = regexp.MustCompile(`exit(?:ed with)? code \d+\s*$`)
)

// Reason is why a task failed, with its exit. A program says that in the log of its task, and the exit has
// only its code. Of one whose process was killed, Proxmox VE knows nothing.
func (p *Power) Reason(ctx context.Context, t RunningTask, exit string) string {
	if exit == "unexpected status" {
		return "its task has died on node " + t.Node + ": " + t.UPID
	}
	if !program.MatchString(exit) {
		return reasonOf(exit, nil)
	}
	return reasonOf(exit, p.log(context.WithoutCancel(ctx), t))
}

// reasonOf is an exit with the last line of a log that does not repeat it.
func reasonOf(exit string, log []string) string {
	short := command.ReplaceAllString(exit, "command '$1 ...' failed: ")
	for _, line := range slices.Backward(log) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "TASK ERROR: ") {
			return short + ": " + line
		}
	}
	return short
}
