package report

import (
	"fmt"
	"io"
	"strings"
)

// Outputs is what a command did with the outputs of stacks.
type Outputs struct {
	Root       string
	Stacks     []string
	VMs        int
	Containers int
	Files      int // of all stacks
	Changes    []Change
	Warnings   []string
	Skipped    []string // stacks that were selected and do not ask for files
}

// Print prints every file that was written to out, and the rest to errOut.
func (r *Outputs) Print(out, errOut io.Writer) error {
	if err := Changes(out, r.Root, r.Changes); err != nil {
		return err
	}
	if err := Printf(errOut, "wrote the outputs of %s, %s (%s): %s written, %d unchanged\n",
		Count(len(r.Stacks), "stack"), guestsOf(r.VMs, r.Containers),
		strings.Join(r.Stacks, ", "), Count(len(r.Changes), "file"), r.Files-len(r.Changes)); err != nil {
		return err
	}
	if err := Warnings(errOut, r.Warnings); err != nil || len(r.Skipped) == 0 {
		return err
	}
	return Printf(errOut, "note: not written, because their specs have no outputs.registration: %s; name a spec to write its outputs\n",
		strings.Join(r.Skipped, ", "))
}

// Warnings prints what a person should know about a result.
func Warnings(w io.Writer, warnings []string) error {
	for _, text := range warnings {
		if err := Printf(w, "warning: %s\n", text); err != nil {
			return err
		}
	}
	return nil
}

// Data prints what another program reads, in any format: it keeps all values, except
// for characters that a terminal obeys, or that change how others are read.
func Data(w io.Writer, body []byte) error {
	var out strings.Builder
	for _, r := range string(body) {
		if r != '\n' && r != '\t' && obeyed(r) {
			r = '\ufffd'
		}
		out.WriteRune(r)
	}
	_, err := fmt.Fprint(w, out.String())
	return err
}

// obeyed reports whether a terminal may obey a character instead of showing it.
func obeyed(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 ||
		r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
