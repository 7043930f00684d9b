package deploy

import (
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// TestActionsInOrder checks that a summary names VMs as people count.
func TestActionsInOrder(t *testing.T) {
	a := &announcement{}
	for _, id := range []string{"b/teacher", "b/student1", "b/student10", "b/student2", "a/x"} {
		stack, key, _ := strings.Cut(id, "/")
		a.changes = append(a.changes, tf.Summary{Unit: tf.Unit{Stack: stack}, Type: finding.VM, Key: key, Action: tf.Create})
	}
	var got []string
	for _, action := range a.actions() {
		got = append(got, action.Stack+"/"+action.Name)
	}
	if want := "b/student1 b/student2 b/student10 b/teacher a/x"; strings.Join(got, " ") != want {
		t.Errorf("the order is %s, want %s", strings.Join(got, " "), want)
	}
}
