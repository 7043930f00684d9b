package generator

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// A seat is one VM of a class in its registration.
type seat struct {
	Key    string            `json:"key"`
	Name   string            `json:"name"`
	Member string            `json:"member,omitempty"`
	VMID   int               `json:"vmid"`
	Node   string            `json:"node"`
	IPv4   string            `json:"ipv4,omitempty"`
	DNS    []string          `json:"dns,omitempty"`
	User   string            `json:"user,omitempty"`
	Extra  map[string]string `json:"extra,omitempty"`
}

// registration renders the registration of a class: the member of each VM. JSON
// has no comments, so the header is its first entry.
func (r *renderer) registration(s *schema.Stack, l *lock.Stack) {
	if s.Registration == "" {
		return
	}
	decisions := map[string]*lock.VM{}
	for i := range l.VMs {
		decisions[l.VMs[i].Key] = &l.VMs[i].Value
	}
	var seats []seat
	for _, v := range naturalOrder(s.VMs) {
		d := decisions[v.Key]
		out := seat{Key: v.Key, Name: v.Name, Member: v.Member, VMID: d.VMID, Node: d.Node, User: v.Values.Get("cloud_init", "user").Str()}
		if v.Address.IsValid() {
			out.IPv4 = v.Address.Addr().String()
		}
		for _, rec := range v.Records {
			out.DNS = append(out.DNS, s.DNS.FQDN(rec.Name))
		}
		for _, e := range v.Extra {
			if out.Extra == nil {
				out.Extra = map[string]string{}
			}
			out.Extra[e.Name] = e.Value
		}
		seats = append(seats, out)
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Header string `json:"//"`
		Class  string `json:"class"`
		VMs    []seat `json:"vms"`
	}{header(s.Spec, render), s.Name, seats})
	if err != nil {
		r.fail(err)
	}
	// The header must be in the first line, as in every rendered file.
	out := append([]byte("{"), bytes.TrimPrefix(body.Bytes(), []byte("{\n "))...)
	r.files = append(r.files, File{Path: path.Clean(filepath.ToSlash(strings.TrimSpace(s.Registration))), Body: out})
}

func sortVMs(vms []*schema.VM) {
	slices.SortFunc(vms, func(a, b *schema.VM) int { return natural.Compare(a.Key, b.Key) })
}
