package schema

import "strings"

// A Correction says that a student of the lock has another name now.
type Correction struct {
	Pos
	From, To string
}

// known seats the students that the lock knows: by name and address, by a correction of them, by
// another spelling, by a rename, or by the place in a class that had only a count before.
func (g *seating) known(students []student, corrected []Correction) {
	k := &knowing{seating: g, students: students, used: map[*Seat]bool{}}
	k.match(sameName, g.usable)
	for _, c := range corrected {
		k.correct(parseMember(c.From), parseMember(c.To))
	}
	k.match(plain, func(s *Seat) bool { return s.Live && !g.listed[s.Key] })
	to := map[string]string{}
	for _, r := range g.stack.Renamed {
		to[r.From] = r.To
	}
	for _, s := range g.seats {
		counted := s.Member.Name == "" && !g.byName
		if k.used[s] || !g.usable(s) || counted && !g.vacant(s) || !counted && to[s.Key] == "" {
			continue
		}
		for i := range students {
			if students[i].was == nil && (counted || g.mayBe(to[s.Key], s.N, slug(students[i].name), len(students))) {
				k.give(&students[i], s)
				break
			}
		}
	}
}

// A knowing gives students the seats that the lock has for them. No student gets a seat that may
// be another one's.
type knowing struct {
	*seating
	students []student
	used     map[*Seat]bool
}

func (k *knowing) give(to *student, s *Seat) { to.n, to.was, k.used[s] = s.N, s, true }

// agreements are what tells that a student of the same name is the one of a seat, the surest one
// first: the address, the address at another domain, and no address to compare.
var agreements = []func(s *student, at *Seat) bool{
	func(s *student, at *Seat) bool { return s.email == at.Member.Email && s.email != "" },
	func(s *student, at *Seat) bool { return mailbox(s.email) == mailbox(at.Member.Email) && s.email != "" },
	func(s *student, at *Seat) bool { return s.email == "" || at.Member.Email == "" },
}

// match seats students whose names are the same by a measure, where each is the only one that
// the other can be.
func (k *knowing) match(by func(string) string, usable func(*Seat) bool) {
	free, joined := k.free(by, usable), map[string][]*student{}
	for i := range k.students {
		if s := &k.students[i]; s.was == nil {
			joined[by(s.name)] = append(joined[by(s.name)], s)
		}
	}
	for _, agree := range agreements {
		for i := range k.students {
			s, name := &k.students[i], by(k.students[i].name)
			if s.was != nil {
				continue
			}
			at, ok := only(free[name], func(at *Seat) bool { return !k.used[at] && agree(s, at) })
			if !ok {
				continue
			}
			if _, back := only(joined[name], func(s *student) bool { return s.was == nil && agree(s, at) }); back {
				k.give(s, at)
			}
		}
	}
}

// free are the usable seats that nobody has yet, by the names of their members. Those of VMs that
// are destroyed come last, and count only without another one.
func (k *knowing) free(by func(string) string, usable func(*Seat) bool) map[string][]*Seat {
	out := map[string][]*Seat{}
	for _, s := range k.seats {
		name := by(s.Member.Name)
		if name != "" && usable(s) && !k.used[s] && (s.Live || len(out[name]) == 0) {
			out[name] = append(out[name], s)
		}
	}
	return out
}

// correct seats the student that a correction names, who has no other seat.
func (k *knowing) correct(from, to Member) {
	var joined []*student
	for i := range k.students {
		joined = append(joined, &k.students[i])
	}
	s, ok := only(joined, func(s *student) bool { return to.may(s.member()) })
	if !ok || s.was != nil {
		return
	}
	at, ok := only(k.seats, func(at *Seat) bool { return at.Live && !k.used[at] && from.may(at.Member) })
	if !ok {
		at, ok = only(k.seats, func(at *Seat) bool { return k.usable(at) && !k.used[at] && from.may(at.Member) })
	}
	if ok {
		k.give(s, at)
		s.corrected = true
	}
}

// mailbox is an address without its domain.
func mailbox(email string) string {
	name, _, _ := strings.Cut(email, "@")
	return name
}

// corrections checks the corrected names of a class against its students, and returns those that
// may seat a student.
func (e *expander) corrections(students []student) []Correction {
	n := e.root.Get("corrected")
	if n == nil {
		return nil
	}
	var out []Correction
	e.stack.Corrected = []Correction{} // there are none yet, and the spec has the key
	for i, key := range n.Keys {
		c := Correction{key.Pos, spelling(key.Text), spelling(n.Items[i].Text)}
		e.stack.Corrected = append(e.stack.Corrected, c)
		from, to := parseMember(c.From), parseMember(c.To)
		var are []string
		both := false
		for i := range students {
			switch m := students[i].member(); {
			case to.may(m):
				are = append(are, m.String())
			case from.may(m) && sameName(from.Name) != sameName(to.Name), from.may(m) && from.Email != "":
				both = true
			}
		}
		switch {
		case len(are) == 0:
			e.errorAt(n.Items[i], "corrected", CodeRoster, "write the name as it is in the roster, or remove the line if the student left",
				"%s is corrected to %s, who is not in the roster", c.From, c.To)
		case len(are) > 1:
			e.errorAt(n.Items[i], "corrected", CodeRoster, "write which one: "+strings.Join(are, ", or "),
				"%s is corrected to %s, and the roster has %d students of this name", c.From, c.To, len(are))
		case both:
			e.errorAt(key, "corrected", CodeRoster, "remove the line, or the student with the former name",
				"%s is corrected to %s, but both are in the roster", c.From, c.To)
		default:
			out = append(out, c)
		}
	}
	return out
}
