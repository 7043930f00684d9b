package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// patience is how long a test may take with a fault. A test that does not end has caught it.
const patience = 10 * time.Minute

// A runner runs tests in programs that have all faults in them, of which at most one is chosen.
type runner struct {
	root, dir, overlay string
	out                io.Writer
}

// run runs each fault with its test, which passes without it, and returns how many are caught.
func (r *runner) run(faults []site, jobs int) (caught int, err error) {
	var tests [][2]string
	for _, f := range faults {
		if test := [2]string{f.Package, f.Test}; !slices.Contains(tests, test) {
			tests = append(tests, test)
		}
		if err := r.build(f.Package); err != nil {
			return 0, err
		}
	}
	var right errgroup.Group
	right.SetLimit(jobs)
	for _, test := range tests {
		right.Go(func() error {
			if out, took, ok := r.test(test, ""); !ok || !strings.Contains(out, "--- PASS: "+test[1]+" ") {
				return fmt.Errorf("%s %s does not pass without a fault, after %s:\n%s", test[0], test[1], took, out)
			}
			return nil
		})
	}
	if err := right.Wait(); err != nil {
		return 0, err
	}
	var wrong errgroup.Group
	wrong.SetLimit(jobs)
	var count atomic.Int64
	for _, f := range faults {
		wrong.Go(func() error {
			_, took, ok := r.test([2]string{f.Package, f.Test}, f.ID)
			verdict := "SURVIVED"
			if !ok {
				verdict = "caught"
				count.Add(1)
			}
			fmt.Fprintf(r.out, "%-8s %-18s %6.1f s  %s %s\n", verdict, f.ID, took.Seconds(), f.Package, f.Test)
			return nil
		})
	}
	err = wrong.Wait()
	return int(count.Load()), err
}

// program is the path of the tests of a package.
func (r *runner) program(pkg string) string {
	return filepath.Join(r.dir, regexp.MustCompile(`\W+`).ReplaceAllString(pkg, "-")+".test")
}

// build compiles the tests of a package, once.
func (r *runner) build(pkg string) error {
	if _, err := os.Stat(r.program(pkg)); err == nil {
		return nil
	}
	c := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+r.overlay, "-o", r.program(pkg), pkg)
	c.Dir = r.root
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// test runs a test in the code with the fault id, or with none, and reports whether it passed.
func (r *runner) test(test [2]string, id string) (output string, took time.Duration, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	parts := strings.Split(test[1], "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	c := exec.CommandContext(ctx, r.program(test[0]), "-test.v", "-test.failfast", "-test.run="+strings.Join(parts, "/"))
	c.Dir = filepath.Join(r.root, test[0])
	c.Env = append(os.Environ(), "MUTANT="+id, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+r.overlay))
	c.WaitDelay = 10 * time.Second
	began := time.Now()
	out, err := c.CombinedOutput()
	if errors.Is(err, exec.ErrWaitDelay) { // the test passed; a process that it started still has its output
		err = nil
	}
	return string(out), time.Since(began), err == nil
}
