package cmd

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// buildVersion is what --version prints after the name: the version of the module, and
// the commit and its date, as far as the Go command has recorded them. A build from a
// checkout has all three; one by `go install MODULE@VERSION` has the version only, and
// one without version control has none.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	return versionOf(info)
}

// versionOf is the version that build information describes, such as
// "v1.2.0 (commit 0123456789ab of 2026-11-22T19:06:00Z)".
func versionOf(info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	recorded := map[string]string{}
	for _, s := range info.Settings {
		recorded[s.Key] = s.Value
	}
	commit, date := recorded["vcs.revision"], recorded["vcs.time"]
	if commit == "" {
		return version
	}
	changed := ""
	if recorded["vcs.modified"] == "true" {
		changed = ", with changes"
	}
	return fmt.Sprintf("%s (commit %s%s%s)", version, commit[:min(12, len(commit))], strings.TrimSuffix(" of "+date, " of "), changed)
}
