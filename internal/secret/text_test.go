package secret

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestTextNeverPrints(t *testing.T) {
	value := struct {
		Key    Text
		Nested []Text
	}{New("swordfish"), []Text{New("swordfish")}}
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if out := fmt.Sprintf(verb, value) + string(body); strings.Contains(out, "swordfish") || strings.Contains(out, fmt.Sprintf("%x", "swordfish")) {
			t.Errorf("%s: %s", verb, out)
		}
	}
	if got := New("swordfish").Reveal(); got != "swordfish" {
		t.Errorf("Reveal returns %q", got)
	}
}
