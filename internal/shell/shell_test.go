package shell

import "testing"

func TestWord(t *testing.T) {
	for text, want := range map[string]string{
		"/srv/lab/stacks/web-1.x": "/srv/lab/stacks/web-1.x",
		"":                        "''",
		"/srv/my lab":             "'/srv/my lab'",
		"it's $HOME":              `'it'\''s $HOME'`,
		"UPID:pve1:root@pam!ci:":  "'UPID:pve1:root@pam!ci:'",
		"ä":                       "'ä'",
	} {
		if got := Word(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestIn(t *testing.T) {
	for folder, want := range map[string]string{"": "stackgen render", "/srv/my lab": "(cd '/srv/my lab' && stackgen render)"} {
		if got := In(folder, "stackgen render"); got != want {
			t.Errorf("%q: %s, want %s", folder, got, want)
		}
	}
}
