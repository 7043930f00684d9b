package schema

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

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

// A Member is a student by name, and by e-mail address if the roster has one.
type Member struct{ Name, Email string }

// String is how a spec and messages write a member, such as `Ana Prva <ana@school.example>`.
func (m Member) String() string {
	if m.Email == "" {
		return m.Name
	}
	return m.Name + " <" + m.Email + ">"
}

// parseMember reads what String writes, with the spaces of a roster.
func parseMember(text string) Member {
	text = spelling(text)
	if name, email, ok := strings.Cut(text, " <"); ok && strings.HasSuffix(email, ">") {
		return Member{name, strings.ToLower(strings.TrimSuffix(email, ">"))}
	}
	return Member{Name: text}
}

// may reports whether another member can be this one: the name is the same, and the address
// is, or this one has none.
func (m Member) may(o Member) bool {
	return sameName(m.Name) == sameName(o.Name) && (m.Email == "" || m.Email == o.Email)
}

// Resembling pairs members that left a roster with those that joined it, where each is the only
// one that the other can be: first those with one address, then names whose words changed places,
// then names that are spelt alike.
func Resembling(left, joined []Member) map[Member]Member {
	out, taken := map[Member]Member{}, map[Member]bool{}
	for _, alike := range []func(a, b Member) bool{
		func(a, b Member) bool { return a.Email != "" && a.Email == b.Email },
		func(a, b Member) bool { return plain(a.Name) != "" && reordered(a.Name) == reordered(b.Name) },
		func(a, b Member) bool { return resemble(a.Name, b.Name) },
	} {
		for _, a := range left {
			b, ok := only(joined, func(b Member) bool { return !taken[b] && alike(a, b) })
			if _, paired := out[a]; !ok || paired {
				continue
			}
			if _, back := only(left, func(c Member) bool { _, paired := out[c]; return !paired && alike(c, b) }); back {
				out[a], taken[b] = b, true
			}
		}
	}
	return out
}

// only returns the one of a list that fits.
func only[T any](list []T, fits func(T) bool) (T, bool) {
	var found T
	n := 0
	for _, one := range list {
		if fits(one) {
			found, n = one, n+1
		}
	}
	return found, n == 1
}
