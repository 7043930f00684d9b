package replay

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"
)

//go:embed setup seeds
var files embed.FS

// setup describes what a recording lacks: calls before and between its
// requests, and what the recorder could not write down.
type setup struct {
	// Steps are unrecorded calls of an administrator.
	Steps []prepared `yaml:"steps"`
	// Raw contains request bodies as they were sent, where the recording shows
	// them decoded.
	Raw map[int]string `yaml:"raw"`
	// Ticket is the user of a ticket from before the scenario.
	Ticket string `yaml:"ticket"`
	// Guests changes the inferred initial guests: a key set to null is deleted.
	Guests map[int]map[string]*string `yaml:"guests"`
	// Lose removes the disks of guests and keeps their configuration.
	Lose []int `yaml:"lose"`
	// Nodes are changes of node states.
	Nodes []nodeChange `yaml:"nodes"`
}

type prepared struct {
	Before int               `yaml:"before"`
	Do     string            `yaml:"do"`
	With   map[string]string `yaml:"with"`
	Wait   float64           `yaml:"wait"`
}

type nodeChange struct {
	At    float64 `yaml:"at"`
	Node  string  `yaml:"node"`
	State string  `yaml:"state"`
}

func loadSetup(scenario string) (*setup, error) {
	out := &setup{}
	raw, err := files.ReadFile("setup/" + scenario + ".yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(out); err != nil {
		return nil, fmt.Errorf("setup %s: %w", scenario, err)
	}
	return out, nil
}
