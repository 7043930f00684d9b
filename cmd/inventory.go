package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"stackgen/internal/cluster"
	"stackgen/internal/disk"
	"stackgen/internal/names"
	"stackgen/internal/project"
	"stackgen/internal/proxmox"
	"stackgen/internal/secret"
)

// lookTime bounds one look at a cluster, lost nodes included.
const lookTime = 5 * time.Minute

// inventoryFlag is for every command that looks at the cluster.
func inventoryFlag() cli.Flag {
	return &cli.StringFlag{Name: "inventory", Usage: "judge by the snapshot in `FILE` instead of asking the cluster"}
}

// inventory is what a command knows of the cluster: from --inventory, or from
// one look at the cluster of the selected stacks. templates says that the
// configuration of templates is wanted too.
func (e *env) inventory(c *cli.Context, p *project.Project, templates bool) (*cluster.Inventory, error) {
	if c.IsSet("inventory") {
		return readInventory(c.String("inventory"))
	}
	config, err := proxmox.Configure(os.Getenv, targets(p))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.Context, lookTime)
	defer cancel()
	wanted := wanted(p, templates)
	wanted.Progress = func(text string) { fmt.Fprintln(e.errOut, text) }
	began := time.Now()
	inv, err := proxmox.Read(ctx, config, wanted)
	if err != nil {
		return nil, err
	}
	if questions := questions(p, secret.New(os.Getenv("DNS_UPDATE_KEYSECRET"))); len(questions) > 0 {
		fmt.Fprintf(e.errOut, "asking DNS for %d names\n", len(questions))
		if i := slices.IndexFunc(questions, func(q names.Question) bool { return q.Key.Name != "" && !q.Key.Secret.Set() }); i >= 0 {
			fmt.Fprintf(e.errOut, "DNS_UPDATE_KEYSECRET is not set: an apply needs it, and whether the server takes the key %s is not known\n", questions[i].Key.Name)
		}
		inv.Records = names.Lookup(ctx, questions)
	}
	fmt.Fprintf(e.errOut, "%d requests in %v\n", inv.Requests, time.Since(began).Round(10*time.Millisecond))
	return &inv, nil
}

// maxInventory bounds a snapshot: ten thousand guests take a tenth of it.
const maxInventory = 256 << 20

func readInventory(file string) (*cluster.Inventory, error) {
	src, err := disk.Read(file, maxInventory)
	if err != nil {
		return nil, fmt.Errorf("cannot read the inventory %s: %w", file, err)
	}
	return cluster.Decode(file, src)
}

// targets returns the cluster that each selected stack names.
func targets(p *project.Project) []proxmox.Target {
	var out []proxmox.Target
	for _, s := range p.SelectedStacks() {
		if !s.Proxmox.Set {
			continue
		}
		t := proxmox.Target{Spec: s.File, Endpoint: s.Proxmox.Endpoint, Insecure: s.Proxmox.Insecure, CAFile: s.Proxmox.CAFile}
		if t.CAFile != "" && !filepath.IsAbs(t.CAFile) {
			t.CAFile = filepath.Join(p.Root, filepath.FromSlash(t.CAFile))
		}
		out = append(out, t)
	}
	return out
}

// wanted says which guests may be the project's.
func wanted(p *project.Project, templates bool) proxmox.Wanted {
	var w proxmox.Wanted
	for _, s := range p.SelectedStacks() {
		if s.Pool != nil {
			w.Pools = append(w.Pools, s.Pool.ID)
		}
		for _, v := range s.VMs {
			w.Names = append(w.Names, v.Name)
			if v.VMID != 0 {
				w.VMIDs = append(w.VMIDs, v.VMID)
			}
			if v.PoolID != "" {
				w.Pools = append(w.Pools, v.PoolID)
			}
			if t := v.Template; t != nil && templates {
				w.Templates = append(w.Templates, t.Name, fmt.Sprint(t.VMID))
			}
		}
	}
	for _, s := range p.Lock.Stacks {
		if !p.Selected(s.Key) {
			continue
		}
		for _, v := range s.Value.VMs {
			w.VMIDs = append(w.VMIDs, v.Value.VMID)
		}
	}
	slices.Sort(w.Pools)
	w.Pools = slices.Compact(w.Pools)
	return w
}

// questions are the DNS names of the selected stacks, each with its own server and
// key.
func questions(p *project.Project, keySecret secret.Text) []names.Question {
	var out []names.Question
	for _, s := range p.SelectedStacks() {
		if s.DNS == nil {
			continue
		}
		for _, v := range s.VMs {
			for _, r := range v.Records {
				q := names.Question{Name: s.DNS.FQDN(r.Name), Server: s.DNS.Server, Port: s.DNS.Port}
				if s.DNS.KeyName != "" {
					q.Key = names.Key{Name: s.DNS.KeyName, Algorithm: s.DNS.Algorithm, Secret: keySecret}
				}
				out = append(out, q)
			}
		}
	}
	return out
}

// writeInventory writes a snapshot in one step, for its owner's eyes. It
// replaces only what is a snapshot, or empty.
func writeInventory(file string, body []byte) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot write %s: %w", file, disk.Cause(err))
	}
	if len(old) > 0 {
		if _, err := cluster.Decode(file, old); err != nil {
			return fmt.Errorf("%s exists and is no snapshot; it is left alone", file)
		}
	}
	return disk.WritePrivate(file, func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	})
}
