package replay

import (
	"fmt"
	"strings"

	"stackgen/internal/pvesim"
)

// base is the cluster on which a scenario was recorded.
type base struct {
	file string
	// complete says that every scenario began with exactly this state, so that
	// nothing needs to be inferred.
	complete bool
	// narrow says that the recorder gave users single privileges, not built-in roles.
	narrow bool
}

// baseOf returns the recorded cluster: the node with LVM-thin and the one with
// containers by the tokens of their recorders, the three nodes by their names, else
// the single node.
func baseOf(s *Scenario) base {
	out := base{file: "single"}
	for _, e := range s.Exchanges {
		if strings.HasPrefix(e.Auth, "PVEAPIToken=root@pam!sg") {
			return base{file: "lvm", complete: true}
		}
		if strings.HasPrefix(e.Auth, "PVEAPIToken=root@pam!lab") {
			return base{file: "lab", narrow: true}
		}
		if onThreeNodes(e) {
			out.file = "cluster"
		}
	}
	return out
}

func onThreeNodes(e *Exchange) bool {
	for _, n := range []string{"pve1", "pve2", "pve3"} {
		if strings.Contains(e.api(), "/nodes/"+n) {
			return true
		}
	}
	return e.Via != "" || e.lab
}

func (b base) seed() (*pvesim.Seed, error) {
	raw, err := files.ReadFile("seeds/" + b.file + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("base seed: %w", err)
	}
	return pvesim.ParseSeed(raw)
}
