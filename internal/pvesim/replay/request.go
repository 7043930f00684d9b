package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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
		return s
	}
	switch k {
	case "password":
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
		p.login()
		ticket := p.ticket
		if bad && strings.Contains(e.Reason, "Authentication failed") {
			ticket = "garbage"
		}
		h.Set("Cookie", "PVEAuthCookie="+url.PathEscape(ticket))
		if strings.Contains(e.Auth, "CSRFPreventionToken=") {
			csrf := p.csrf
			if bad {
				csrf = "wrong"
			}
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

// login obtains a ticket for a scenario that begins with one.
func (p *player) login() {
	if p.ticket != "" {
		return
	}
	user := p.user
	if user == "" {
		user = "root@pam"
	}
	h := http.Header{}
	h.Set("Content-Type", "application/x-www-form-urlencoded")
	resp := p.sim.Do(context.Background(), pvesim.Request{Method: http.MethodPost, Path: "/api2/json/access/ticket", Header: h,
		Body: []byte(url.Values{"username": {user}, "password": {password}}.Encode())})
	m, _ := decode(resp).(map[string]any)
	data, _ := m["data"].(map[string]any)
	p.ticket, _ = data["ticket"].(string)
	p.csrf, _ = data["CSRFPreventionToken"].(string)
}
