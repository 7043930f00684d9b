// Timed is built under the names of other programs, in a folder that comes first on PATH.
// It runs the program of its name from the rest of PATH, and appends to the file TIMED_LOG
// what ran, from what it was started, and from when to when, in nanoseconds.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "timed:", err)
		os.Exit(125)
	}
	os.Exit(code)
}

func run() (int, error) {
	name := filepath.Base(os.Args[0])
	what := name
	if name == "stackgen" && len(os.Args) > 1 {
		what = os.Args[1]
	}
	path, err := program(name)
	if err != nil {
		return 0, err
	}
	c := exec.Command(path, os.Args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), "TIMED_IN="+what)
	from := os.Getenv("TIMED_IN")
	if from == "" {
		from = "-"
	}
	began := time.Now()
	err = c.Run()
	line := fmt.Sprintf("%s %s %d %d\n", what, from, began.UnixNano(), time.Now().UnixNano())
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	log, err := os.OpenFile(os.Getenv("TIMED_LOG"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	if _, err := log.WriteString(line); err != nil {
		return 0, errors.Join(err, log.Close())
	}
	return c.ProcessState.ExitCode(), log.Close()
}

// program is the program of a name in the folders of PATH after that of this program.
func program(name string) (string, error) {
	_, rest, ok := strings.Cut(os.Getenv("PATH"), os.Getenv("TIMED_DIR")+string(filepath.ListSeparator))
	if !ok {
		return "", errors.New("the folder TIMED_DIR is not on PATH")
	}
	for _, dir := range filepath.SplitList(rest) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return filepath.Join(dir, name), nil
		}
	}
	return "", fmt.Errorf("%s is not on PATH", name)
}
