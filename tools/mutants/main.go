// Mutants shows that the tests catch faults in the product code. list.tsv has small faults,
// drawn by a fixed seed, each with a test that catches it; this program runs each fault
// with its test and fails if one survives. `make mutants` runs it.
//
// The faults are compiled into the tests by an overlay, so that no file changes, and one is
// chosen by the variable MUTANT.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run() error {
	only := flag.String("fault", "", "run the fault with this `ID`")
	jobs := flag.Int("jobs", runtime.NumCPU(), "run `N` tests at once")
	next := flag.Int("draw", 0, "print the next `N` faults of each area that are in no list, and run none")
	folder := flag.String("overlay", "", "write an overlay with the faults of the lists into this `folder`, and run none")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	faults, err := readLists(flag.Args())
	switch {
	case err != nil:
		return err
	case *next > 0:
		return draw(root, *next, faults)
	case *folder != "":
		return compileOnly(root, *folder, faults)
	case *only != "":
		faults = slices.DeleteFunc(faults, func(f fault) bool { return f.ID != *only })
	}
	if len(faults) == 0 {
		return errors.New("no such fault: usage: mutants [FLAGS] LIST..., from the root of the repository")
	}
	return catch(root, faults, *jobs)
}

// compileOnly writes an overlay with the faults.
func compileOnly(root, folder string, faults []fault) error {
	sites, lost, err := sitesOf(root, faults)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return lost[0].gone()
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	_, err = writeOverlay(root, folder, sites)
	return err
}

// catch runs the faults with their tests, and fails unless all are caught.
func catch(root string, faults []fault, jobs int) error {
	sites, lost, err := sitesOf(root, faults)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := writeOverlay(root, dir, sites)
	if err != nil {
		return err
	}
	began := time.Now()
	r := &runner{root: root, dir: dir, overlay: overlay, out: os.Stdout}
	caught, err := r.run(sites, jobs)
	for _, f := range lost {
		err = errors.Join(err, f.gone())
	}
	fmt.Printf("%d of %d faults were caught, in %s.\n", caught, len(faults), time.Since(began).Round(time.Second))
	if err == nil && caught < len(faults) {
		err = errors.New("not all faults were caught")
	}
	return err
}

// sitesOf returns the places of faults in the code as it is now, and the faults whose code
// is there no more.
func sitesOf(root string, faults []fault) (found []site, lost []fault, err error) {
	all := map[string]site{}
	for _, area := range areas {
		sites, err := areaSites(root, area)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range sites {
			all[s.place()] = s
		}
	}
	for _, f := range faults {
		s, ok := all[f.place()]
		if !ok {
			lost = append(lost, f)
			continue
		}
		s.fault = f
		found = append(found, s)
	}
	return found, lost, nil
}

// draw prints the next n faults of each area that are not known.
func draw(root string, n int, known []fault) error {
	have := map[string]bool{}
	for _, f := range known {
		have[f.place()] = true
	}
	fmt.Println(header)
	for _, area := range areas {
		sites, err := areaSites(root, area)
		if err != nil {
			return err
		}
		sites = slices.DeleteFunc(sites, func(s site) bool { return have[s.place()] })
		for _, s := range sites[:min(n, len(sites))] {
			fmt.Println(s.row())
		}
	}
	return nil
}
