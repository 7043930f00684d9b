package browser

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"stackgen/internal/report"
	"stackgen/internal/report/sample"
)

// chromium is the browser of all tests, or nil if there is none.
var chromium *Browser

func TestMain(m *testing.M) {
	path := Find()
	if path == "" {
		fmt.Println("Browser: none. The page of stackgen drift --html was NOT tested: install chromium (package chromium in Debian), or set CHROMIUM to its path.")
		os.Exit(0)
	}
	var err error
	if chromium, err = Start(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	chromium.Close()
	fmt.Printf("Browser: %s.\n", path)
	os.Exit(code)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// page writes the page of a sample, and returns its path.
func page(t *testing.T, vms, findings int) string {
	t.Helper()
	return write(t, sample.Drift(vms, findings))
}

func write(t *testing.T, r *report.Drift) string {
	t.Helper()
	var out bytes.Buffer
	check(t, r.Print(&out, report.Options{Format: "html"}))
	file := filepath.Join(t.TempDir(), "drift.html")
	check(t, os.WriteFile(file, out.Bytes(), 0o666))
	return file
}

func open(t *testing.T, file string, how How) *Tab {
	t.Helper()
	tab, err := chromium.Open(file, how)
	check(t, err)
	t.Cleanup(tab.Close)
	return tab
}
