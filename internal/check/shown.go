package check

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"stackgen/internal/files"
	"stackgen/internal/guard"
)

// A PlanSum identifies a plan file by what it contains.
type PlanSum [sha256.Size]byte

// SumPlan returns the checksum of a plan file.
func SumPlan(file string) (PlanSum, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return PlanSum{}, fmt.Errorf("cannot read a plan: %w", err)
	}
	return sha256.Sum256(body), nil
}

// Shown is the path, in the folder that guard.ShownVariable names, of the JSON of a plan.
func (s PlanSum) Shown(dir string) string {
	return filepath.Join(dir, hex.EncodeToString(s[:])+".json")
}

// shown returns a saved plan as JSON if `stackgen apply` has read the same file before:
// otherwise OpenTofu starts the provider only to show it once more.
func (h *Hook) shown(file string) []byte {
	dir := os.Getenv(guard.ShownVariable)
	if dir == "" || !h.command.Own {
		return nil
	}
	sum, err := SumPlan(file)
	if err != nil {
		return nil
	}
	body, err := files.Read(sum.Shown(dir), maxState)
	if err != nil {
		return nil
	}
	return body
}
