package pvesim

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Size is a number of bytes. In YAML, it may be 32G, 512M or a plain number.
type Size int64

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30
	tib = int64(1) << 40
)

// UnmarshalYAML decodes 32G, 512M or a plain number.
func (s *Size) UnmarshalYAML(n *yaml.Node) error {
	v, err := parseSize(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*s = Size(v)
	return nil
}

// MarshalYAML encodes the short form.
func (s Size) MarshalYAML() (any, error) { return formatSize(int64(s)), nil }

// ParseSize decodes 32G, 512M or a plain number.
func ParseSize(v string) (Size, error) {
	n, err := parseSize(v)
	return Size(n), err
}

func parseSize(v string) (int64, error) {
	num, mult := v, int64(1)
	if v != "" {
		if i := strings.IndexByte("KMGT", v[len(v)-1]); i >= 0 {
			num, mult = v[:len(v)-1], []int64{kib, mib, gib, tib}[i]
		}
	}
	f, err := strconv.ParseFloat(num, 64)
	if err != nil || f < 0 {
		return 0, fmt.Errorf("%q is not a size", v)
	}
	return int64(f * float64(mult)), nil
}

// formatSize returns a size as it is written in a guest's configuration.
func formatSize(n int64) string {
	for _, u := range []struct {
		div    int64
		suffix string
	}{{tib, "T"}, {gib, "G"}, {mib, "M"}, {kib, "K"}} {
		if n >= u.div && n%u.div == 0 {
			return strconv.FormatInt(n/u.div, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}

// humanSize returns a size as it is written in task logs.
func humanSize(n int64) string {
	switch {
	case n >= tib:
		return fmt.Sprintf("%.1f TiB", float64(n)/float64(tib))
	case n >= gib:
		return fmt.Sprintf("%.1f GiB", float64(n)/float64(gib))
	case n >= mib:
		return fmt.Sprintf("%.1f MiB", float64(n)/float64(mib))
	case n >= kib:
		return fmt.Sprintf("%.1f KiB", float64(n)/float64(kib))
	}
	return fmt.Sprintf("%.1f B", float64(n))
}
