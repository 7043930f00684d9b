package proxmox

import (
	"fmt"
	"io"
)

// redacted is what a secret shows of itself.
const redacted = "(secret)"

// A Secret is text that shows itself to nobody who does not ask for it by name.
type Secret struct{ text string }

// NewSecret hides text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text }

// Set reports whether there is anything to hide.
func (s Secret) Set() bool { return s.text != "" }

func (s Secret) String() string { return redacted }

// GoString keeps %#v from looking inside.
func (s Secret) GoString() string { return redacted }

// Format keeps every verb from looking inside.
func (s Secret) Format(f fmt.State, _ rune) {
	// A formatter has nobody to tell.
	_, _ = io.WriteString(f, redacted)
}

// MarshalJSON keeps encoders from looking inside.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText keeps encoders from looking inside.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
