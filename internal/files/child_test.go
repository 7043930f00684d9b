package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// childEnv, when set, makes the test program run one job on DISK_ROOT instead of the tests.
const childEnv = "DISK_CHILD"

// The state before a render, the state after it, and the user's files in both.
var (
	usersTree = tree{
		"modules/vm/hand.tf":               "mine\n",
		"modules/old/kept/note.md":         "mine\n",
		"units/vm/.terraform.lock.hcl":     ours("the user's"),
		"stacks/lab/imports/vm.tf":         ours("another command's"),
		"stacks/lab/.terraform/modules.tf": ours("a tool's"),
	}
	earlierTree = tree{
		"stackgen.lock.yaml":      ours("lock 1"),
		"root.hcl":                ours("root 1"),
		"modules/vm/main.tf":      ours("main 1"),
		"modules/vm/same.tf":      ours("same"),
		"modules/old/deep/a.tf":   ours("stale"),
		"modules/old/deep/b/c.tf": ours("stale"),
		"units/old/terragrunt":    ours("stale"),
		"stacks/lab/stack.hcl":    ours("lab"),
	}
	laterTree = tree{
		"stackgen.lock.yaml":       ours("lock 2"),
		"root.hcl":                 ours("root 2"),
		"modules/vm/main.tf":       ours("main 2"),
		"modules/vm/same.tf":       ours("same"),
		"modules/new/deep/main.tf": ours("new"),
		"units/new/terragrunt.hcl": ours("new"),
		"stacks/lab/stack.hcl":     ours("lab"),
	}
)

func TestMain(m *testing.M) {
	job := os.Getenv(childEnv)
	if job == "" {
		os.Exit(m.Run())
	}
	if err := childJob(job, os.Getenv("DISK_ROOT")); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func childJob(job, root string) error {
	switch name, arg, _ := strings.Cut(job, " "); name {
	case "render":
		changes, err := Compare(root, []File{{Path: "modules/a.tf", Body: []byte(ours("new"))}}, options())
		if err != nil {
			return err
		}
		return Apply(root, changes)
	case "stop-at":
		n, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		return stopAt(root, n)
	case "alternate":
		return alternate(root)
	case "compete":
		return compete(root, arg)
	}
	return fmt.Errorf("unknown job %q", job)
}

// stopAt brings root to laterTree and kills itself before the n-th change to the file system.
func stopAt(root string, n int) error {
	changes, err := Compare(root, wanted(laterTree), options())
	if err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return apply(root, changes, func() {
		if n--; n == 0 {
			_ = self.Kill()
			select {} // until the signal arrives
		}
	})
}

// alternate renders two large sets alternately without end, with a byte on stdout before every change to the file system.
func alternate(root string) error {
	for {
		for _, text := range []string{"left", "right"} {
			changes, err := Compare(root, wanted(bigTree(text)), options())
			if err != nil {
				return err
			}
			var printing error
			err = apply(root, changes, func() { _, printing = os.Stdout.Write([]byte{'.'}) })
			if err := errors.Join(err, printing); err != nil {
				return err
			}
		}
	}
}

// compete renders one set repeatedly under the lock, and checks each time that no other is mixed in.
func compete(root, text string) error {
	for range 20 {
		unlock, err := Lock(context.Background(), root, nil)
		if err != nil {
			return err
		}
		want := wanted(smallTree(text))
		changes, err := Compare(root, want, options())
		if err != nil {
			return err
		}
		if err := Apply(root, changes); err != nil {
			return err
		}
		left, err := Compare(root, want, options())
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return fmt.Errorf("%s: mixed: %s", text, kinds(left))
		}
		if err := unlock(); err != nil {
			return err
		}
	}
	return nil
}

func smallTree(text string) tree {
	files := tree{"root.hcl": ours(text)}
	for i := range 30 {
		files[fmt.Sprintf("stacks/s%d/stack.hcl", i)] = ours(text)
		files[fmt.Sprintf("stacks/%s-%d/stack.hcl", text, i%3)] = ours(text)
	}
	return files
}

// bigTree has files that take a while to write, some of them in folders named after the text.
func bigTree(text string) tree {
	files := tree{}
	body := ours(strings.Repeat(text+" ", 20_000))
	for i := range 6 {
		files[fmt.Sprintf("modules/m%d/main.tf", i)] = body
		files[fmt.Sprintf("units/%s/deep/u%d.hcl", text, i)] = body
	}
	return files
}
