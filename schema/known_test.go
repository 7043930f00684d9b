package schema

import (
	"strings"
	"testing"
)

// TestMembersOfOneName: nobody gets the VM of another member of the same name, in any order of
// the roster. Without a proof, nobody gets it.
func TestMembersOfOneName(t *testing.T) {
	live := func(n int, key, member string) Seat {
		return Seat{N: n, Key: key, Member: parseMember(member), Live: true}
	}
	gone := func(n int, key, member string) Seat { return Seat{N: n, Key: key, Member: parseMember(member)} }
	one := []Seat{live(1, "anna", "Anna <a@x>"), live(2, "bo", "Bo <b@x>")}
	two := []Seat{live(1, "anna", "Anna <a@x>"), live(2, "anna-2", "Anna <c@x>")}
	unknown := []Seat{live(1, "anna", "Anna")}
	for name, c := range map[string]struct {
		roster, rest string
		seats        []Seat
		want         string
	}{
		"both are new":                                {"Anna,a@x Anna,c@x", "", nil, "1 anna, 2 anna-2"},
		"the second one joins above":                  {"Anna,c@x Anna,a@x Bo,b@x", "", one, "1 anna, 2 bo, 3 anna-2"},
		"the second one joins, addresses in capitals": {"Anna,c@x Anna,A@X Bo,b@x", "", one, "1 anna, 2 bo, 3 anna-2"},
		"the roster is sorted":                        {"Anna,c@x Anna,a@x", "", two, "1 anna, 2 anna-2"},
		"the first one leaves":                        {"Anna,c@x", "", two, "2 anna-2"},
		"the first one leaves and is retired":         {"Anna,c@x", "retired: [anna]", two, "2 anna-2"},
		"another one comes in the same edit":          {"Anna,d@x Bo,b@x", "", one, "2 bo, 3 anna-2"},
		"another one in another spelling":             {"ánna,d@x Bo,b@x", "", one, "2 bo, 3 anna-2"},
		"one is replaced":                             {"Anna,d@x Anna,a@x", "", two, "1 anna, 3 anna-3"},
		"the domain changes":                          {"Anna,c@y Anna,a@y", "", two, "1 anna, 2 anna-2"},
		"an accent is corrected":                      {"Ánna,c@x Anna,a@x", "", two, "1 anna, 2 anna-2"},
		"both accents are corrected":                  {"Ánna,c@x Ánna,a@x", "", two, "1 anna, 2 anna-2"},
		"an address is corrected":                     {"Anna,d@x Anna,a@x", "corrected: {Anna <c@x>: Anna <d@x>}", two, "1 anna, 2 anna-2"},
		"the correction stays":                        {"Anna,d@x Anna,a@x", "corrected: {Anna <c@x>: Anna <d@x>}", []Seat{two[0], live(2, "anna-2", "Anna <d@x>")}, "1 anna, 2 anna-2"},
		"a name is corrected":                         {"Anna,c@x Anja,a@x", "corrected: {Anna <a@x>: Anja}", two, "1 anja, 2 anna-2"},
		"the lock has no address yet":                 {"Anna,a@x", "", unknown, "1 anna"},
		"the lock has no address, and two come":       {"Anna,c@x Anna,a@x", "", unknown, "2 anna-2, 3 anna-3"},
		"the spec says whose it is":                   {"Anna,c@x Anna,a@x", "corrected: {Anna: Anna <a@x>}", unknown, "1 anna, 2 anna-2"},
		"the roster has no addresses any more":        {"Anna, Bo,", "", one, "1 anna, 2 bo"},
		"no addresses, and one of two left":           {"Anna, Bo,b@x", "", two, "3 anna-3, 4 bo"},
		"the list says that she is gone":              {"Anna,a@x Anna,c@x", "retired: [anna]", []Seat{gone(1, "anna", "Anna <a@x>"), two[1]}, "2 anna-2, 3 anna"},
		"numbers as keys":                             {"Anna,c@x Anna,a@x", "", []Seat{live(1, "s1", "Anna <a@x>"), live(2, "s2", "Anna <c@x>")}, "1 s1, 2 s2"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := class + c.rest + "\n"
			if strings.HasPrefix(name, "numbers") {
				spec = strings.Replace(spec, "r.csv", `r.csv, key: "s{n}"`, 1)
			}
			vms, problems := joined(t, spec, map[string]string{"specs/r.csv": "name,mail\n" + strings.ReplaceAll(c.roster, " ", "\n") + "\n"}, c.seats...)
			var got []string
			for _, v := range vms {
				got = append(got, strings.Split(seated([]*VM{v}), " (")[0])
			}
			if all := strings.Join(got, ", "); all != c.want {
				t.Errorf("got %s\n%s\nwant %s", all, problems, c.want)
			}
		})
	}
}

// TestCorrectedToOneOfTwo: a correction names one student.
func TestCorrectedToOneOfTwo(t *testing.T) {
	for corrected, want := range map[string]string{
		"Ana: Anna":              "error: Ana is corrected to Anna, and the roster has 2 students of this name [bad-roster]",
		"Ana: Anna <a@x>":        "",
		"Ana: Anna <d@x>":        "error: Ana is corrected to Anna <d@x>, who is not in the roster [bad-roster]",
		"Anna <a@x>: Anna <c@x>": "error: Anna <a@x> is corrected to Anna <c@x>, but both are in the roster [bad-roster]",
		"Anna <b@x>: Anna <c@x>": "",
		"Anna: Anna <a@x>":       "",
	} {
		_, problems := joined(t, class+"corrected: {"+corrected+"}\n", map[string]string{"specs/r.csv": "name,mail\nAnna,a@x\nAnna,c@x\n"})
		if !strings.HasSuffix(problems, want) || want == "" && problems != "" {
			t.Errorf("%s: %s, want %s", corrected, problems, want)
		}
	}
}
