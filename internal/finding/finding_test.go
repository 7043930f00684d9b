package finding

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestExit(t *testing.T) {
	for _, c := range []struct {
		severities []Severity
		want       Severity
	}{{nil, OK}, {[]Severity{OK, OK}, OK}, {[]Severity{Outdated, OK}, Outdated}, {[]Severity{OK, Outdated, Failed}, Failed},
		{[]Severity{Failed, Blocked, Outdated}, Blocked}, {[]Severity{Blocked, OK}, Blocked}} {
		var fs []Finding
		for _, s := range c.severities {
			fs = append(fs, Finding{Severity: s})
		}
		if got := Exit(fs); got != c.want {
			t.Errorf("%v: got %v, want %v", c.severities, got, c.want)
		}
	}
}

// at is a finding about a VM.
func at(stack, key string, k Kind) Finding {
	f := Finding{Address: Address{Stack: stack, Type: VM, Key: key}}
	return *f.Is(k, Why(Code(k)))
}

// TestSort sorts findings in any order to the same one.
func TestSort(t *testing.T) {
	pool := at("lab", "zeta", Managed)
	pool.Type = Pool
	other := at("lab", "web2", Managed)
	other.Because("x")
	want := []Finding{pool, at("lab", "web2", Managed), other, at("lab", "web10", Conflict), at("web", "a", Create)}
	for range 20 {
		got := append([]Finding{}, want...)
		rand.Shuffle(len(got), func(i, k int) { got[i], got[k] = got[k], got[i] })
		if Sort(got); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v", got)
		}
	}
}

// TestGroups: findings that are alike are one group, the worst group is first, and
// the steps of a group have the items and lines of all.
func TestGroups(t *testing.T) {
	var fs []Finding
	for i := range 3 {
		key := fmt.Sprintf("web%d", i)
		f := at("lab", key, Gone)
		f.Add(DoAll("retire it", Entries("retired", key), "stackgen render"))
		f.Next("or restore it", fmt.Sprintf("qmrestore BACKUP %d", 100+i))
		fs = append(fs, at("lab", key, Managed), f)
	}
	single := at("lab", "web3", Gone)
	single.Next("something else")
	failed := at("lab", "web4", Unknown)
	failed.Severity = Failed
	fs = append(fs, single, failed, at("web", "web0", Managed))
	var got []string
	for _, g := range Groups(fs) {
		line := fmt.Sprintf("%s %s %d:", g.Findings[0].Severity, g.Findings[0].Kind, len(g.Findings))
		for _, s := range g.Steps {
			line += " " + s.What + "="
			for _, l := range slices.Concat(s.Blocks...) {
				line += l.String() + ";"
			}
		}
		got = append(got, line)
	}
	want := `blocked gone 3: retire it=retired: [web0, web1, web2];stackgen render; or restore it=qmrestore BACKUP 100;qmrestore BACKUP 101;qmrestore BACKUP 102;
blocked gone 1: something else=
failed unknown 1:
ok managed 3:
ok managed 1:`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// TestGroupStep: a block of lines names only findings whose lines are all in it.
func TestGroupStep(t *testing.T) {
	remove := func(keys ...string) Line { return Line{Text: "state rm {}", Items: keys, Sep: " "} }
	forget := func(key string) Line {
		return Line{Text: "forgotten: [{}]", Items: []string{key}, Sep: ", ", Once: true}
	}
	for name, c := range map[string]struct {
		steps [][]Line // of each finding
		want  []string // blocks
	}{
		"no lines":      {[][]Line{nil, nil}, nil},
		"same line":     {[][]Line{Lines("render"), Lines("render")}, []string{"render"}},
		"lines differ":  {[][]Line{Lines("wait 1"), Lines("wait 2")}, []string{"wait 1", "wait 2"}},
		"lists only":    {[][]Line{{remove("a")}, {remove("b")}, {remove("a")}}, []string{"state rm a b"}},
		"list and same": {[][]Line{{remove("a"), {Text: "render"}}, {remove("b"), {Text: "render"}}}, []string{"state rm a b; render"}},
		"two lists":     {[][]Line{{remove("a"), remove("x")}, {remove("b"), remove("x")}}, []string{"state rm a b; state rm x"}},
		"list after a line that differs": {[][]Line{{{Text: "destroy 1"}, remove("a")}, {{Text: "destroy 2"}, remove("b")}},
			[]string{"destroy 1; state rm a", "destroy 2; state rm b"}},
		"list before a line that differs": {[][]Line{{remove("a"), {Text: "destroy 1"}}, {remove("b"), {Text: "destroy 2"}}},
			[]string{"state rm a; destroy 1", "state rm b; destroy 2"}},
		"fewer lines": {[][]Line{{remove("a"), {Text: "render"}}, {remove("b")}, {remove("c"), {Text: "render"}}},
			[]string{"state rm a c; render", "state rm b"}},
		"some lines once": {[][]Line{DoOnce("", "role 1", "role N", "acl N").Lines, DoOnce("", "role 2", "role N", "acl N").Lines, DoOnce("", "role 1").Lines},
			[]string{"role 1; role N; acl N", "role 2"}},
		"a list once": {[][]Line{
			{forget("a"), {Text: "render", Once: true}, remove("a")},
			{forget("b"), {Text: "render", Once: true}, {Text: "container rm {}", Items: []string{"b"}, Sep: " "}},
			{forget("c"), {Text: "render", Once: true}, remove("c")},
			{forget("d")},
		}, []string{"forgotten: [a, b, c, d]; render; state rm a c", "container rm b"}},
		"phases": {[][]Line{DoPhases("", []string{"edit 1", "resolve", "render", "apply"}, []string{"restart 1", "remove 1", "render"}).Lines, DoPhases("", []string{"edit 2", "render", "apply"}, []string{"restart 2", "remove 2", "render"}).Lines},
			[]string{"edit 1; resolve; edit 2; render; apply; restart 1; remove 1; restart 2; remove 2; render"}},
		"some lines the same": {[][]Line{Lines("edit 1", "render"), Lines("edit 2", "render")}, []string{"edit 1; render", "edit 2; render"}},
	} {
		var fs []Finding
		for i, lines := range c.steps {
			f := at("lab", fmt.Sprint(i), Gone)
			fs = append(fs, *f.Add(Step{What: "fix it", Lines: lines}))
		}
		var got []string
		for _, b := range Groups(fs)[0].Steps[0].Blocks {
			var lines []string
			for _, l := range b {
				lines = append(lines, l.String())
			}
			got = append(got, strings.Join(lines, "; "))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestNext: a step for the same purpose gets the lines that it does not have.
func TestNext(t *testing.T) {
	f := Finding{}
	f.Next("grant", "a").Next("grant", "b").Next("grant", "a").Next("other", "a")
	if want := []Step{Do("grant", "a", "b"), Do("other", "a")}; !reflect.DeepEqual(f.Steps, want) {
		t.Errorf("got %v", f.Steps)
	}
}

// TestJSON: the keys are part of the output that other programs read.
func TestJSON(t *testing.T) {
	f := at("lab", "web0", Conflict)
	f.Unit, f.VMID, f.Says = "proxmox-vm", 100, "because conflict"
	f.Because("%d", 1).Add(DoAll("retire it", Entries("retired", "web0")))
	body, err := json.Marshal(f)
	want := `{"stack":"lab","unit":"proxmox-vm","kind":"vm","key":"web0","verdict":"conflict","exit":3,"vmid":100,` +
		`"reason":"because conflict","evidence":["1"],"next":[{"what":"retire it","lines":["retired: [web0]"]}]}`
	if err != nil || string(body) != want {
		t.Errorf("got %s, %v", body, err)
	}
	var back Finding
	if err := json.Unmarshal(body, &back); err != nil || back.Steps[0].Lines[0].String() != "retired: [web0]" {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

// TestEntries puts keys into quotes where the reader of specs needs them.
func TestEntries(t *testing.T) {
	if got, want := Entries("retired", "web01", "101", "0123", "12e5", "true", "null", "no", "a-1").String(), `retired: [web01, "101", "0123", "12e5", "true", "null", no, a-1]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
