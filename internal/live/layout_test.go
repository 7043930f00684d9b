package live

import "testing"

// TestShorten checks that names of a class stay apart in a narrow column.
func TestShorten(t *testing.T) {
	for name, want := range map[string]string{
		"web01": "web01", "ubuntu-24-04-student-anna-21": "ubuntu-2...anna-21", "ubuntu-24-04-student-anna-22": "ubuntu-2...anna-22",
	} {
		if got := shorten(name, 18); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
