package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"stackgen/cmd"
	"stackgen/test/filetree"
)

// A project is the folder of one script.
type project struct {
	t      *testing.T
	root   string
	shared string            // inputs that many scripts have in common
	before map[string]string // its files before the first stackgen
	listed bool              // `folder` ran after the last stackgen
	ids    ids
}

// ids is the source of project ids of one script: each command would choose another.
type ids struct{ last byte }

func (r *ids) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.last
	}
	r.last++
	return len(p), nil
}

type projectKey struct{}

func here(ts *testscript.TestScript) *project {
	return ts.Value(projectKey{}).(*project)
}

// unchanged runs after a script that does not end with `folder`.
func (p *project) unchanged() {
	if p.before == nil || p.listed || p.t.Failed() {
		return
	}
	if changes := p.changes(); changes != "" {
		p.t.Errorf("the script changes files: end it with `folder` and `cmp stdout folder.txt`\n%s", changes)
	}
}

// changes lists the files that differ from those before the first stackgen.
func (p *project) changes() string {
	after := p.files()
	all := maps.Clone(p.before)
	maps.Copy(all, after)
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(all)) {
		old, existed := p.before[path]
		now, exists := after[path]
		word := "changed"
		switch {
		case existed && exists && old == now:
			continue
		case !existed:
			word = "created"
		case !exists:
			word = "removed"
		}
		if link, ok := strings.CutPrefix(now, "link to "); ok {
			path += " -> " + link
		}
		fmt.Fprintln(&out, word, path)
	}
	return out.String()
}

// files is the folder without testscript's own .tmp.
func (p *project) files() map[string]string {
	out, err := filetree.Files(p.root)
	if err != nil {
		p.t.Fatal(err)
	}
	maps.DeleteFunc(out, func(path, _ string) bool { return strings.HasPrefix(path, ".tmp/") })
	return out
}

func usage(ts *testscript.TestScript, ok bool, line string) {
	if !ok {
		ts.Fatalf("usage: %s", line)
	}
}

func stackgen(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg, "stackgen ARGS, or exits CODE stackgen ARGS")
	runStackgen(ts, "0", args)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 1 && args[1] == "stackgen", "exits CODE stackgen ARGS")
	runStackgen(ts, args[0], args[2:])
}

// runStackgen prints what stackgen prints: lines of standard error begin with "! ".
func runStackgen(ts *testscript.TestScript, want string, args []string) {
	p := here(ts)
	if p.before == nil {
		p.before = p.files()
	}
	p.listed = false
	ts.Check(os.Chdir(ts.MkAbs(".")))
	var out, errOut strings.Builder
	code := cmd.Main(append([]string{"stackgen"}, args...), &p.ids, strings.NewReader(""), &out, &errOut)
	text := ended(out.String())
	for line := range strings.Lines(ended(errOut.String())) {
		text += "! " + line
	}
	fmt.Fprint(ts.Stdout(), strings.ReplaceAll(text, p.root, "$WORK"))
	if got := fmt.Sprint(code); got != want {
		ts.Fatalf("stackgen exits %s, want %s", got, want)
	}
}

// ended ends with a newline, as every file of a script does.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// folder lists what changed since the first stackgen.
func folder(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "folder")
	p := here(ts)
	p.listed = true
	fmt.Fprint(ts.Stdout(), p.changes())
}

// copyShared copies folders of shared/, but no file that the script has.
func copyShared(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 0, "project FOLDER-OF-SHARED...")
	p := here(ts)
	files := map[string]string{}
	for _, name := range args {
		dir := filepath.Join(p.shared, name)
		shared, err := filetree.Files(dir)
		ts.Check(err)
		if len(shared) == 0 {
			ts.Fatalf("no folder %s", dir)
		}
		maps.Copy(files, shared)
	}
	maps.DeleteFunc(files, func(path, _ string) bool {
		_, err := os.Lstat(filepath.Join(p.root, path))
		return err == nil
	})
	ts.Check(filetree.Write(p.root, files))
}

// ls lists the files below a folder.
func ls(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "ls FOLDER")
	out := ts.Stdout()
	files, err := filetree.Files(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintln(out, path)
	}
}

// lines prints the lines of a file that contain a text.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "lines TEXT FILE")
	out := ts.Stdout()
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if strings.Contains(line, args[0]) {
			fmt.Fprint(out, line)
		}
	}
}

func writeText(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "write FILE TEXT")
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o777))
	ts.Check(os.WriteFile(file, []byte(unescape(ts, args[1])), 0o666))
}

func appendLine(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "append FILE LINE")
	text := ts.ReadFile(args[0]) + unescape(ts, args[1]) + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

// crlf writes files with the line ends of DOS.
func crlf(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 0, "crlf FILE...")
	for _, file := range args {
		text := strings.ReplaceAll(ts.ReadFile(file), "\n", "\r\n")
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o666))
	}
}

// replace replaces a text that a file contains once.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "replace FILE OLD NEW")
	text, old := ts.ReadFile(args[0]), unescape(ts, args[1])
	if n := strings.Count(text, old); n != 1 {
		ts.Fatalf("%s contains %q %d times, want once", args[0], old, n)
	}
	text = strings.Replace(text, old, unescape(ts, args[2]), 1)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

// unescape reads \n, \t, \x00 and the like as Go does.
func unescape(ts *testscript.TestScript, text string) string {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	ts.Check(err)
	return out
}

// setJSON sets a value of a JSON file. PATH is keys joined by dots; elements of
// lists go by their vmid, name or id, or by their index. VALUE is JSON, a string
// without quotes, or @FILE.
func setJSON(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "json FILE PATH VALUE")
	text, isFile := strings.CutPrefix(args[2], "@")
	if isFile {
		text = ts.ReadFile(text)
	}
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		value = text
	}
	editJSON(ts, args[0], args[1], value, true)
}

func unsetJSON(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "unset FILE PATH")
	editJSON(ts, args[0], args[1], nil, false)
}

func editJSON(ts *testscript.TestScript, file, path string, value any, set bool) {
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &doc))
	doc, err := edited(doc, strings.Split(path, "."), value, set)
	ts.Check(err)
	out, err := json.Marshal(doc)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(file), append(out, '\n'), 0o666))
}

func edited(in any, path []string, value any, set bool) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	var err error
	switch in := in.(type) {
	case map[string]any:
		if len(path) == 1 && !set {
			delete(in, path[0])
			return in, nil
		}
		in[path[0]], err = edited(in[path[0]], path[1:], value, set)
		return in, err
	case []any:
		i := slices.IndexFunc(in, func(e any) bool { return isNamed(e, path[0]) })
		if n, err := strconv.Atoi(path[0]); i < 0 && err == nil && n < len(in) {
			i = n
		}
		switch {
		case i < 0 && len(path) == 1 && set: // a new element, in the order of VMIDs
			i = slices.IndexFunc(in, func(e any) bool { return vmid(e) > vmid(value) })
			if i < 0 {
				i = len(in)
			}
			return slices.Insert(in, i, value), nil
		case i < 0:
			return in, fmt.Errorf("no element %s", path[0])
		case len(path) == 1 && !set:
			return slices.Delete(in, i, i+1), nil
		}
		in[i], err = edited(in[i], path[1:], value, set)
		return in, err
	}
	return in, fmt.Errorf("no %s in %v", path[0], in)
}

func isNamed(element any, name string) bool {
	e, ok := element.(map[string]any)
	for _, key := range []string{"vmid", "name", "id"} {
		if v, has := e[key]; ok && has {
			return fmt.Sprint(v) == name
		}
	}
	return false
}

func vmid(element any) float64 {
	e, _ := element.(map[string]any)
	v, _ := e["vmid"].(float64)
	return v
}
