package schema

import (
	"fmt"
	"strings"
	"testing"
)

// seated is a student's VM: the ordinal, the key and the address.
func seated(vms []*VM) string {
	var out []string
	for _, v := range vms {
		text := fmt.Sprintf("%d %s", v.Seat, v.Key)
		if v.Member != "" {
			text += " (" + v.Member + ")"
		}
		if v.Address.IsValid() {
			text += " " + v.Address.Addr().String()
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// TestStudentsKeepTheirSeats has a row for each way in which students got the VM or the
// address of another one.
func TestStudentsKeepTheirSeats(t *testing.T) {
	live := func(n int, key, member string) Seat {
		return Seat{N: n, Key: key, Member: parseMember(member), Live: true}
	}
	counted := []Seat{live(1, "student1", ""), live(2, "student2", ""), live(3, "student3", "")}
	named := []Seat{live(1, "ana", "Ana"), live(2, "bo", "Bo"), live(3, "cy", "Cy")}
	const static = `, cloud_init: {ipv4: "10.0.0.{10+n}/24"}`
	for name, c := range map[string]struct {
		students, rest string
		seats          []Seat
		want, problems string
	}{
		"student 10 does not get the address of student 2": {"count: 10" + static, "", nil,
			"1 student1 10.0.0.11, 2 student2 10.0.0.12, 3 student3 10.0.0.13, 4 student4 10.0.0.14, 5 student5 10.0.0.15, 6 student6 10.0.0.16, 7 student7 10.0.0.17, 8 student8 10.0.0.18, 9 student9 10.0.0.19, 10 student10 10.0.0.20", ""},
		"a sorted roster changes no address":                  {"roster: [Cy, Ana, Bo]" + static, "", named, "1 ana (Ana) 10.0.0.11, 2 bo (Bo) 10.0.0.12, 3 cy (Cy) 10.0.0.13", ""},
		"a student who leaves takes no address from others":   {"roster: [Ana, Cy]" + static, "retired: [bo]", named, "1 ana (Ana) 10.0.0.11, 3 cy (Cy) 10.0.0.13", ""},
		"a new student gets no address that is in use":        {"roster: [Dora, Ana, Cy]" + static, "retired: [bo]", named, "1 ana (Ana) 10.0.0.11, 3 cy (Cy) 10.0.0.13, 4 dora (Dora) 10.0.0.14", ""},
		"a free seat is used again":                           {"roster: [Dora, Ana, Cy]" + static, "", []Seat{named[0], named[2]}, "1 ana (Ana) 10.0.0.11, 2 dora (Dora) 10.0.0.12, 3 cy (Cy) 10.0.0.13", ""},
		"a sorted roster with numbers as keys":                {"roster: [Cy, Dora, Ana], key: \"s{n}\"", "", []Seat{live(1, "s1", "Ana"), live(2, "s2", "Bo"), live(3, "s3", "Cy")}, "1 s1 (Ana), 3 s3 (Cy), 4 s4 (Dora)", ""},
		"a key without a name, and no address that tells":     {"roster: [Ana, Bo], key: \"s{n}\", networks: [{mac: auto}]", "", nil, "1 s1 (Ana), 2 s2 (Bo)", "specs/a.yaml:5:61: warning: 2 VMs of stack a, such as s1: with mac: auto, nothing tells whose VM exists if two branches give one key to two students [bad-roster]"},
		"a key with a name, and no address that tells":        {"roster: [Ana, Bo], networks: [{mac: auto}]", "", nil, "1 ana (Ana), 2 bo (Bo)", ""},
		"a retired student is still in the roster":            {"roster: [Ana, Bo], key: \"s{n}\"", "retired: [s2]", []Seat{live(1, "s1", "Ana"), live(2, "s2", "Bo")}, "1 s1 (Ana), 2 s2 (Bo)", "specs/a.yaml:6:11: error: s2 is in retired and also in the spec [list-clash]"},
		"a student of a count retires":                        {"count: 2", "retired: [student2]", counted, "1 student1, 3 student3", ""},
		"a student retires and the count stays":               {"count: 3", "retired: [student2]", counted, "1 student1, 3 student3, 4 student4", "specs/a.yaml:5:12: warning: student2 leaves, but the count asks for 3 students: another VM is added [bad-roster]"},
		"a retired student whose line is still there":         {"count: 3", "retired: [student2]", []Seat{counted[0], {N: 2, Key: "student2"}, counted[2]}, "1 student1, 3 student3, 4 student4", ""},
		"a student of a count retires without a lock":         {"count: 2", "retired: [student2]", nil, "1 student1, 3 student3", ""},
		"a student with an override retires":                  {"count: 2, overrides: {student2: {memory: 4096}}", "retired: [student2]", counted, "1 student1, 3 student3", ""},
		"a smaller count drops the last ones":                 {"count: 2", "", counted, "1 student1, 2 student2", ""},
		"a count becomes a roster":                            {"roster: [Zoë, Ana, Bo], key: \"student{n}\"", "", counted, "1 student1 (Zoë), 2 student2 (Ana), 3 student3 (Bo)", ""},
		"a roster becomes a count":                            {"count: 3", "", []Seat{live(1, "student1", "Zoë"), live(2, "student2", "Ana")}, "1 student1, 2 student2, 3 student3", ""},
		"a name is corrected":                                 {"roster: [Ana, Bob, Cy]" + static, "renamed: {bo: bob}", named, "1 ana (Ana) 10.0.0.11, 2 bob (Bob) 10.0.0.12, 3 cy (Cy) 10.0.0.13", ""},
		"a corrected name gets a number and no other address": {"roster: [Zoë, Zoe, Ana]" + static, "renamed: {zo: zoe-2}", []Seat{live(1, "zoe", "Zoë"), live(2, "zo", "Zo"), live(3, "ana", "Ana")}, "1 zoe (Zoë) 10.0.0.11, 2 zoe-2 (Zoe) 10.0.0.12, 3 ana (Ana) 10.0.0.13", ""},
		"a destroyed VM of a count takes no seat of others":   {"count: 3", "", []Seat{counted[0], {N: 2, Key: "student2"}, counted[2], live(4, "student4", "")}, "1 student1, 3 student3, 4 student4", ""},
		"a retired VM that may exist is no new student's":     {"count: 3", "", []Seat{counted[0], {N: 2, Key: "student2"}, counted[2]}, "1 student1, 3 student3, 4 student4", ""},
		"a VM that is gone is a new student's":                {"count: 3", "", []Seat{counted[0], {N: 2, Key: "student2", Gone: true}, counted[2]}, "1 student1, 2 student2, 3 student3", ""},
		"a forgotten VM that the spec adopts":                 {"count: 3, overrides: {student2: {adopt: {vmid: 2101}}}", "", []Seat{counted[0], {N: 2, Key: "student2"}, counted[2]}, "1 student1, 2 student2, 3 student3", ""},
		"a count with a forgotten VM becomes a roster":        {"roster: [Ana, Bo, Cy], key: \"student{n}\"", "", []Seat{counted[0], {N: 2, Key: "student2"}, counted[2]}, "1 student1 (Ana), 3 student3 (Bo), 4 student4 (Cy)", ""},
		"a new student has the name of one who left":          {"roster_file: r.csv", "retired: [bo]", []Seat{live(1, "ana", "Ana <a@x>"), {N: 2, Key: "bo", Member: parseMember("Bo <bo1@x>"), Gone: true}}, "1 ana (Ana), 3 bo-2 (Bo)", ""},
		"a student who left returns, and the line is there":   {"roster_file: r2.csv", "retired: [bo]", []Seat{live(1, "ana", "Ana <a@x>"), {N: 2, Key: "bo", Member: parseMember("Bo <bo1@x>"), Gone: true}}, "1 ana (Ana), 3 bo (Bo)", "specs/a.yaml:6:11: error: bo is in retired and also in the spec [list-clash]"},
		"a student who returned keeps the new VM":             {"roster: [Bo, Ana], key: \"s{n}\"", "", []Seat{{N: 1, Key: "s1", Member: Member{Name: "Ana"}}, live(2, "s2", "Bo"), live(3, "s3", "Ana")}, "2 s2 (Bo), 3 s3 (Ana)", ""},
		"two names with one key":                              {"roster: [Zoë, Zoe, Zóe]", "", nil, "1 zoe (Zoë), 2 zoe-2 (Zoe), 3 zoe-3 (Zóe)", ""},
		"two names with one key, sorted":                      {"roster: [Zóe, Zoe, Zoë]", "", []Seat{live(1, "zoe", "Zoë"), live(2, "zoe-2", "Zoe"), live(3, "zoe-3", "Zóe")}, "1 zoe (Zoë), 2 zoe-2 (Zoe), 3 zoe-3 (Zóe)", ""},
		"the first of two names with one key leaves":          {"roster: [Zoe]", "retired: [zoe]", []Seat{live(1, "zoe", "Zoë"), live(2, "zoe-2", "Zoe")}, "2 zoe-2 (Zoe)", ""},
		"a name gets its accent":                              {"roster: [Zoe, Ana]", "", []Seat{live(1, "zoe", "Zoë"), live(2, "ana", "Ana")}, "1 zoe (Zoe), 2 ana (Ana)", ""},
		"a name gets its capitals and apostrophe":             {"roster: [\"Seán O'Brien\"], key: \"s{n}\"", "", []Seat{live(1, "s1", "sean obrien")}, "1 s1 (Seán O'Brien)", ""},
		"a name gets its accent, and the key has a number":    {"roster: [Ana, Zoé]", "", []Seat{live(1, "ana", "Ana"), live(2, "zoe-2", "Zoe")}, "1 ana (Ana), 2 zoe-2 (Zoé)", ""},
		"a retired student's name with another accent":        {"roster: [Zoe, Ana]", "retired: [zoe]", []Seat{live(1, "zoe", "Zoë"), live(2, "ana", "Ana")}, "2 ana (Ana), 3 zoe-2 (Zoe)", ""},
		"two may be the one whose accent is corrected":        {"roster: [Zoe, Zóe]", "", []Seat{live(1, "zoe", "Zoë")}, "2 zoe-2 (Zoe), 3 zoe-3 (Zóe)", ""},
		"a corrected name, and keys that are numbers":         {"roster: [Ana, Bob Roth], key: \"s{n}\"", "corrected: {Bo Rot: Bob Roth}", []Seat{live(1, "s1", "Ana"), live(2, "s2", "Bo Rot")}, "1 s1 (Ana), 2 s2 (Bob Roth)", ""},
		"a corrected name, and keys that are names":           {"roster: [Ana, Bob Roth]", "corrected: {Bo Rot: Bob Roth}", []Seat{live(1, "ana", "Ana"), live(2, "bo-rot", "Bo Rot")}, "1 ana (Ana), 2 bob-roth (Bob Roth)", ""},
		"a correction that was rendered":                      {"roster: [Ana, Bob]", "corrected: {Bo: Bob}", []Seat{live(1, "ana", "Ana"), live(2, "bob", "Bob")}, "1 ana (Ana), 2 bob (Bob)", ""},
		"a correction to nobody":                              {"roster: [Ana, Bob]", "corrected: {Bo: Bobb}", []Seat{live(1, "ana", "Ana"), live(2, "bo", "Bo")}, "1 ana (Ana), 3 bob (Bob)", "specs/a.yaml:6:17: error: Bo is corrected to Bobb, who is not in the roster [bad-roster]"},
		"a correction of somebody who is there":               {"roster: [Bo, Bob]", "corrected: {Bo: Bob}", []Seat{live(1, "bo", "Bo")}, "1 bo (Bo), 2 bob (Bob)", "specs/a.yaml:6:13: error: Bo is corrected to Bob, but both are in the roster [bad-roster]"},
		"another script keeps its key":                        {"roster: [Ana, Анна]", "", []Seat{live(2, "student2", "Анна"), live(1, "ana", "Ana")}, "1 ana (Ana), 2 student2 (Анна)", ""},
		"a name that is a keyword of HCL":                     {"roster: [\"Null\", For]", "", nil, "1 null-2 (Null), 2 for-2 (For)", ""},
		"a name that is the teacher's key":                    {"roster: [Teacher]", "teacher: {}", nil, "1 teacher-2 (Teacher), 0 teacher", ""},
		"letters without an accent to remove":                 {"roster: [Øystein Æsir, Łukasz Groß, \"D'Arcy\", Đorđe]", "", nil, "1 oystein-aesir (Øystein Æsir), 2 lukasz-gross (Łukasz Groß), 3 darcy (D'Arcy), 4 dorde (Đorđe)", ""},
		"letters of another script with numbers as keys":      {"roster: [李雷, Анна], key: \"s{n}\"", "", nil, "1 s1 (李雷), 2 s2 (Анна)", ""},
		"long names that differ at the end":                   {"roster: [\"Maximilian Alexander von Hohenstaufen A\", \"Maximilian Alexander von Hohenstaufen B\"], key: \"student-{name}\"", "", nil, "1 student-maximilian-alexander-von-hohenst (Maximilian Alexander von Hohenstaufen A), 2 student-maximilian-alexander-von-hohen-2 (Maximilian Alexander von Hohenstaufen B)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := strings.SplitAfter(class, "9000}\n")[0] + "students: {" + c.students + "}\n" + c.rest + "\n"
			rosters := map[string]string{"specs/r.csv": "name,email\nAna,a@x\nBo,bo2@x\n", "specs/r2.csv": "name,email\nAna,a@x\nBo,bo1@x\n"}
			vms, problems := joined(t, spec, rosters, c.seats...)
			if got := seated(vms); got != c.want || problems != c.problems {
				t.Errorf("got %s\n%s\nwant %s\n%s", got, problems, c.want, c.problems)
			}
		})
	}
}

// TestResembling: a leaver and a joiner are paired only where each is the only one that the other
// can be.
func TestResembling(t *testing.T) {
	for name, c := range map[string]struct{ left, joined, want string }{
		"letters":                   {"Emil Roth", "Emil Rott", "Emil Roth=Emil Rott"},
		"order":                     {"Roth Emil,Žuk Ana", "Ana Žuk,Emil Roth", "Roth Emil=Emil Roth,Žuk Ana=Ana Žuk"},
		"order with a comma":        {"Roth; Emil", "Emil Roth", "Roth; Emil=Emil Roth"},
		"a second name":             {"Ana Žuk", "Ana Marija Zuk", "Ana Žuk=Ana Marija Zuk"},
		"somebody else":             {"Bo Žuk", "Dora Prva", ""},
		"a short name":              {"Bo", "Al", ""},
		"two joiners":               {"Jan Novak", "Jana Novak,Jane Novak", ""},
		"two leavers":               {"Jan Novak,Jana Novak", "Jane Novak", ""},
		"order before letters":      {"Roth Emil,Emil Rott", "Emil Roth", "Roth Emil=Emil Roth"},
		"scripts without a letter":  {"李雷,王芳", "王雷", ""},
		"nobody joined":             {"Ana", "", ""},
		"one address":               {"Ana Žuk <a@x>,Bo Žuk <b@x>", "Ana Prva <a@x>,Bo Žuk <c@x>", "Ana Žuk <a@x>=Ana Prva <a@x>,Bo Žuk <b@x>=Bo Žuk <c@x>"},
		"two of one name":           {"Bo Žuk <a@x>,Bo Žuk <b@x>", "Bo Žuk <c@x>", ""},
		"order of names in Chinese": {"李 雷", "雷 李", "李 雷=雷 李"},
	} {
		t.Run(name, func(t *testing.T) {
			members := func(text string) (out []Member) {
				for _, m := range strings.Split(text, ",") {
					out = append(out, parseMember(m))
				}
				return out
			}
			left, joined := members(c.left), members(c.joined)
			paired := Resembling(left, joined)
			var got []string
			for _, l := range left {
				if to, ok := paired[l]; ok {
					got = append(got, l.String()+"="+to.String())
				}
			}
			if all := strings.Join(got, ","); all != c.want {
				t.Errorf("got %s, want %s", all, c.want)
			}
		})
	}
}
