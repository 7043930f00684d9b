package schema

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A Correction says that a student of the lock has another name now.
type Correction struct {
	Pos
	From, To string
}

// spelling is a name with single spaces, in Unicode's composed form.
func spelling(name string) string { return norm.NFC.String(strings.Join(strings.Fields(name), " ")) }

// words are the words of a name without upper case, accents and apostrophes, in any script.
func words(name string) []string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case letters[r] != "":
			b.WriteString(letters[r])
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}

// plain is a name by which two spellings of it are the same.
func plain(name string) string { return strings.Join(words(name), " ") }

// reordered is the same for a name and for one with its words in another order.
func reordered(name string) string {
	w := words(name)
	slices.Sort(w)
	return strings.Join(w, " ")
}

// resemble reports whether two names may be two spellings of one: a few letters differ, or
// one has words that the other lacks.
func resemble(a, b string) bool {
	a, b = reordered(a), reordered(b)
	if Nearest(a, []string{b}) != "" {
		return true
	}
	some, all := strings.Fields(a), strings.Fields(b)
	if len(some) > len(all) {
		some, all = all, some
	}
	return len(some) > 0 && !slices.ContainsFunc(some, func(w string) bool { return !slices.Contains(all, w) })
}

// Resembling pairs names that left a roster with those that joined it, where each is the only
// one that the other can be: first names whose words changed places, then names that are spelt
// alike.
func Resembling(left, joined []string) map[string]string {
	out, taken := map[string]string{}, map[string]bool{}
	for _, alike := range []func(a, b string) bool{
		func(a, b string) bool { return plain(a) != "" && reordered(a) == reordered(b) },
		resemble,
	} {
		for _, a := range left {
			b, ok := only(joined, func(b string) bool { return !taken[b] && alike(a, b) })
			if !ok || out[a] != "" {
				continue
			}
			if _, back := only(left, func(c string) bool { return out[c] == "" && alike(c, b) }); back {
				out[a], taken[b] = b, true
			}
		}
	}
	return out
}

// only returns the one name of a list that fits.
func only(list []string, fits func(string) bool) (string, bool) {
	found := ""
	for _, name := range list {
		if fits(name) {
			if found != "" {
				return "", false
			}
			found = name
		}
	}
	return found, found != ""
}

// corrections checks the corrected names of a class against its students, and returns those that
// may seat a student.
func (e *expander) corrections(students []student) []Correction {
	n := e.root.Get("corrected")
	if n == nil {
		return nil
	}
	var out []Correction
	in := map[string]bool{}
	for i := range students {
		in[sameName(students[i].name)] = true
	}
	for i, key := range n.Keys {
		c := Correction{key.Pos, spelling(key.Text), spelling(n.Items[i].Text)}
		e.stack.Corrected = append(e.stack.Corrected, c)
		switch {
		case !in[sameName(c.To)]:
			e.errorAt(n.Items[i], "corrected", CodeRoster, "write the name as it is in the roster", "%s is corrected to %s, who is not in the roster", c.From, c.To)
		case in[sameName(c.From)] && sameName(c.From) != sameName(c.To):
			e.errorAt(key, "corrected", CodeRoster, "remove the line, or the student with the former name", "%s is corrected to %s, but both are in the roster", c.From, c.To)
		default:
			out = append(out, c)
		}
	}
	return out
}
