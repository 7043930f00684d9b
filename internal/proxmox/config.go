package proxmox

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"stackgen/internal/secret"
)

// A Config says how to connect to a cluster, and as which user. Configure makes
// one; the zero Config does not work.
type Config struct {
	Endpoint string // https://HOST:PORT, without a path
	Insecure bool
	MinTLS   uint16
	CAFile   string
	Login

	now  func() time.Time // time.Now, except in tests
	wait func(context.Context, time.Duration) error
}

// A Login holds the credentials of one of three kinds: a token, a ticket, or a
// user with a password. The first kind that is set is used.
type Login struct {
	Token    secret.Text // USER@REALM!ID=SECRET
	Ticket   secret.Text
	CSRF     secret.Text
	Username string
	Password secret.Text
	OTP      secret.Text
}

// A Target is the cluster that a spec names.
type Target struct {
	Spec     string // the file, for messages
	Endpoint string
	Insecure bool
	CAFile   string // absolute, or relative to the working directory
}

// tokenShape is the pattern that the provider requires of a token.
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmox/api/credentials.go
var tokenShape = regexp.MustCompile(`^\S+@\S+!\S+=([a-zA-Z0-9-]+)$`)

// Configure combines the environment, which it reads as the provider does, with
// the specs. Values that differ are an error: the provider and stackgen must not
// use two clusters.
func Configure(getenv func(string) string, targets []Target) (Config, error) {
	e := environment(getenv)
	c := Config{Insecure: isTrue(e.get("INSECURE")), now: time.Now, wait: wait}
	endpoint := e.get("ENDPOINT")
	for _, t := range targets {
		if err := e.check(t, targets[0]); err != nil {
			return Config{}, err
		}
		endpoint = cmp.Or(endpoint, t.Endpoint)
		c.Insecure, c.CAFile = t.Insecure, t.CAFile
	}
	var err1, err2, err3 error
	c.Endpoint, err1 = normalEndpoint(endpoint)
	c.MinTLS, err2 = minTLS(e.get("MIN_TLS"))
	c.Login, err3 = e.login()
	if err := errors.Join(err1, err2, err3); err != nil {
		return Config{}, err
	}
	return c, nil
}

// The errors of Configure without a cluster, and without a login.
var (
	ErrNoEndpoint    = errors.New("no cluster is configured: set PROXMOX_VE_ENDPOINT, or proxmox.endpoint in the spec")
	ErrNoCredentials = errors.New("no credentials for Proxmox VE: set PROXMOX_VE_API_TOKEN, " +
		"or PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD, " +
		"or PROXMOX_VE_AUTH_TICKET and PROXMOX_VE_CSRF_PREVENTION_TOKEN")
)

// Configured reports whether the environment names a cluster.
func Configured(getenv func(string) string) bool { return environment(getenv).get("ENDPOINT") != "" }

// An environment returns the value of an environment variable.
type environment func(string) string

// get returns PROXMOX_VE_name, or its deprecated alias PM_VE_name. An empty value
// counts as unset.
func (e environment) get(name string) string {
	return cmp.Or(e("PROXMOX_VE_"+name), e("PM_VE_"+name))
}

func isTrue(text string) bool { return text == "true" || text == "1" }

// check compares the target of a spec with the environment and with the target of
// the first spec.
func (e environment) check(t, first Target) error {
	if t.Endpoint != first.Endpoint || t.Insecure != first.Insecure || t.CAFile != first.CAFile {
		return fmt.Errorf("%s and %s name different clusters; run the command for one cluster at a time: give the path of one spec",
			first.Spec, t.Spec)
	}
	env := e.get("ENDPOINT")
	if env != "" && t.Endpoint != "" {
		a, err1 := normalEndpoint(env)
		b, err2 := normalEndpoint(t.Endpoint)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if a != b {
			return fmt.Errorf("%s sets proxmox.endpoint to %s, but PROXMOX_VE_ENDPOINT is %s; no request was sent. "+
				"Unset PROXMOX_VE_ENDPOINT, or change the spec", t.Spec, b, a)
		}
	}
	if env := e.get("INSECURE"); env != "" && isTrue(env) != t.Insecure {
		return fmt.Errorf("%s sets proxmox.insecure to %t, but PROXMOX_VE_INSECURE is %t; no request was sent. "+
			"Unset PROXMOX_VE_INSECURE, or change the spec", t.Spec, t.Insecure, isTrue(env))
	}
	return nil
}

// normalEndpoint returns an endpoint in lower case and without its path, as the
// provider uses it. It rejects a URL with a password, which messages would show.
func normalEndpoint(endpoint string) (string, error) {
	if endpoint == "" {
		return "", ErrNoEndpoint
	}
	u, err := url.ParseRequestURI(endpoint)
	if err != nil || u.Host == "" {
		return "", errors.New("the Proxmox VE endpoint is not a URL such as https://HOST:8006/")
	}
	if u.User != nil {
		return "", errors.New("the Proxmox VE endpoint contains a user or password; set PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD instead")
	}
	if u.Scheme != "https" {
		return "", fmt.Errorf("the Proxmox VE endpoint is %s://%s; only https is supported", u.Scheme, u.Host)
	}
	return "https://" + strings.ToLower(u.Host), nil
}

func minTLS(text string) (uint16, error) {
	versions := map[string]uint16{
		"":    tls.VersionTLS13,
		"1.3": tls.VersionTLS13,
		"1.2": tls.VersionTLS12,
		"1.1": tls.VersionTLS11,
		"1.0": tls.VersionTLS10,
	}
	v, ok := versions[strings.TrimSpace(text)]
	if !ok {
		return 0, fmt.Errorf("PROXMOX_VE_MIN_TLS is %s; it must be 1.0, 1.1, 1.2 or 1.3", strconv.Quote(text))
	}
	return v, nil
}

// login chooses the credentials in the order of the provider.
func (e environment) login() (Login, error) {
	if token := e.get("API_TOKEN"); token != "" {
		if !tokenShape.MatchString(token) {
			return Login{}, errors.New("PROXMOX_VE_API_TOKEN does not have the form USER@REALM!TOKENID=UUID")
		}
		return Login{Token: secret.New(token)}, nil
	}
	if ticket, csrf := e.get("AUTH_TICKET"), e.get("CSRF_PREVENTION_TOKEN"); ticket != "" && csrf != "" {
		parts := strings.Split(ticket, ":")
		if len(parts) <= 3 || !strings.Contains(parts[1], "@") || strings.ContainsAny(ticket, "\r\n;") {
			return Login{}, errors.New("PROXMOX_VE_AUTH_TICKET is not a Proxmox VE ticket: it contains no USER@REALM")
		}
		return Login{Ticket: secret.New(ticket), CSRF: secret.New(csrf)}, nil
	}
	if user, password := e.get("USERNAME"), e.get("PASSWORD"); user != "" && password != "" {
		if !strings.Contains(user, "@") {
			return Login{}, errors.New("PROXMOX_VE_USERNAME has no realm; its form is USER@REALM")
		}
		return Login{Username: user, Password: secret.New(password), OTP: secret.New(e.get("OTP"))}, nil
	}
	return Login{}, ErrNoCredentials
}

// identity returns the user, and the ID of the token if one is used.
func (l Login) identity() (user, token string) {
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

// Who returns USER@REALM or USER@REALM!TOKENID.
func (l Login) Who() string {
	user, token := l.identity()
	if token == "" {
		return user
	}
	return user + "!" + token
}
