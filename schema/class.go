package schema

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"stackgen/internal/secret"
	"stackgen/internal/sshkey"
)

// students turns a class's students into VMs.
func (e *expander) students(key, v *Node, r *roster) {
	if r == nil {
		return
	}
	e.vm = nil
	at, text := key, "student{n}"
	if r.named {
		text = "{name}"
	}
	if k := v.Get("key"); k != nil {
		at, text = k, k.Text
	}
	if strings.Contains(text, "{name}") && !r.named {
		e.errorAt(at, "students.key", CodePlaceholder, "use {n}, or add a roster", "{name} needs a roster")
		return
	}
	if !e.seat(at, text, r) {
		return
	}
	own := v.Without("count", "roster", "roster_file", "key", "overrides")
	varies := hasOrdinal(own)
	overrides := e.overridesOf(v)
	for _, s := range r.students {
		m := member{
			key: s.key, pos: key.Pos, keyPos: s.pos, path: "students", n: s.n, student: true, spelt: s.spelt,
			name: s.name, email: s.email, whose: s.whose, formerly: s.formerly(), extra: s.extra, own: own,
		}
		if varies {
			m.own = e.numbered(m, own)
		}
		e.add(overrides.apply(m))
	}
	e.vm = nil
	overrides.unused("students", "no student has the key %q")
}

// entriesOf returns the entries of a map, for many searches.
func entriesOf(n *Node) map[string]*Node {
	out := map[string]*Node{}
	if n != nil {
		for i, key := range n.Keys {
			out[key.Text] = n.Items[i]
		}
	}
	return out
}

// letters are the Latin letters that have no accent to remove.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d",
	'þ': "th", 'ł': "l", 'ħ': "h", 'ı': "i", 'ŋ': "n", 'ə': "e",
}

// slug turns a name into a key: without accents, and with a hyphen for
// everything but letters and digits.
func slug(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case letters[r] != "":
			b.WriteString(letters[r])
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String()[:min(b.Len(), maxKey)], "-")
}

// publicKeys reads the SSH keys of a VM: a key is taken as it is, a file line by
// line.
func (e *expander) publicKeys(n *Node) *Node {
	if known := e.sshKeys[n]; known != nil {
		return known
	}
	out := &Node{Pos: n.Pos, Shape: ShapeList}
	e.sshKeys[n] = out
	vm := e.vm
	e.vm = nil // the mistake is that of the key or its file
	defer func() { e.vm = vm }()
	for _, item := range n.Items {
		if !sshkey.Like(item.Text) {
			out.Items = append(out.Items, e.publicKeyFile(item)...)
			continue
		}
		e.publicKey(item.Pos, item.Text)
		out.Items = append(out.Items, Scalar(item.Pos, ShapeString, strings.TrimSpace(item.Text)))
	}
	return out
}

// publicKey checks a public key: Proxmox VE refuses the whole configuration for a wrong one,
// after the clone.
func (e *expander) publicKey(at Pos, text string) {
	if fault := sshkey.Fault(text); fault != "" {
		e.errorPos(at, "cloud_init.ssh_keys", CodeValue, "copy the whole line of the .pub file", "this is no SSH public key: %s", fault)
	}
}

func (e *expander) publicKeyFile(at *Node) (keys []*Node) {
	content, ok := e.files[at.sibling()]
	switch {
	case !ok: // what is read are the paths that the specs have
		e.errorAt(at, "cloud_init.ssh_keys", CodeFile, "write the keys of each guest under overrides",
			"the path of a file with public keys cannot have {n}")
		return nil
	case content.Err != "":
		e.errorAt(at, "cloud_init.ssh_keys", CodeFile, "write a public key, or the path of a file with public keys, relative to the spec",
			"cannot read %s: %s", at.sibling(), content.Err)
		return nil
	case secret.In(string(content.Body)):
		e.errorAt(at, "cloud_init.ssh_keys", CodeSecret, "use the .pub file", "%s contains a private key", at.sibling())
		return nil
	}
	faults := e.errors
	for i, line := range strings.Split(string(content.Body), "\n") {
		pos := Pos{File: at.sibling(), Line: i + 1, Col: 1}
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if r, ok := controlIn(line); ok {
			e.errorPos(pos, "cloud_init.ssh_keys", CodeValue, fmt.Sprintf("remove the character %U", r), "text contains %s", controlName(r))
			continue
		}
		e.publicKey(pos, line)
		keys = append(keys, Scalar(at.Pos, ShapeString, line))
	}
	if keys == nil && e.errors == faults {
		e.errorAt(at, "cloud_init.ssh_keys", CodeFile, "", "%s contains no public key", at.sibling())
	}
	return keys
}
