package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/agext/levenshtein"
)

// controlIn returns the first character of text that no text may contain.
func controlIn(text string) (rune, bool) {
	if matches("text", text) {
		return 0, false
	}
	for _, r := range text {
		if !matches("text", string(r)) {
			return r, true
		}
	}
	return 0, false
}

// controlName describes a character that controlIn found.
func controlName(r rune) string {
	if unicode.IsControl(r) {
		return fmt.Sprintf("the control character %U", r)
	}
	return fmt.Sprintf("the invisible character %U, which changes lines or the direction of text", r)
}

// nearest returns the candidate that is at most two edits away, or "".
func nearest(word string, candidates []string) string {
	best, least := "", 3
	if len(word) > 64 { // no key is that long, and the time grows with its square
		return best
	}
	for _, c := range candidates {
		if d := levenshtein.Distance(word, c, nil); d < least && d < len(c) {
			best, least = c, d
		}
	}
	return best
}

// VLANs are single VLANs instead of VLANs and ranges: the provider cannot read a
// range, and then fails for the whole unit.
func VLANs(list []string) []string {
	var out []string
	for _, text := range list {
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			out = append(out, text)
			continue
		}
		from, _ := strconv.Atoi(first) // the format has checked both
		to, _ := strconv.Atoi(last)
		for vlan := from; vlan <= to; vlan++ {
			out = append(out, strconv.Itoa(vlan))
		}
	}
	return out
}
