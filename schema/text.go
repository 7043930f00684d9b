package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Nearest returns the candidate that a word is most likely a misspelling of, or "". A short
// word has few letters that can be wrong: "plan" is not "man".
func Nearest(word string, candidates []string) string {
	best, least := "", min(2, (utf8.RuneCountInString(word)+1)/3)+1
	if len(word) > 64 { // no key is that long, and the time grows with its square
		return best
	}
	for _, c := range candidates {
		if d := edits([]rune(word), []rune(c)); d < least && d < len(c) {
			best, least = c, d
		}
	}
	return best
}

// edits is the number of letters to insert, remove, replace or swap with the next one.
func edits(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
		for j := 1; j <= len(b); j++ {
			switch {
			case i == 0:
				rows[i][j] = j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
				}
			}
		}
	}
	return rows[len(a)][len(b)]
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
