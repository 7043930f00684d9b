package files

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	crlf := strings.ReplaceAll(ours("a"), "\n", "\r\n")
	tests := map[string]struct {
		disk, want tree
		changes    string // "kind path" lines
		reason     string // part of the last change's reason
	}{
		"nothing there":                {nil, tree{"modules/a.tf": ours("a")}, "created modules/a.tf", ""},
		"as wanted":                    {tree{"modules/a.tf": ours("a")}, tree{"modules/a.tf": ours("a")}, "", ""},
		"other bytes":                  {tree{"root.hcl": ours("a")}, tree{"root.hcl": ours("b")}, "changed root.hcl", ""},
		"same length":                  {tree{"a.tf": ours("a")}, tree{"a.tf": ours("b")}, "changed a.tf", ""},
		"DOS line ends":                {tree{"a.tf": crlf}, tree{"a.tf": ours("a")}, "", ""},
		"DOS line ends and other text": {tree{"a.tf": crlf}, tree{"a.tf": ours("b")}, "changed a.tf", ""},
		"byte order mark":              {tree{"a.tf": "\xef\xbb\xbf" + ours("a")}, tree{"a.tf": ours("a")}, "changed a.tf", ""},
		"mark without end":             {tree{"a.tf": mark}, tree{"a.tf": ours("a")}, "changed a.tf", ""},
		"sorted":                       {nil, tree{"b": ours(""), "a/c": ours(""), "a-b": ours("")}, "created a-b\ncreated a/c\ncreated b", ""},
		"larger than a head":           {tree{"a": ours(strings.Repeat("x", 9000))}, tree{"a": ours(strings.Repeat("x", 9000))}, "", ""},
		"hand-written":                 {tree{"a.tf": "mine\n"}, tree{"a.tf": ours("a")}, "refused a.tf", "first line"},
		"empty":                        {tree{"a.tf": ""}, tree{"a.tf": ours("a")}, "refused a.tf", "first line"},
		"mark on line two":             {tree{"a.tf": "\n" + ours("a")}, tree{"a.tf": ours("a")}, "refused a.tf", "first line"},
		"folder in the way":            {tree{"a.tf/": ""}, tree{"a.tf": ours("a")}, "refused a.tf", "is a folder"},
		"link in the way":              {tree{"a.tf": "-> b", "b": ours("a")}, tree{"a.tf": ours("a")}, "refused a.tf", "symbolic link"},
		"dangling link":                {tree{"a.tf": "-> nowhere"}, tree{"a.tf": ours("a")}, "refused a.tf", "symbolic link"},
		"file as folder":               {tree{"modules": "mine"}, tree{"modules/vm/a.tf": ours("a")}, "refused modules/vm/a.tf", "modules is a file"},
		"link as folder": {tree{"modules/vm": "-> ../other", "other/a.tf": ours("a")}, tree{"modules/vm/a.tf": ours("b")},
			"refused modules/vm/a.tf", "modules/vm is a symbolic link"},
		"stale":              {tree{"modules/old/a.tf": ours("a")}, nil, "removed modules/old/a.tf", ""},
		"stale single file":  {tree{"root.hcl": ours("a")}, nil, "removed root.hcl", ""},
		"stale with DOS end": {tree{"units/a": crlf}, nil, "removed units/a", ""},
		"not stale": {tree{
			"elsewhere/a.tf":               ours("outside the roots"),
			"a.tf":                         ours("outside the roots"),
			"modules/hand.tf":              "mine\n",
			"modules/empty/":               "",
			"modules/.terraform.lock.hcl":  ours("the user's, whatever it says"),
			"modules/a/.terraform/x.tf":    ours("skipped"),
			"units/.terragrunt-cache/a/b":  ours("skipped"),
			"stacks/.terragrunt-stack/a/b": ours("skipped"),
			"stacks/s/.git/a":              ours("skipped"),
			"stacks/s/.state/a":            ours("skipped by name"),
			"stacks/s/imports/a.tf":        ours("not managed"),
			"stacks/link":                  "-> ../elsewhere",
			"stacks/link.tf":               "-> ../elsewhere/a.tf",
			"modules/.stackgen-tmp-notes":  "a name that we never give",
			"modules/.stackgen-tmp-1-1/":   "",
		}, nil, "", ""},
		"altered":         {tree{"a.tf": ours("altered")}, tree{"a.tf": ours("a")}, "refused a.tf", "was changed after"},
		"a copy":          {tree{"a.tf": ours("a copy")}, tree{"a.tf": ours("a")}, "refused a.tf", "not a generated file"},
		"altered, stale":  {tree{"modules/a.tf": ours("altered")}, nil, "refused modules/a.tf", "not needed any more"},
		"a copy, stale":   {tree{"modules/a.tf": ours("a copy")}, nil, "", ""},
		"altered, wanted": {tree{"a.tf": ours("altered")}, tree{"a.tf": ours("altered")}, "", ""},
		"left behind": {tree{".stackgen-tmp-1-1": "", "modules/x/.stackgen-tmp-77-12": "half a li", "own/.stackgen-tmp-1-2": "", "own/b": "x",
			"far/.stackgen-tmp-1-2": ""}, tree{"own/a": ours("a")},
			"removed .stackgen-tmp-1-1\nremoved modules/x/.stackgen-tmp-77-12\nremoved own/.stackgen-tmp-1-2\ncreated own/a", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeTree(t, root, test.disk)
			before := readTree(t, root)
			changes := mustCompare(t, root, test.want)
			if got := kinds(changes); got != test.changes {
				t.Errorf("got\n%s\nwant\n%s", got, test.changes)
			}
			if n := len(changes); test.reason != "" && n > 0 && !strings.Contains(changes[n-1].Reason, test.reason) {
				t.Errorf("reason %q does not contain %q", changes[n-1].Reason, test.reason)
			}
			for _, c := range changes {
				if c.Kind == Changed || c.Kind == Removed && c.Reason == "" {
					if string(c.Old) != test.disk[c.Path] {
						t.Errorf("%s: Old is %q", c.Path, c.Old)
					}
				}
				if c.Kind != Removed && string(c.New) != test.want[c.Path] {
					t.Errorf("%s: New is %q", c.Path, c.New)
				}
			}
			sameTree(t, readTree(t, root), before)
		})
	}
}

func TestCompareOverlappingRoots(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, tree{"modules/a/x.tf": ours("x")})
	o := options()
	o.Roots = []string{"modules/a/x.tf", "modules", "modules/a", ".", "missing/deeper"}
	changes, err := Compare(root, nil, o)
	if err != nil || kinds(changes) != "removed modules/a/x.tf" {
		t.Errorf("got %s, %v", kinds(changes), err)
	}
}

func TestCompareWithoutMarker(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, tree{"same": "x\n", "other": "x\n", "longer": "x\n"})
	want := tree{"same": "x\n", "other": "y\n", "longer": "xyz\n", "new": "z\n"}
	changes, err := Compare(root, wanted(want), Options{})
	if err != nil || kinds(changes) != "refused longer\ncreated new\nrefused other" {
		t.Errorf("got %s, %v", kinds(changes), err)
	}
}

func TestCompareMissingRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "not", "yet")
	if got := kinds(mustCompare(t, root, tree{"a/b": ours("x")})); got != "created a/b" {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(root); err == nil {
		t.Error("Compare made the root")
	}
}

func TestCompareRefusesWanted(t *testing.T) {
	good := File{Path: "a.tf", Body: []byte(ours("x"))}
	tests := map[string][]File{
		"inside the project": {{Path: "../a.tf", Body: good.Body}},
		`"/a.tf" is not`:     {{Path: "/a.tf", Body: good.Body}},
		`"" is not`:          {{Body: good.Body}},
		`"a/./b" is not`:     {{Path: "a/./b", Body: good.Body}},
		`"a\\b" is not`:      {{Path: `a\b`, Body: good.Body}},
		"a.tf: wanted twice": {good, good},
		"first line":         {{Path: "a.tf", Body: []byte("no mark\n")}},
		"belong to the user": {{Path: "a/.terraform.lock.hcl", Body: good.Body}},
		"is reserved":        {{Path: "a/.stackgen-tmp-1-1", Body: good.Body}},
	}
	for part, files := range tests {
		changes, err := Compare(t.TempDir(), files, options())
		if err == nil || !strings.Contains(err.Error(), part) || changes != nil {
			t.Errorf("want an error with %q, got %v, %v", part, changes, err)
		}
	}
}

func TestCompareRootIsFile(t *testing.T) {
	root := filepath.Join(t.TempDir(), "file")
	writeTree(t, filepath.Dir(root), tree{"file": "x"})
	if _, err := Compare(root, nil, options()); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("got %v", err)
	}
}

func TestCompareThroughLinkedRoot(t *testing.T) {
	base := t.TempDir()
	writeTree(t, base, tree{"real/root.hcl": ours("old")})
	writeTree(t, base, tree{"link": "-> real"})
	mustRender(t, filepath.Join(base, "link"), tree{"root.hcl": ours("new")})
	sameTree(t, readTree(t, base), tree{"real/": "", "real/root.hcl": ours("new"), "link": "-> real"})
}

func TestMarkerSeesOneLine(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, tree{"modules/long": strings.Repeat("x", 3*headSize), "modules/bom": "\xef\xbb\xbfone\r\ntwo\r\n"})
	seen := map[string]bool{}
	o := options()
	o.Marker = func(line []byte) bool { seen[string(line)] = true; return false }
	if _, err := Compare(root, nil, o); err != nil {
		t.Fatal(err)
	}
	if want := map[string]bool{strings.Repeat("x", headSize): true, "one": true}; !maps.Equal(seen, want) {
		t.Errorf("the marker saw %q", slices.Collect(maps.Keys(seen)))
	}
}
