package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestProblems checks that an error of many resources is there once, with who has it, and that
// errors with another reason stay apart.
func TestProblems(t *testing.T) {
	var log strings.Builder
	add := func(message string, with string) {
		fmt.Fprintf(&log, "12:00:00 STDERR [vm] tofu: Error: %s\n12:00:00 STDERR [vm] tofu:   with this[%q],\n12:00:00 STDERR [vm] tofu:   on main.tf line 90, in resource:\n", message, with)
		log.WriteString("12:00:00 ERROR [vm] end\n")
	}
	for _, i := range []int{12, 3, 1} {
		add(fmt.Sprintf("HTTP 403 response - Reason: Permission check failed (/vms/234%02d, VM.Audit)", i), fmt.Sprintf("student%d", i))
	}
	add("HTTP 403 response - Reason: Permission check failed (/storage/fast, Datastore.AllocateSpace)", "teacher")
	add("HTTP 500 response", "a")
	add("HTTP 595 response", "b")
	want := `Error: HTTP 403 response - Reason: Permission check failed (/vms/23412, VM.Audit)
  the same for 3 resources: student1, student3, student12
Error: HTTP 403 response - Reason: Permission check failed (/storage/fast, Datastore.AllocateSpace)
  with this["teacher"],
  on main.tf line 90, in resource:
Error: HTTP 500 response
  with this["a"],
  on main.tf line 90, in resource:
Error: HTTP 595 response
  with this["b"],
  on main.tf line 90, in resource:`
	if got := Problems(log.String()); got != want {
		t.Errorf("the problems are\n%s", got)
	}
	if got := Problems("a\nb\n"); got != "a\nb" {
		t.Errorf("the problems of a log without errors are %q", got)
	}
}
