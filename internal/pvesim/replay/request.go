package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// request rebuilds a recorded request with the identifiers of this run.
func (p *player) request(e *Exchange) pvesim.Request {
	h := http.Header{}
	p.auth(e, h)
	path := e.Path
	if m := upidPattern.FindString(strings.ReplaceAll(path, "%21", "!")); m != "" {
		if here, ok := p.ids[m]; ok {
			path = strings.Replace(strings.ReplaceAll(path, "%21", "!"), m, here, 1)
		}
	}
	if q := p.values(e, e.Query); q != "" {
		path += "?" + q
	}
	r := pvesim.Request{Method: e.Method, Path: path, Header: h, Node: e.Via, Chunked: strings.Contains(e.Note, "chunked")}
	if e.ReqType != "" {
		h.Set("Content-Type", e.ReqType)
	}
	r.Body = p.body(e)
	if len(r.Body) > 0 && e.ReqType == "" {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func (p *player) body(e *Exchange) []byte {
	if raw, ok := p.set.Raw[e.Seq]; ok {
		return []byte(raw)
	}
	if e.text != "" {
		return []byte(e.text)
	}
	if len(e.form) == 0 {
		return nil
	}
	if strings.HasPrefix(e.ReqType, "application/json") {
		m := map[string]any{}
		for k, v := range e.form {
			m[k] = p.scalar(e, k, v)
		}
		var b bytes.Buffer
		if err := json.NewEncoder(&b).Encode(m); err != nil {
			return nil
		}
		return b.Bytes()
	}
	return []byte(p.values(e, e.form))
}

func (p *player) values(e *Exchange, m map[string]any) string {
	form := url.Values{}
	for k, v := range m {
		if list, ok := v.([]any); ok {
			for _, x := range list {
				form.Add(k, fmt.Sprint(p.scalar(e, k, x)))
			}
			continue
		}
		form.Add(k, fmt.Sprint(p.scalar(e, k, v)))
	}
	return form.Encode()
}

// scalar replaces recorded identifiers and passwords by those of this run.
func (p *player) scalar(e *Exchange, k string, v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if here, ok := p.ids[s]; ok {
		return here
	}
	if s != "PASSWORD" {
		return macs.ReplaceAllStringFunc(s, func(mac string) string { return cmp.Or(p.ids[strings.ToUpper(mac)], mac) })
	}
	switch k {
	case "password", "confirmation-password":
		return passwordOf(e)
	case "ssh-public-keys":
		if strings.HasPrefix(e.Reason, "SSH public key") {
			return "wrong"
		}
		return publicKey
	}
	return s
}

// passwordOf returns a password that the recorded server accepts, or refuses as it did.
func passwordOf(e *Exchange) string {
	m, _ := e.Response.(map[string]any)
	errors, _ := m["errors"].(map[string]any)
	switch {
	case e.Status == http.StatusUnauthorized:
		return "wrong"
	case errors["password"] != nil:
		return "bad"
	}
	return password
}

// auth adds credentials. The recorded ones are masked, so the recorded status
// decides whether they are valid.
func (p *player) auth(e *Exchange, h http.Header) {
	bad := e.Status == 401 && !strings.HasPrefix(e.RespType, "application/json") // that refuses the ticket of a console
	switch {
	case strings.HasPrefix(e.Auth, "PVEAPIToken="):
		value := secret
		if own, ok := p.secrets[tokenID(e.Auth)]; ok {
			value = own
		}
		if bad {
			value = "wrong"
		}
		h.Set("Authorization", strings.Replace(e.Auth, "=TOKEN", "="+value, 1))
	case strings.HasPrefix(e.Auth, "PVEAuthCookie="):
		p.user = p.userOf(e)
		now := p.session(p.user)
		ticket, csrf := now.ticket, now.csrf
		if bad && strings.Contains(e.Reason, "Authentication failed") && !p.userChanged() {
			ticket = "garbage"
		}
		if bad && strings.Contains(e.Reason, "csrf") {
			csrf = "wrong"
		}
		h.Set("Cookie", "PVEAuthCookie="+url.PathEscape(ticket))
		if strings.Contains(e.Auth, "CSRFPreventionToken=") || e.Method != http.MethodGet && csrf != "wrong" {
			h.Set("CSRFPreventionToken", csrf)
		}
	case e.Auth != "":
		h.Set("Authorization", e.Auth)
	}
}

func tokenID(auth string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(auth, "PVEAPIToken="), "=")
	return id
}

// session returns the ticket of a user, with a login for one that the scenario has before
// any login.
func (p *player) session(user string) session {
	if s, ok := p.tickets[user]; ok {
		return s
	}
	h := http.Header{}
	h.Set("Content-Type", "application/x-www-form-urlencoded")
	resp := p.sim.Do(context.Background(), pvesim.Request{Method: http.MethodPost, Path: "/api2/json/access/ticket", Header: h,
		Body: []byte(url.Values{"username": {user}, "password": {password}}.Encode())})
	m, _ := decode(resp).(map[string]any)
	data, _ := m["data"].(map[string]any)
	s := session{text(data["ticket"]), text(data["CSRFPreventionToken"])}
	p.tickets[user] = s
	return s
}

// word is a part of a note or of a user's name.
var word = regexp.MustCompile(`[A-Za-z0-9]+`)

// userOf returns whose ticket a request has: the recordings mask it. It is the owner of the
// task in the response, or who the note names, or else the user of the last one.
func (p *player) userOf(e *Exchange) string {
	users := slices.Sorted(maps.Keys(p.tickets))
	if len(users) == 0 {
		return cmp.Or(p.user, "root@pam")
	}
	if upid, ok := e.data().(string); ok && upidPattern.MatchString(upid) {
		for _, u := range users {
			if strings.HasSuffix(upid, ":"+u+":") {
				return u
			}
		}
	}
	for _, w := range word.FindAllString(e.Note, -1) {
		for _, u := range users {
			name, _, _ := strings.Cut(u, "@")
			if w != "rec" && slices.Contains(word.FindAllString(name, -1), w) {
				return u
			}
		}
	}
	return p.user
}

// userChanged reports whether an earlier request disabled, expired or removed the user of the
// ticket: then the simulator has to refuse it.
func (p *player) userChanged() bool {
	return slices.ContainsFunc(p.s.Exchanges[:p.now], func(e *Exchange) bool {
		return e.ok() && e.Method != http.MethodGet && strings.HasSuffix(strings.ReplaceAll(e.api(), "%40", "@"), "/access/users/"+p.user)
	})
}
