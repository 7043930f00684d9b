package cmd

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	commit := setting("vcs.revision", "0123456789abcdef0123456789abcdef01234567")
	date := setting("vcs.time", "2026-11-22T19:06:00Z")
	for want, info := range map[string]debug.BuildInfo{
		"(devel)": {},
		"v1.2.0":  {Main: debug.Module{Version: "v1.2.0"}},
		"v1.2.0 (commit 0123456789ab of 2026-11-22T19:06:00Z)": {
			Main: debug.Module{Version: "v1.2.0"}, Settings: []debug.BuildSetting{commit, date, setting("vcs.modified", "false")}},
		"(devel) (commit 0123456789ab of 2026-11-22T19:06:00Z, with changes)": {
			Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{commit, date, setting("vcs.modified", "true")}},
		"(devel) (commit abc)": {Settings: []debug.BuildSetting{setting("vcs.revision", "abc")}},
	} {
		if got := versionOf(&info); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
