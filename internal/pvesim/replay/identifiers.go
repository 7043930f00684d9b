package replay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"stackgen/internal/pvesim"
)

// pairs calls visit for the strings at the same place in two responses.
func pairs(a, b any, visit func(string, string)) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			for k := range x {
				pairs(x[k], y[k], visit)
			}
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				pairs(x[i], y[i], visit)
			}
		}
	case string:
		if y, ok := b.(string); ok {
			visit(x, y)
		}
	}
}

// decode returns the JSON value of a response, or its body as text.
func decode(r pvesim.Response) any {
	if !strings.HasPrefix(r.Type, "application/json") {
		return string(r.Body)
	}
	dec := json.NewDecoder(strings.NewReader(string(r.Body)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return string(r.Body)
	}
	return v
}

// learn stores the identifiers and secrets that the simulator generated, and the
// credentials of a login.
func (p *player) learn(e *Exchange, got any) {
	pairs(e.Response, got, func(want, have string) {
		if want != have && (upidPattern.MatchString(want) || len(want) == 40) {
			p.ids[want] = have
		}
		there, here := macs.FindAllString(want, -1), macs.FindAllString(have, -1)
		for i := range there {
			if len(there) == len(here) {
				p.ids[strings.ToUpper(there[i])] = strings.ToUpper(here[i])
			}
		}
	})
	if m, ok := got.(map[string]any); ok {
		if data, ok := m["data"].(map[string]any); ok && data["full-tokenid"] != nil {
			p.secrets[fmt.Sprint(data["full-tokenid"])] = fmt.Sprint(data["value"])
		}
	}
	if e.api() == "/access/ticket" && e.Method == http.MethodPost && e.ok() {
		m, _ := got.(map[string]any)
		data, _ := m["data"].(map[string]any)
		if user := text(data["username"]); user != "" {
			p.tickets[user], p.user = session{text(data["ticket"]), text(data["CSRFPreventionToken"])}, user
		}
	}
}
