package schema

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
)

// Seats are the seats of all classes in the lock, by stack.
type Seats map[string][]Seat

// A Seat is what the lock has of a student's VM. Its ordinal N stays the same when
// the roster is sorted or another student leaves, and so does everything that is
// computed from {n}: keys, VMIDs and addresses.
type Seat struct {
	N      int // from 1
	Key    string
	Member Member // without a name in a class by count
	Live   bool   // neither retired nor forgotten
	Gone   bool   // retired or forgotten, and seen to be gone; of a replica, also forgotten

	Node    string       // of a replica
	Replica *SeatReplica // of a Template
}

// A SeatReplica is what the lock has of a replica of a Template.
type SeatReplica struct {
	Release string
	Image   Image
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
	g := &seating{
		expander: e, at: at, pattern: pattern, byName: strings.Contains(pattern, "{name}"),
		taken: map[int]bool{}, listed: map[string]bool{},
	}
	if _, ok := e.withOrdinal(at, pattern, 1); !ok {
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

// vacant reports whether a count may give a student a seat that has no name: a VM that may exist
// after it was retired or forgotten may be somebody's, unless the spec adopts it.
func (g *seating) vacant(s *Seat) bool {
	return s.Live || s.Gone || g.root.Has("students", "overrides", s.Key, guest.Adopt)
}

// counted seats the students of a count: those that stay are the first ones.
func (g *seating) counted(students []student) {
	next, retired := 0, ""
	for _, s := range g.seats {
		switch {
		case g.listed[s.Key]:
			if s.Live {
				retired = s.Key
			}
		case next < len(students) && g.vacant(s):
			students[next].n, students[next].was = s.N, s
			next++
		}
	}
	if retired != "" && next < len(students) {
		g.warn(students[next].pos, "students.count", CodeRoster, "lower the count by the students that leave, unless others replace them",
			"%s leaves, but the count asks for %d students: another VM is added", retired, len(students))
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
			students[i].whose = cmp.Or(students[i].email, sameName(students[i].name))
		}
		return true
	}
	errors := g.errors
	used := map[string]bool{"teacher": g.root.Has("teacher")} // by another one
	gone := map[string]*Seat{}                                // retired and forgotten keys
	for _, s := range g.seats {
		if used[s.Key] = true; !s.Live {
			gone[s.Key] = s
		}
	}
	mayKeep := func(s *student) bool { // its key
		own := s.was != nil && s.was.Key == s.key
		return !Reserved(s.key) && (own || !used[s.key] || gone[s.key] != nil && s.mayBe(gone[s.key].Member))
	}
	for i := range students {
		s := &students[i]
		name := cmp.Or(slug(s.name), "student"+strconv.Itoa(s.n)) // a name in another script
		number := g.recorded(s, name)
		for s.key = g.key(s.n, name, number); !mayKeep(s); s.key = g.key(s.n, name, number) {
			number++
		}
		used[s.key] = true
		delete(gone, s.key)
		if s.corrected && s.key != s.was.Key {
			g.stack.Renamed = append(g.stack.Renamed, Rename{Pos: s.pos, From: s.was.Key, To: s.key})
		}
		if s.whose = s.email; number > 1 {
			s.whose = cmp.Or(s.email, sameName(s.name))
		}
		s.spelt = number > 1 || g.cut(s.n, name, 1) != strings.ToLower(s.name)
	}
	return g.errors == errors
}

var digits = regexp.MustCompile(`-[0-9]+`)

// recorded is the number in the key that the lock has for a student, or 1 if it has none,
// or that is not a key of the student's name.
func (g *seating) recorded(s *student, name string) int {
	if s.was == nil {
		return 1
	}
	for _, text := range digits.FindAllString(s.was.Key, -1) {
		if n := Scalar(Pos{}, ShapeInt, text[1:]).Int(); n > 1 && g.key(s.n, name, n) == s.was.Key {
			return n
		}
	}
	return 1
}

// key makes a key that is not too long from an ordinal and a slug.
func (g *seating) key(n int, slug string, number int) string {
	return g.filled(n, g.cut(n, slug, number))
}

// filled is the pattern with an ordinal and a slug.
func (g *seating) filled(n int, slug string) string {
	out, _ := g.withOrdinal(g.at, g.pattern, n) // seat has checked it
	return strings.ReplaceAll(out, "{name}", slug)
}

// cut shortens a slug so that it fits into the key, with a number from 2 on.
func (g *seating) cut(n int, slug string, number int) string {
	rest := g.filled(n, "")
	suffix := ""
	if number > 1 {
		suffix = "-" + strconv.Itoa(number)
	}
	room := max(1, maxKey-len(rest)-len(suffix))
	return strings.Trim(slug[:min(len(slug), room)], "-") + suffix
}

// sameName is a name without the difference between upper and lower case.
func sameName(name string) string { return strings.ToLower(name) }
