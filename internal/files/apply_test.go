package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestApply(t *testing.T) {
	tests := map[string]struct{ disk, want, after tree }{
		"new project": {nil, tree{"root.hcl": ours("r"), "modules/vm/a.tf": ours("a")},
			tree{"root.hcl": ours("r"), "modules/vm/a.tf": ours("a")}},
		"changed": {tree{"root.hcl": ours("old, and longer")}, tree{"root.hcl": ours("new")}, tree{"root.hcl": ours("new")}},
		"empty folders go, others stay": {
			tree{"modules/old/deep/a.tf": ours("a"), "modules/mine/": "", "units/u/a": ours("a"), "units/u/b": "mine"},
			nil,
			tree{"modules/mine/": "", "units/u/b": "mine"},
		},
		"the root stays": {tree{"root.hcl": ours("r")}, nil, tree{}},
		"a user's lock file keeps its folder": {
			tree{"units/u/terragrunt.hcl": ours("a"), "units/u/.terraform.lock.hcl": ours("x")}, nil,
			tree{"units/u/.terraform.lock.hcl": ours("x")}},
		"another file in the same folder": {
			tree{"modules/a/x.tf": ours("x")}, tree{"modules/a/y.tf": ours("x")}, tree{"modules/a/y.tf": ours("x")}},
		"what a killed run left": {
			tree{"modules/.stackgen-tmp-1-7": "par", "modules/new/": "", "modules/newer/": "",
				".stackgen-tmp-1-1": noteHeader + "modules/new\n../..\nmodules/newer"}, // the last line is not whole
			tree{"root.hcl": ours("r")},
			tree{"root.hcl": ours("r"), "modules/newer/": ""},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeTree(t, root, test.disk)
			mustRender(t, root, test.want)
			sameTree(t, readTree(t, root), withFolders(test.after))
		})
	}
}

func TestApplyMakesRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "b")
	mustRender(t, root, tree{"modules/x.tf": ours("x")})
	sameTree(t, readTree(t, root), tree{"modules/": "", "modules/x.tf": ours("x")})
}

func TestApplyRefusesAsAWhole(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	disk := tree{"modules/hand.tf": "mine\n", "modules/stale.tf": ours("s"), "units": "-> " + outside}
	writeTree(t, root, disk)
	changes := mustCompare(t, root, tree{"modules/hand.tf": ours("x"), "a.tf": ours("a"), "units/u/x.hcl": ours("u")})
	err := Apply(root, changes)
	var refused *RefusedError
	if !errors.As(err, &refused) || kinds(refused.Changes) != "refused modules/hand.tf\nrefused units/u/x.hcl" {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), "modules/hand.tf: is not a generated file") ||
		!strings.Contains(err.Error(), "units/u/x.hcl: units is a symbolic link") {
		t.Errorf("got %v", err)
	}
	sameTree(t, readTree(t, root), withFolders(disk))
	sameTree(t, readTree(t, outside), tree{})
}

// Apply keeps files that changed since Compare, and does not follow a link that appeared.
func TestApplyAfterTheTreeChanged(t *testing.T) {
	outside := t.TempDir()
	writeTree(t, outside, tree{"a.tf": ours("theirs")})
	write := func(body string) func(root string) error {
		return func(root string) error { return os.WriteFile(filepath.Join(root, "modules/a.tf"), []byte(body), 0o666) }
	}
	const left = "modules/a.tf: another program changed it"
	tests := map[string]struct {
		disk, want tree
		meddle     func(root string) error
		message    string
	}{
		"edited before a change":  {tree{"modules/a.tf": ours("old")}, tree{"modules/a.tf": ours("new")}, write("mine"), left},
		"edited before a removal": {tree{"modules/a.tf": ours("old")}, nil, write("mine"), left},
		"appeared":                {tree{"modules/": ""}, tree{"modules/a.tf": ours("new")}, write("mine"), left},
		"appeared empty":          {tree{"modules/": ""}, tree{"modules/a.tf": ours("new")}, write(""), left},
		"vanished": {tree{"modules/a.tf": ours("old"), "modules/b.tf": ours("b")}, tree{"modules/a.tf": ours("new"), "modules/b.tf": ours("b")},
			func(root string) error { return os.Remove(filepath.Join(root, "modules/a.tf")) }, left},
		"file became a link": {tree{"modules/a.tf": ours("old")}, tree{"modules/a.tf": ours("new")},
			func(root string) error {
				p := filepath.Join(root, "modules/a.tf")
				return errors.Join(os.Remove(p), os.Symlink(filepath.Join(outside, "a.tf"), p))
			}, "modules/a.tf is a symbolic link"},
		"folder became a link": {tree{"modules/a.tf": ours("theirs")}, nil,
			func(root string) error {
				p := filepath.Join(root, "modules")
				return errors.Join(os.RemoveAll(p), os.Symlink(outside, p))
			}, "modules/a.tf: modules is a symbolic link"},
		"new folder became a link": {nil, tree{"modules/b.tf": ours("b")},
			func(root string) error { return os.Symlink(outside, filepath.Join(root, "modules")) },
			"modules/b.tf: modules is a symbolic link"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeTree(t, root, test.disk)
			changes := mustCompare(t, root, test.want)
			if err := test.meddle(root); err != nil {
				t.Fatal(err)
			}
			before := readTree(t, root)
			if err := Check(root, changes); err == nil || !strings.HasPrefix(err.Error(), test.message) {
				t.Errorf("Check: got %v", err)
			}
			if err := Apply(root, changes); err == nil || !strings.HasPrefix(err.Error(), test.message) {
				t.Errorf("got %v", err)
			}
			sameTree(t, readTree(t, root), before)
			sameTree(t, readTree(t, outside), tree{"a.tf": ours("theirs")})
		})
	}
}

func TestApplyTwiceIsApplyOnce(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, tree{"modules/stale.tf": ours("s"), "root.hcl": ours("old")})
	changes := mustCompare(t, root, tree{"a.tf": ours("a"), "root.hcl": ours("new")})
	for range 2 {
		if err := Check(root, changes); err != nil {
			t.Fatal(err)
		}
		if err := Apply(root, changes); err != nil {
			t.Fatal(err)
		}
	}
	sameTree(t, readTree(t, root), tree{"a.tf": ours("a"), "root.hcl": ours("new")})
}

func TestUnchangedIsNotTouched(t *testing.T) {
	root := t.TempDir()
	files := tree{"root.hcl": ours("r"), "modules/a.tf": ours("a"), "modules/b.tf": ours("b")}
	mustRender(t, root, files)
	long := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, p := range []string{"root.hcl", "modules/a.tf", "modules/b.tf", "modules", "."} {
		if err := os.Chtimes(filepath.Join(root, p), long, long); err != nil {
			t.Fatal(err)
		}
	}
	files["modules/b.tf"] = ours("new")
	mustRender(t, root, files)
	for p, touched := range map[string]bool{"root.hcl": false, "modules/a.tf": false, "modules/b.tf": true, ".": false} {
		info, err := os.Stat(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		if info.ModTime().Equal(long) == touched {
			t.Errorf("%s: touched is %v", p, !touched)
		}
	}
}

func TestModes(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, tree{"kept": ours("old"), "plain": ours("x")})
	if err := os.Chmod(filepath.Join(root, "kept"), 0o640); err != nil {
		t.Fatal(err)
	}
	mustRender(t, root, tree{"kept": ours("new"), "fresh": ours("new")})
	plain, err := os.Stat(filepath.Join(root, "plain")) // os.WriteFile with 0666: what the umask leaves
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]fs.FileMode{"kept": 0o640, "fresh": plain.Mode().Perm()} {
		info, err := os.Stat(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v", p, info.Mode(), want)
		}
	}
}

// Files are written in the order of the caller, and removed after all are written.
func TestOrder(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, tree{"modules/a-stale.tf": ours("s"), "z.yaml": ours("old")})
	changes := mustCompare(t, root, tree{"a.tf": ours("a"), "z.yaml": ours("new"), "m/b.tf": ours("b")})
	slices.Reverse(changes)
	var seen []string
	err := apply(root, changes, func() {
		state := ""
		for _, p := range []string{"z.yaml", "m/b.tf", "a.tf"} {
			if body, err := os.ReadFile(filepath.Join(root, p)); err == nil && string(body) != ours("old") {
				state += p + " "
			}
		}
		if _, err := os.Stat(filepath.Join(root, "modules/a-stale.tf")); err != nil {
			state += "gone"
		}
		seen = append(seen, state)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"", "z.yaml ", "z.yaml m/b.tf ", "z.yaml m/b.tf a.tf ", "z.yaml m/b.tf a.tf gone"}
	if got := slices.Compact(seen); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestApplyRefusesInvalidChanges(t *testing.T) {
	for part, c := range map[string]Change{
		"inside the project": {Path: "../x", Kind: Created},
		"unknown kind":       {Path: "x", Kind: "renamed"},
		"belong to the user": {Path: "a/.terraform.lock.hcl", Kind: Removed},
		"is reserved":        {Path: ".stackgen-tmp-1-1", Kind: Created},
	} {
		root := filepath.Join(t.TempDir(), "new")
		if err := Apply(root, []Change{c}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("want an error with %q, got %v", part, err)
		}
		if _, err := os.Stat(root); err == nil {
			t.Error("Apply made the root")
		}
	}
}
