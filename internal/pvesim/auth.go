package pvesim

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ticketLife is the time for which a ticket is valid.
const ticketLife = 2 * time.Hour

// authenticate identifies the caller. Calls that need no login also accept
// requests without credentials.
func (s *Server) authenticate(h http.Header, method string, open bool) (*identity, error) {
	if token, ok := tokenHeader(h.Get("Authorization")); ok {
		return s.authToken(token)
	}
	cookie := cookieTicket(h)
	if cookie == "" {
		if open {
			return &identity{}, nil
		}
		return nil, unauthorized("No ticket")
	}
	user, ok := s.ticketUser(cookie)
	if !ok || !s.w.active(s.w.user(user)) {
		return nil, unauthorized("Authentication failed!")
	}
	if method != "GET" && !open && h.Get("CSRFPreventionToken") != s.csrf(user) {
		return nil, unauthorized("Permission denied - invalid csrf token")
	}
	return &identity{user: user}, nil
}

func tokenHeader(v string) (string, bool) {
	for _, prefix := range []string{"PVEAPIToken=", "PVEAPIToken "} {
		if rest, ok := strings.CutPrefix(v, prefix); ok {
			return rest, true
		}
	}
	return "", false
}

func cookieTicket(h http.Header) string {
	for _, line := range h.Values("Cookie") {
		for _, part := range strings.Split(line, ";") {
			if v, ok := strings.CutPrefix(strings.TrimSpace(part), "PVEAuthCookie="); ok {
				if dec, err := url.PathUnescape(v); err == nil {
					return dec
				}
				return v
			}
		}
	}
	return ""
}

func (s *Server) authToken(v string) (*identity, error) {
	full, secret, ok := strings.Cut(v, "=")
	userID, tokenID, ok2 := strings.Cut(full, "!")
	u := s.w.user(userID)
	if !ok || !ok2 || !s.w.active(u) {
		return nil, unauthorized("Authentication failed!")
	}
	for _, t := range u.Tokens {
		if t.ID == tokenID && t.Secret == secret && !t.Revoked && !expired(t.Expire, s.w.now) {
			return &identity{user: userID, token: tokenID, privsep: t.Privsep}, nil
		}
	}
	return nil, unauthorized("Authentication failed!")
}

// active reports whether a user exists, is enabled and has not expired.
func (w *cluster) active(u *User) bool { return u != nil && !u.Disabled && !expired(u.Expire, w.now) }

// expired reports whether a time in seconds since the epoch is over. 0 is never.
func expired(at int64, now time.Time) bool { return at != 0 && at < now.Unix() }

// ticket signs a ticket. The key is the seed number, so tickets are valid only
// in this simulator.
func (s *Server) ticket(user string) string {
	stamp := fmt.Sprintf("%08X", s.w.now.Unix())
	return "PVE:" + user + ":" + stamp + "::" + s.sign("PVE:"+user+":"+stamp)
}

func (s *Server) sign(text string) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%d|%s", s.w.seed.Number, text)))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func (s *Server) csrf(user string) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("csrf|%d|%s", s.w.seed.Number, user)))
	return fmt.Sprintf("%08X:%s", s.w.seed.Number&0xffffffff, hex.EncodeToString(sum[:16]))
}

func (s *Server) ticketUser(t string) (string, bool) {
	text, sig, ok := strings.Cut(t, "::")
	if !ok || s.sign(text) != sig {
		return "", false
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 || s.w.user(parts[1]) == nil {
		return "", false
	}
	var stamp int64
	if _, err := fmt.Sscanf(parts[2], "%X", &stamp); err != nil {
		return "", false
	}
	return parts[1], s.w.now.Sub(time.Unix(stamp, 0)) < ticketLife
}
