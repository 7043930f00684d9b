package proxmox

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// A Config is how a cluster is reached, and as whom.
type Config struct {
	Endpoint string // https://HOST:PORT, nothing after it
	Insecure bool
	MinTLS   uint16
	CAFile   string
	Login
}

// A Login is one of three ways to prove who asks: a token, a ticket, or a user
// with a password; the first that is there is used.
type Login struct {
	Token    Secret // USER@REALM!ID=SECRET
	Ticket   Secret
	CSRF     Secret
	Username string
	Password Secret
	OTP      Secret
}

// A Wish is what a spec says about the cluster. Of names the spec for messages.
type Wish struct {
	Of       string
	Endpoint string
	Insecure bool
	CAFile   string // as it can be opened
}

// tokenShape is what the provider takes for a token.
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmox/api/credentials.go
var tokenShape = regexp.MustCompile(`^\S+@\S+!\S+=([a-zA-Z0-9-]+)$`)

// Configure joins the environment, read as the provider reads it, with what the
// specs say. Where they disagree it is an error: the provider and stackgen
// must not look at two clusters.
func Configure(getenv func(string) string, wishes []Wish) (Config, error) {
	e := environment(getenv)
	c := Config{Insecure: isTrue(e.get("INSECURE"))}
	endpoint := e.get("ENDPOINT")
	for _, w := range wishes {
		if err := e.agrees(w, wishes[0]); err != nil {
			return Config{}, err
		}
		endpoint = cmp.Or(endpoint, w.Endpoint)
		c.Insecure, c.CAFile = w.Insecure, w.CAFile
	}
	var err1, err2 error
	c.Endpoint, err1 = normal(endpoint)
	c.MinTLS, err2 = minTLS(e.get("MIN_TLS"))
	login, err3 := e.login()
	c.Login = login
	if err := errors.Join(err1, err2, err3); err != nil {
		return Config{}, err
	}
	return c, nil
}

// An environment is the process's, by a name without its prefix.
type environment func(string) string

// get prefers the name of today to the one of old; an empty value is none.
func (e environment) get(name string) string {
	return cmp.Or(e("PROXMOX_VE_"+name), e("PM_VE_"+name))
}

func isTrue(text string) bool { return text == "true" || text == "1" }

// agrees compares what a spec wants with the environment and with the first spec.
func (e environment) agrees(w, first Wish) error {
	if w.Endpoint != first.Endpoint || w.Insecure != first.Insecure || w.CAFile != first.CAFile {
		return fmt.Errorf("%s and %s name different clusters; look at one at a time: give the path of one of them", first.Of, w.Of)
	}
	env := e.get("ENDPOINT")
	if env != "" && w.Endpoint != "" {
		a, err1 := normal(env)
		b, err2 := normal(w.Endpoint)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if a != b {
			return fmt.Errorf("%s says proxmox.endpoint is %s, the environment says PROXMOX_VE_ENDPOINT is %s; nothing was asked. Unset PROXMOX_VE_ENDPOINT, or mend the spec", w.Of, b, a)
		}
	}
	if env := e.get("INSECURE"); env != "" && isTrue(env) != w.Insecure {
		return fmt.Errorf("%s says proxmox.insecure is %t, the environment says PROXMOX_VE_INSECURE is %t; nothing was asked. Unset PROXMOX_VE_INSECURE, or mend the spec", w.Of, w.Insecure, isTrue(env))
	}
	return nil
}

// normal is an endpoint without its path, as the provider takes it. A password
// in it would end up in messages, so there may be none.
func normal(endpoint string) (string, error) {
	if endpoint == "" {
		return "", errors.New("no cluster to look at: set PROXMOX_VE_ENDPOINT, or proxmox.endpoint in the spec")
	}
	u, err := url.ParseRequestURI(endpoint)
	if err != nil || u.Host == "" {
		return "", errors.New("the Proxmox VE endpoint is no URL such as https://HOST:8006/")
	}
	if u.User != nil {
		return "", errors.New("the Proxmox VE endpoint holds a user or password; they belong into PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD")
	}
	if u.Scheme != "https" {
		return "", fmt.Errorf("the Proxmox VE endpoint is %s://%s; only https is spoken", u.Scheme, u.Host)
	}
	return "https://" + strings.ToLower(u.Host), nil
}

func minTLS(text string) (uint16, error) {
	versions := map[string]uint16{"": tls.VersionTLS13, "1.3": tls.VersionTLS13, "1.2": tls.VersionTLS12, "1.1": tls.VersionTLS11, "1.0": tls.VersionTLS10}
	v, ok := versions[strings.TrimSpace(text)]
	if !ok {
		return 0, fmt.Errorf("PROXMOX_VE_MIN_TLS is %s; it takes 1.0, 1.1, 1.2 or 1.3", strconv.Quote(text))
	}
	return v, nil
}

// login chooses the way to prove who asks, in the provider's order.
func (e environment) login() (Login, error) {
	if token := e.get("API_TOKEN"); token != "" {
		if !tokenShape.MatchString(token) {
			return Login{}, errors.New("PROXMOX_VE_API_TOKEN is not of the form USER@REALM!TOKENID=UUID")
		}
		return Login{Token: NewSecret(token)}, nil
	}
	if ticket, csrf := e.get("AUTH_TICKET"), e.get("CSRF_PREVENTION_TOKEN"); ticket != "" && csrf != "" {
		parts := strings.Split(ticket, ":")
		if len(parts) <= 3 || !strings.Contains(parts[1], "@") || strings.ContainsAny(ticket, "\r\n;") {
			return Login{}, errors.New("PROXMOX_VE_AUTH_TICKET is no ticket of Proxmox VE: it names no USER@REALM")
		}
		return Login{Ticket: NewSecret(ticket), CSRF: NewSecret(csrf)}, nil
	}
	if user, password := e.get("USERNAME"), e.get("PASSWORD"); user != "" && password != "" {
		if !strings.Contains(user, "@") {
			return Login{}, errors.New("PROXMOX_VE_USERNAME lacks its realm; it is of the form USER@REALM")
		}
		return Login{Username: user, Password: NewSecret(password), OTP: NewSecret(e.get("OTP"))}, nil
	}
	return Login{}, errors.New("no credentials for Proxmox VE: set PROXMOX_VE_API_TOKEN, or PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD, or PROXMOX_VE_AUTH_TICKET and PROXMOX_VE_CSRF_PREVENTION_TOKEN")
}

// who names the asker: user, and the token's id where one is used.
func (l Login) who() (user, token string) {
	switch {
	case l.Token.Set():
		id, _, _ := strings.Cut(l.Token.Reveal(), "=")
		user, token, _ = strings.Cut(id, "!")
	case l.Ticket.Set():
		user = strings.Split(l.Ticket.Reveal(), ":")[1]
	default:
		user = l.Username
	}
	return user, token
}

// Who names the asker, without a secret.
func (l Login) Who() string {
	user, token := l.who()
	if token == "" {
		return user
	}
	return user + "!" + token
}
