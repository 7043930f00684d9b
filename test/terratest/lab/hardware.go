package lab

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Hardware is the template's hardware, which specs must repeat: a plan of an imported
// VM removes what its spec lacks.
type Hardware struct {
	Disk    string // interface of the boot disk, such as scsi0
	Size    int    // its size in GiB, rounded up
	Bios    string
	Machine string
	Serial  bool
	VGA     string
	Agent   bool
}

// Virtio reports whether the disk is a virtio disk, which has no SSD emulation.
func (h Hardware) Virtio() bool { return strings.HasPrefix(h.Disk, "virtio") }

var (
	diskKey  = regexp.MustCompile(`^(scsi|virtio|sata|ide)[0-9]+$`)
	agentOn  = regexp.MustCompile(`^(enabled=)?1\b`)
	diskSize = regexp.MustCompile(`^([0-9]+)([KMGT]?)$`)
)

// Hardware reads the template.
func (c *Cluster) Hardware(ctx context.Context) (Hardware, error) {
	config, err := c.Config(ctx, c.source())
	if err != nil {
		return Hardware{}, err
	}
	return hardware(config, c.Storage)
}

func hardware(config Config, storage string) (Hardware, error) {
	h := Hardware{
		Bios: config["bios"], Machine: config["machine"],
		VGA: strings.Split(config["vga"], ",")[0], Agent: agentOn.MatchString(config["agent"]),
	}
	switch config["serial0"] {
	case "":
	case "socket":
		h.Serial = true
	default:
		return h, fmt.Errorf("STACKGEN_TEST_TEMPLATE has a serial device %q; the suites can use one without, or with a socket", config["serial0"])
	}
	for key := range config {
		switch {
		case key == "efidisk0" || key == "tpmstate0" || strings.HasPrefix(key, "hostpci") || strings.HasPrefix(key, "usb"):
			return h, fmt.Errorf("STACKGEN_TEST_TEMPLATE has %s; "+
				"the suites need a template with one disk and a cloud-init drive, and nothing special", key)
		case !diskKey.MatchString(key) || config.Property(key, "media") == "cdrom":
		case h.Disk != "":
			return h, fmt.Errorf("STACKGEN_TEST_TEMPLATE has more than one disk (%s, %s); the suites need one with one disk and a cloud-init drive",
				min(h.Disk, key), max(h.Disk, key))
		default:
			h.Disk = key
			h.Size = gibibytes(config.Property(key, "size"))
		}
	}
	if h.Disk == "" || h.Size == 0 {
		return h, fmt.Errorf("STACKGEN_TEST_TEMPLATE has no disk of a known size for %s", storage)
	}
	return h, nil
}

// gibibytes parses a size of Proxmox VE, rounded up; 0 if it is invalid.
func gibibytes(size string) int {
	m := diskSize.FindStringSubmatch(size)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	unit := map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}[m[2]]
	return int(math.Ceil(n * unit / (1 << 30)))
}
