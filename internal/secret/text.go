package secret

import (
	"fmt"
	"io"
)

// Redacted is the text that replaces a secret.
const Redacted = "(secret)"

// A Text is a secret that formats and encodes as Redacted.
type Text struct{ text string }

// New returns text as a secret.
func New(text string) Text { return Text{text} }

// Reveal returns the secret itself.
func (t Text) Reveal() string { return t.text }

// Set reports whether the secret is not empty.
func (t Text) Set() bool { return t.text != "" }

// String returns Redacted.
func (t Text) String() string { return Redacted }

// GoString returns Redacted, for %#v.
func (t Text) GoString() string { return Redacted }

// Format writes Redacted for every verb.
func (t Text) Format(f fmt.State, _ rune) {
	// A formatter cannot return an error.
	_, _ = io.WriteString(f, Redacted)
}

// MarshalText returns Redacted, for every encoder.
func (t Text) MarshalText() ([]byte, error) { return []byte(Redacted), nil }
