// Shots writes pictures of sample pages into a folder, for people to look at: at three
// sizes, light and dark, the first screen and the whole page.
//
//	go run ./shots FOLDER
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"stackgen/internal/report"
	"stackgen/internal/report/sample"
	"stackgen/test/browser"
)

// sizes are a phone, a tablet and a screen.
var sizes = []browser.How{{Width: 360, Height: 780, Phone: true}, {Width: 1024, Height: 768}, {Width: 1920, Height: 1080}}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./shots FOLDER")
		os.Exit(1)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	path := browser.Find()
	if path == "" {
		return errors.New("there is no Chromium: install one, or set CHROMIUM to its path")
	}
	b, err := browser.Start(path)
	if err != nil {
		return err
	}
	defer b.Close()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	for _, c := range [][2]int{{12, 6}, {500, 40}, {42, 0}} {
		var out bytes.Buffer
		if err := sample.Drift(c[0], c[1]).Print(&out, report.Options{Format: "html"}); err != nil {
			return err
		}
		name := filepath.Join(dir, fmt.Sprintf("drift-%d-%d", c[0], c[1]))
		if err := os.WriteFile(name+".html", out.Bytes(), 0o666); err != nil {
			return err
		}
		for _, size := range sizes {
			if err := errors.Join(shoot(b, name, size, false), shoot(b, name, size, true)); err != nil {
				return err
			}
		}
	}
	return nil
}

// shoot takes a picture of the first screen, and one of the whole page.
func shoot(b *browser.Browser, name string, how browser.How, dark bool) error {
	how.Dark = dark
	tab, err := b.Open(name+".html", how)
	if err != nil {
		return err
	}
	defer tab.Close()
	base := fmt.Sprintf("%s-%d-%s", name, how.Width, map[bool]string{false: "light", true: "dark"}[dark])
	first, err := tab.Shot(false)
	if err != nil {
		return err
	}
	// What is below the window is not drawn otherwise.
	const show = `document.querySelectorAll('.card').forEach((c) => { c.style.contentVisibility = 'visible' }), 1`
	if _, err := browser.Eval[int](tab, show); err != nil {
		return err
	}
	whole, err := tab.Shot(true)
	return errors.Join(err, os.WriteFile(base+".png", first, 0o666), os.WriteFile(base+"-whole.png", whole, 0o666))
}
