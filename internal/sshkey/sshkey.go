// Package sshkey turns a line of text into what is wrong with it as an SSH public key: what
// ssh-keygen, with which Proxmox VE checks keys, does not read. It never reads private keys.
package sshkey

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
)

// parts are what the data of a key has after the name of its type. A certificate has more,
// which is not checked.
var parts = map[string]func(*data) bool{
	"ssh-ed25519":                        func(d *data) bool { return len(d.next()) == 32 && d.ended() },
	"ssh-rsa":                            func(d *data) bool { d.next(); return bits(d.next()) >= 1024 && d.ended() },
	"ssh-dss":                            func(d *data) bool { d.next(); d.next(); d.next(); return bits(d.next()) > 0 && d.ended() },
	"ecdsa-sha2-nistp256":                func(d *data) bool { return d.point("nistp256", ecdh.P256()) && d.ended() },
	"ecdsa-sha2-nistp384":                func(d *data) bool { return d.point("nistp384", ecdh.P384()) && d.ended() },
	"ecdsa-sha2-nistp521":                func(d *data) bool { return d.point("nistp521", ecdh.P521()) && d.ended() },
	"sk-ssh-ed25519@openssh.com":         func(d *data) bool { return len(d.next()) == 32 && len(d.next()) > 0 && d.ended() },
	"sk-ecdsa-sha2-nistp256@openssh.com": func(d *data) bool { return d.point("nistp256", ecdh.P256()) && len(d.next()) > 0 && d.ended() },

	"ssh-ed25519-cert-v01@openssh.com":            nil,
	"ssh-rsa-cert-v01@openssh.com":                nil,
	"ecdsa-sha2-nistp256-cert-v01@openssh.com":    nil,
	"ecdsa-sha2-nistp384-cert-v01@openssh.com":    nil,
	"ecdsa-sha2-nistp521-cert-v01@openssh.com":    nil,
	"sk-ssh-ed25519-cert-v01@openssh.com":         nil,
	"sk-ecdsa-sha2-nistp256-cert-v01@openssh.com": nil,
}

// Like reports whether text is meant as a public key, right or not: it begins with what
// looks like the type of one, perhaps after options.
func Like(text string) bool {
	kind, rest, _ := split(text)
	if !begins(kind) {
		kind, rest, _ = split(rest)
	}
	return begins(kind) && rest != ""
}

// begins reports whether a word begins like the type of a key.
func begins(kind string) bool {
	return slices.ContainsFunc([]string{"ssh-", "ecdsa-", "sk-"}, func(prefix string) bool { return strings.HasPrefix(kind, prefix) })
}

// Fault says in words why a line is no public key, and nothing if it is one. Options may
// precede the key, and a comment may follow it.
func Fault(line string) string {
	kind, rest, ok := split(line)
	if _, known := parts[kind]; !known && !begins(kind) && ok {
		kind, rest, _ = split(rest) // after the options
	}
	check, known := parts[kind]
	encoded, _, _ := split(rest)
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	d := &data{raw}
	switch {
	case !begins(kind):
		return "it has no type such as ssh-ed25519"
	case !known:
		return "OpenSSH knows no type of key with this name"
	case encoded == "":
		return "it has a type and no data"
	case err != nil:
		return "its data is cut off, or is no base64"
	case string(d.next()) != kind:
		return "its data is of another type, or is damaged"
	case check != nil && !check(d):
		return "its data is cut off or damaged, or its RSA key has less than 1024 bits"
	}
	return ""
}

// split separates the first word of a line from the rest. Blanks in quotes belong to a word.
func split(line string) (word, rest string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	quoted := false
	for i, r := range line {
		switch {
		case r == '"' && !strings.HasSuffix(line[:i], `\`):
			quoted = !quoted
		case (r == ' ' || r == '\t') && !quoted:
			return line[:i], strings.TrimSpace(line[i:]), true
		}
	}
	return strings.TrimSpace(line), "", false
}

// data is what is left of the data of a key: parts with their lengths.
type data struct{ left []byte }

// next takes the next part, or nothing if there is none.
func (d *data) next() []byte {
	if len(d.left) < 4 {
		d.left = nil
		return nil
	}
	size := uint64(binary.BigEndian.Uint32(d.left))
	if size > uint64(len(d.left)-4) {
		d.left = nil
		return nil
	}
	out := d.left[4 : 4+size]
	d.left = d.left[4+size:]
	return out
}

// point takes the name of a curve and a point on it.
func (d *data) point(name string, curve ecdh.Curve) bool {
	named := string(d.next()) == name
	_, err := curve.NewPublicKey(d.next())
	return named && err == nil
}

func (d *data) ended() bool { return len(d.left) == 0 }

// bits is the length of a number.
func bits(number []byte) int {
	number = bytes.TrimLeft(number, "\x00")
	if len(number) == 0 {
		return 0
	}
	n := 8 * (len(number) - 1)
	for b := number[0]; b > 0; b >>= 1 {
		n++
	}
	return n
}
