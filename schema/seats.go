package schema

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Seats are the seats of all classes in the lock, by stack.
type Seats map[string][]Seat

// A Seat is what the lock has of a student's VM. Its ordinal N stays the same when
// the roster is sorted or another student leaves, and so does everything that is
// computed from {n}: keys, VMIDs and addresses.
type Seat struct {
	N      int // from 1
	Key    string
	Member string // "" of a class by count
	Live   bool   // neither retired nor forgotten
}

// maxKey is the length of the longest key.
const maxKey = 40

// A seating gives every student of a class an ordinal and a key: those of the lock,
// or the lowest free ordinal.
type seating struct {
	*expander
	at      *Node  // the pattern of keys, for problems
	pattern string // with {n} or {name}
	byName  bool   // with {name}

	seats  []*Seat         // of the lock, by ordinal
	taken  map[int]bool    // ordinals that the lock has, or that were given
	listed map[string]bool // keys in retired or forgotten
}

// seat gives the students of a class their ordinals and keys, and sorts them by
// ordinal. It reports whether they can have keys.
func (e *expander) seat(at *Node, pattern string, r *roster) bool {
	g := &seating{expander: e, at: at, pattern: pattern, byName: strings.Contains(pattern, "{name}"), taken: map[int]bool{}, listed: map[string]bool{}}
	if _, ok := e.withOrdinal(at, pattern, 1, ""); !ok {
		return false
	}
	for _, item := range slices.Concat(e.stack.Retired, e.stack.Forgotten) {
		g.listed[item.Name] = true
	}
	for _, s := range e.seats[e.formerName()] {
		g.seats, g.taken[s.N] = append(g.seats, &s), true
	}
	slices.SortStableFunc(g.seats, func(a, b *Seat) int { // a seat whose VM is destroyed takes nobody from another one
		if a.Live != b.Live && a.Live {
			return -1
		} else if a.Live != b.Live {
			return 1
		}
		return cmp.Compare(a.N, b.N)
	})
	if r.named {
		g.known(r.students, e.corrections(r.students))
	} else {
		g.counted(r.students)
	}
	g.added(r)
	slices.SortStableFunc(r.students, func(a, b student) int { return cmp.Compare(a.n, b.n) })
	return g.keys(r.students)
}

// formerName is the name that the lock has for the stack.
func (e *expander) formerName() string {
	if e.seats[e.stack.Name] == nil {
		for name := range e.seats {
			if e.project.NewName(name) == e.stack.Name {
				return name
			}
		}
	}
	return e.stack.Name
}

// usable reports whether a student can have a seat: the VM is not on its way out.
func (g *seating) usable(s *Seat) bool { return s.Live || !g.listed[s.Key] }

// counted seats the students of a count: those that stay are the first ones.
func (g *seating) counted(students []student) {
	next, retired := 0, ""
	for _, s := range g.seats {
		switch {
		case g.listed[s.Key]:
			if s.Live {
				retired = s.Key
			}
		case next < len(students):
			students[next].n, students[next].was = s.N, s
			next++
		}
	}
	if retired != "" && next < len(students) {
		g.warn(students[next].pos, "students.count", CodeRoster, "lower the count by the students that leave, unless others replace them",
			"%s leaves, but the count asks for %d students: another VM is added", retired, len(students))
	}
}

// known seats the students that the lock knows by their name, by a correction of it, by a
// rename, or by the place in a class that had only a count before.
func (g *seating) known(students []student, corrected []Correction) {
	byMember := map[string]*Seat{}
	for _, s := range g.seats {
		if name := sameName(s.Member); name != "" && g.usable(s) && byMember[name] == nil {
			byMember[name] = s
		}
	}
	used := map[*Seat]bool{}
	give := func(to *student, s *Seat) {
		to.n, to.was, used[s] = s.N, s, true
	}
	for i := range students {
		if s := byMember[sameName(students[i].name)]; s != nil && !used[s] {
			give(&students[i], s)
		}
	}
	for _, c := range corrected {
		i := slices.IndexFunc(students, func(s student) bool { return sameName(s.name) == sameName(c.To) })
		if s := byMember[sameName(c.From)]; s != nil && !used[s] && students[i].was == nil {
			give(&students[i], s)
			students[i].corrected = true
		}
	}
	g.respelt(students, used, give)
	to := map[string]string{}
	for _, r := range g.stack.Renamed {
		to[r.From] = r.To
	}
	for _, s := range g.seats {
		counted := s.Member == "" && !g.byName
		if used[s] || !g.usable(s) || !counted && to[s.Key] == "" {
			continue
		}
		for i := range students {
			if students[i].was == nil && (counted || g.mayBe(to[s.Key], s.N, slug(students[i].name), len(students))) {
				give(&students[i], s)
				break
			}
		}
	}
}

// respelt seats the students whose names differ from one in the lock in upper case, accents and
// apostrophes only, where it can be no other one's.
func (g *seating) respelt(students []student, used map[*Seat]bool, give func(*student, *Seat)) {
	free, joined := map[string][]*Seat{}, map[string][]*student{}
	for _, s := range g.seats {
		if name := plain(s.Member); name != "" && s.Live && !g.listed[s.Key] && !used[s] {
			free[name] = append(free[name], s)
		}
	}
	for i := range students {
		if students[i].was == nil {
			name := plain(students[i].name)
			joined[name] = append(joined[name], &students[i])
		}
	}
	for i := range students {
		if name := plain(students[i].name); students[i].was == nil && len(free[name]) == 1 && len(joined[name]) == 1 {
			give(&students[i], free[name][0])
		}
	}
}

// mayBe reports whether a key is that of a name, with a number if other students of the
// class have the same one.
func (g *seating) mayBe(key string, n int, slug string, students int) bool {
	for number := 1; number <= students; number++ {
		if g.key(n, slug, number) == key {
			return true
		}
	}
	return false
}

// added gives new students the lowest free ordinals.
func (g *seating) added(r *roster) {
	n := 1
	for i := range r.students {
		if r.students[i].n > 0 {
			continue
		}
		for g.taken[n] || !g.byName && g.listed[g.key(n, "", 1)] {
			n++
		}
		r.students[i].n, g.taken[n] = n, true
	}
}

// keys gives every student a key. Names that differ can have one slug: then the later
// ones get a number.
func (g *seating) keys(students []student) bool {
	if !g.byName {
		for i := range students {
			students[i].key = g.key(students[i].n, "", 1)
		}
		return true
	}
	used, errors := map[string]string{}, g.errors // key -> who has it
	if g.root.Has("teacher") {
		used["teacher"] = "the teacher's VM"
	}
	for _, s := range g.seats {
		used[s.Key] = cmp.Or(sameName(s.Member), used[s.Key])
	}
	for i := range students {
		s := &students[i]
		name := cmp.Or(slug(s.name), "student"+strconv.Itoa(s.n)) // a name in another script
		number := 1
		if s.was != nil {
			number = g.recorded(s, name)
		}
		for ; ; number++ {
			s.key = g.key(s.n, name, number)
			own := s.was != nil && s.was.Key == s.key
			if holder := used[s.key]; !Reserved(s.key) && (own || holder == "" || holder == sameName(s.name)) {
				break
			}
		}
		used[s.key] = sameName(s.name)
		if s.corrected && s.key != s.was.Key {
			g.stack.Renamed = append(g.stack.Renamed, Rename{Pos: s.pos, From: s.was.Key, To: s.key})
		}
		s.spelt = number > 1 || g.cut(s.n, name, 1) != strings.ToLower(s.name)
	}
	return g.errors == errors
}

var digits = regexp.MustCompile(`-[0-9]+`)

// recorded is the number in the key that the lock has for a student, or 1 if that is
// not a key of the student's name.
func (g *seating) recorded(s *student, name string) int {
	for _, text := range digits.FindAllString(s.was.Key, -1) {
		if n := Scalar(Pos{}, ShapeInt, text[1:]).Int(); n > 1 && g.key(s.n, name, n) == s.was.Key {
			return n
		}
	}
	return 1
}

// key makes a key that is not too long from an ordinal and a slug.
func (g *seating) key(n int, slug string, number int) string {
	out, _ := g.withOrdinal(g.at, g.pattern, n, g.cut(n, slug, number))
	return out
}

// cut shortens a slug so that it fits into the key, with a number from 2 on.
func (g *seating) cut(n int, slug string, number int) string {
	rest, _ := g.withOrdinal(g.at, g.pattern, n, "")
	suffix := ""
	if number > 1 {
		suffix = "-" + strconv.Itoa(number)
	}
	room := max(1, maxKey-len(rest)-len(suffix))
	return strings.Trim(slug[:min(len(slug), room)], "-") + suffix
}

// sameName is a name without the difference between upper and lower case.
func sameName(name string) string { return strings.ToLower(name) }
