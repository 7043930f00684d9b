package sshkey

import (
	"strings"
	"testing"
)

// Keys that ssh-keygen made.
const (
	ed25519 = "AAAAC3NzaC1lZDI1NTE5AAAAIFukc3P8wrkM5adIPMcSLeeLVE/J7rGnI+OEXqu+dwwt"
	ecdsa   = "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBCgKp9aCDngrQ6wTb4wZT2lI53IDC5BKpko8OqXEYDAFdGXeUwNwkOKPzGdUKlRgtQ4+Jv06Ksu8V5n7rN7tTS0="
	rsa     = "AAAAB3NzaC1yc2EAAAADAQABAAAAgQCjqi80H1ECUklL0I4dHimNyC/e+eL4R+ls8LaoK7L6dVYBB42QZ1qwiZExQ7M5uzBHApdlh/8e+qV2nlbU9JHdRKP+hghgIS+iUr0LryHDT6Ajcw8vMtBs3Dw8+0XfMKS3tD8G2GEqlzAzcTMQVrk2diVoEzg1VVN7+BQHhfcxtw=="
	short   = "AAAAB3NzaC1yc2EAAAADAQABAAAAQQC7Vq4W0qk1uJ8pN9bN2b3jQm1c2o0W2q8v7fGk9ZtYtX1rN2uLdJ4m5zD3mYB0a3VQm1c2o0W2q8v7fGk9ZtYt"
)

// TestFault compares with what `ssh-keygen -l` of OpenSSH 9.2 said about these lines.
func TestFault(t *testing.T) {
	for line, want := range map[string]string{
		"ssh-ed25519 " + ed25519:                         "",
		"ssh-ed25519 " + ed25519 + " ops@lab":            "",
		"  ssh-ed25519\t" + ed25519 + "\tops ops\r":      "",
		"ecdsa-sha2-nistp256 " + ecdsa + " ops":          "",
		"ssh-rsa " + rsa:                                 "",
		`from="10.0.0.*" ssh-ed25519 ` + ed25519:         "",
		`command="a \" ssh-rsa b",no-pty ssh-rsa ` + rsa: "",
		"ssh-ed25519":                                       "it has a type and no data",
		"ssh-ed25519 nokey":                                 "its data is cut off, or is no base64",
		"ssh-ed25519 AAAA ops":                              "its data is of another type, or is damaged",
		"ssh-rsa " + ed25519:                                "its data is of another type, or is damaged",
		"ssh-ed25519 " + ed25519 + "===":                    "its data is cut off, or is no base64",
		"ssh-ed25519 " + ed25519[:len(ed25519)-1]:           "its data is cut off, or is no base64",
		"ssh-ed25519 " + ed25519[:len(ed25519)-4] + " ops":  "its data is cut off or damaged, or its RSA key has less than 1024 bits",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEx admin@lab": "its data is cut off, or is no base64",
		"ssh-ed25519 " + ed25519 + "AAAA":                   "its data is cut off or damaged, or its RSA key has less than 1024 bits",
		"ecdsa-sha2-nistp384 " + ecdsa:                      "its data is of another type, or is damaged",
		"ssh-rsa " + short:                                  "its data is cut off or damaged, or its RSA key has less than 1024 bits",
		"ssh-ed448 " + ed25519:                              "OpenSSH knows no type of key with this name",
		ed25519 + " ops":                                    "it has no type such as ssh-ed25519",
		"nokey":                                             "it has no type such as ssh-ed25519",
		"":                                                  "it has no type such as ssh-ed25519",
		"# a comment":                                       "it has no type such as ssh-ed25519",
	} {
		if got := Fault(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestLike tells keys, right or not, from paths of files.
func TestLike(t *testing.T) {
	for text, want := range map[string]bool{
		"ssh-ed25519 AAAA": true, "ssh-ed25519\tAAAA x": true, `no-pty ssh-rsa AAAA`: true, "sk-x y": true,
		"ssh-ed25519": false, "keys/ssh-rsa.pub": false, "my keys/a.pub": false, "": false, strings.Repeat("a ", 3): false,
	} {
		if Like(text) != want {
			t.Errorf("%q: %t, want %t", text, !want, want)
		}
	}
}
