package schema

import (
	"slices"
	"strings"
	"testing"
)

const templateHead = "apiVersion: stackgen/v1\nkind: Template\nname: ubuntu-24.04\n"

const templateBody = `release: "20261101"
nodes: [pve1, PVE2]
datastore: local-lvm
download: local
vmids: 9000-9049
image: {url: "https://images.example/20261101/a.img", checksum: "md5:00000000000000000000000000000000", file_name: a-20261101.qcow2}
`

// joinTemplate joins a Template with what the lock has of it.
func joinTemplate(t *testing.T, spec string, seats ...Seat) (*Project, []string) {
	t.Helper()
	parsed, problems := Parse("specs/t.yaml", []byte(spec))
	if parsed == nil {
		return nil, texts(problems)
	}
	p, problems := Join(nil, []Input{{Spec: parsed, Label: "specs/t.yaml"}}, nil, Seats{"ubuntu-24.04": seats})
	return p, texts(problems)
}

func texts(problems []Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Pos.String()+" "+p.Code+" "+p.Message)
	}
	return out
}

func seat(release, node string) Seat {
	return Seat{Key: release + "-" + node, Live: true, Node: node, Replica: &SeatReplica{Release: release, Image: Image{URL: "https://images.example/" + release, File: release + ".raw", Datastore: "local"}}}
}

// TestTemplateVMs checks which templates a Template has: the release of the spec on each node, and
// what the lock has in addition, unless it is retired.
func TestTemplateVMs(t *testing.T) {
	for name, c := range map[string]struct {
		more  string
		seats []Seat
		want  string
	}{
		"first":           {"", nil, "20261101-pve1 20261101-pve2"},
		"older release":   {"", []Seat{seat("20261001", "pve1")}, "20261101-pve1 20261101-pve2 20261001-pve1"},
		"removed node":    {"", []Seat{seat("20261101", "pve3")}, "20261101-pve1 20261101-pve2"},
		"retired release": {"retired: [\"20261001\"]\n", []Seat{seat("20261001", "pve1"), seat("20261001", "pve2")}, "20261101-pve1 20261101-pve2"},
		"retired key":     {"retired: [20261001-pve1]\n", []Seat{seat("20261001", "pve1"), seat("20261001", "pve2")}, "20261101-pve1 20261101-pve2 20261001-pve2"},
		"gone":            {"", []Seat{{Key: "20261001-pve1", Gone: true, Node: "pve1", Replica: &SeatReplica{Release: "20261001"}}}, "20261101-pve1 20261101-pve2"},
	} {
		p, problems := joinTemplate(t, templateHead+templateBody+c.more, c.seats...)
		if len(problems) > 0 {
			t.Errorf("%s: %q", name, problems)
			continue
		}
		var keys []string
		for _, v := range p.Stacks[0].VMs {
			keys = append(keys, v.Key)
		}
		if got := strings.Join(keys, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		v := p.Stacks[0].VMs[1]
		if v.Node != "PVE2" || v.Name != "ubuntu-24.04-20261101-pve2" || v.Replica.Image.File != "a-20261101.qcow2" || v.Values.Get("started").Text != "false" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestTemplateProblems: a Template and its problems, with their positions. No message has a secret.
func TestTemplateProblems(t *testing.T) {
	for name, c := range map[string]struct {
		was, is string
		want    []string
	}{
		"no checksum":      {`, checksum: "md5:00000000000000000000000000000000"`, "", []string{"specs/t.yaml:9:8 moving-image the image has no checksum"}},
		"latest":           {"/20261101/a.img", "/latest/a.img", []string{"specs/t.yaml:9:14 moving-image the URL looks like that of the latest image"}},
		"no URL":           {"https://images.example", "ftp://images.example", []string{"specs/t.yaml:9:14 bad-value this is no URL of http or https"}},
		"token":            {"a.img", "a.img?token=s3cr3t", []string{"specs/t.yaml:9:14 secret the URL has a user"}},
		"signature":        {"a.img", "a.img?X-Amz-Signature=s3cr3t", []string{"specs/t.yaml:9:14 secret the URL has a user"}},
		"sig":              {"a.img", "a.img?sv=1;sig=s3cr3t", []string{"specs/t.yaml:9:14 secret the URL has a user"}},
		"long parameter":   {"a.img", "a.img?x=s3cr3ts3cr3ts3cr3ts3cr3t", []string{"specs/t.yaml:9:14 secret the URL has a user"}},
		"user":             {"https://", "https://s3cr3t@", []string{"specs/t.yaml:9:14 secret the URL has a user"}},
		"harmless":         {"a.img", "a.img?download=1", nil},
		"a space":          {"a.img", "a b.img", []string{"specs/t.yaml:9:14 bad-value this is no URL of http or https"}},
		"an at sign":       {"/20261101/", "/@20261101/", []string{"specs/t.yaml:9:14 bad-value this is no URL of http or https"}},
		"a dash":           {"/20261101/", "/2026–11/", []string{"specs/t.yaml:9:14 bad-value this is no URL of http or https"}},
		"current, retired": {"vmids", "retired: [\"20261101\"]\nvmids", []string{"specs/t.yaml:8:11 list-clash release 20261101 is the one that the spec makes"}},
		"current, key":     {"vmids", "retired: [20261101-pve1]\nvmids", []string{"specs/t.yaml:8:11 list-clash 20261101-pve1 is in retired and also in the spec"}},
		"same file":        {"a-20261101.qcow2", "20261001.raw", []string{"specs/t.yaml:9:116 bad-value 20261001.raw is the file of release 20261001"}},
		"unknown hardware": {"vmids", "hardware: {node: a}\nvmids", []string{`specs/t.yaml:8:12 unknown-key unknown key "node" in hardware`}},
		"node twice":       {"PVE2", "PVE1", []string{"specs/t.yaml:5:15 key-clash"}},
		"bad release":      {`"20261101"`, "a.b", []string{"specs/t.yaml:4:10 bad-value"}},
		"no nodes":         {"nodes: [pve1, PVE2]\n", "", []string{`specs/t.yaml:1:1 missing-key the document lacks the key "nodes"`}},
	} {
		_, problems := joinTemplate(t, templateHead+strings.Replace(templateBody, c.was, c.is, 1), seat("20261001", "pve1"))
		if !slices.EqualFunc(problems, c.want, strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", name, problems, c.want)
		}
		if strings.Contains(strings.Join(problems, ""), "s3cr3t") {
			t.Errorf("%s: a problem has the secret: %q", name, problems)
		}
	}
}
