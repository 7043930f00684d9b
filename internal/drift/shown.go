package drift

import (
	"cmp"
	"strconv"
	"strings"
)

// mostShown is the length of a value in a sentence, in characters.
const mostShown = 80

// shown is a value for a sentence.
func shown(value, unit string) string {
	text := cmp.Or(value, "nothing")
	if _, err := strconv.ParseFloat(value, 64); err == nil && unit != "" { // not of "on"
		text += " " + unit
	}
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > mostShown {
		return string(runes[:mostShown]) + "..."
	}
	return string(runes)
}

// apart is two values that differ, for a sentence. Of long ones that begin alike, such as
// lists of SSH keys, it is the words from the first that differs.
func apart(a, b, unit string) (string, string) {
	one, other := shown(a, unit), shown(b, unit)
	if one != other {
		return one, other
	}
	inA, inB := strings.Fields(a), strings.Fields(b)
	n := 0
	for n < min(len(inA), len(inB)) && inA[n] == inB[n] {
		n++
	}
	rest := func(words []string) string {
		if len(words) == n {
			return "no more than that"
		}
		return "..." + shown(strings.Join(words[n:], " "), unit)
	}
	return rest(inA), rest(inB)
}
