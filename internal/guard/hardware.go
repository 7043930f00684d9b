package guard

import (
	"slices"
	"strings"

	"stackgen/internal/hardware"
)

// unlike says what the first plan after an import would change, since the spec
// says another hardware than the VM has. That stops nothing: it may be what is
// wanted. But a clone has what its template had, and a plan after a lost state
// takes away what the spec does not name. Only what would replace the VM stops.
func (s *subject) unlike() {
	if s.match.VM == nil || s.guest.Config == nil || len(s.guest.Config.Raw) == 0 || s.profile == nil || s.profile.IgnoreAll {
		return
	}
	s.Differs = hardware.Read(s.guest).Differences(s.match.VM, s.profile.Ignores)
	var lines, mend []string
	stays := false
	if slices.ContainsFunc(s.Differs, func(d hardware.Difference) bool { return d.Replaces }) {
		s.Exit, s.Import = ExitStop, ""
	}
	for i := range s.Differs {
		d := &s.Differs[i]
		s.because("%s", d.Says())
		mend = append(mend, d.Mend...)
		if d.Line != "" {
			lines = append(lines, d.Line)
		}
		stays = stays || d.Line == "" && len(d.Mend) == 0 && !strings.HasPrefix(d.Config, "no ") // what it has not is only to be taken out
	}
	if len(lines) > 0 {
		what := "to keep what it has, write into " + s.where()
		if strings.HasPrefix(s.match.VM.Path, "vms.") { // others have no entry of their own to write into
			what += ", or run `stackgen adopt --match " + s.Stack + "/" + s.Key + "`"
		}
		s.next(what, lines...)
	}
	if len(mend) > 0 {
		s.next("or change the VM instead, on any node, then look again", mend...)
	}
	if stays {
		s.next("to keep what no spec can say, leave its hardware alone: in "+s.where(), "profile: adopted")
	}
}
