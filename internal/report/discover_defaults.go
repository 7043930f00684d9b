package report

import (
	"fmt"
	"io"
	"strings"

	"stackgen/internal/cluster"
)

// PrintWritten prints the result of one VM.
func PrintWritten(w io.Writer, d cluster.Written) error {
	text := "written: " + strings.Join(d.Entries, ", ")
	switch {
	case d.Error != "":
		text = "not written: " + d.Error
	case len(d.Waits) > 0:
		text += "; waits for a restart: " + strings.Join(d.Waits, ", ")
	}
	return Printf(w, "%s on %s: %s\n", line(named(d)), line(d.Node), line(text))
}

func named(d cluster.Written) string {
	return strings.TrimSpace(fmt.Sprintf("VM %d %s", d.VMID, d.Name))
}

// entries counts entries of configurations.
func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// PrintDefaults says how many of the VMs have their defaults now, and which of these wait for
// a restart.
func (r *Discover) PrintDefaults(w io.Writer, of int) error {
	written, n := 0, 0
	var waits []string
	for _, d := range r.Defaults {
		if d.Error != "" {
			continue
		}
		written++
		n += len(d.Entries)
		if len(d.Waits) > 0 {
			waits = append(waits, fmt.Sprintf("%s (%s)", named(d), strings.Join(d.Waits, ", ")))
		}
	}
	text := fmt.Sprintf("written: %s of %s", entries(n), Count(written, "VM"))
	if len(waits) > 0 {
		text += "; waits for a restart: " + strings.Join(waits, ", ")
	}
	if err := Printf(w, "%s\n", text); err != nil || written == of {
		return err
	}
	return Printf(w, "not written: %s; run the same command again\n", Count(of-written, "VM"))
}
