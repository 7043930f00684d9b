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
