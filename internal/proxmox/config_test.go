package proxmox_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

const endpoint, token = "https://pve.example:8006", "root@pam!sim=" + tokenSecret

func TestConfigure(t *testing.T) {
	env1 := map[string]string{"PROXMOX_VE_ENDPOINT": endpoint + "/api2/json", "PROXMOX_VE_API_TOKEN": token}
	with := func(pairs ...string) map[string]string {
		out := map[string]string{}
		for k, v := range env1 {
			out[k] = v
		}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	spec := proxmox.Target{Spec: "specs/a.yaml", Endpoint: endpoint + "/"}
	for name, c := range map[string]struct {
		env     map[string]string
		targets []proxmox.Target
		want    string // who and where, or a part of the error
	}{
		"environment alone":    {env1, nil, "root@pam!sim https://pve.example:8006 false"},
		"old names":            {map[string]string{"PM_VE_ENDPOINT": endpoint, "PM_VE_API_TOKEN": token, "PM_VE_INSECURE": "1"}, nil, "root@pam!sim https://pve.example:8006 true"},
		"spec agrees":          {env1, []proxmox.Target{spec}, "root@pam!sim https://pve.example:8006 false"},
		"spec alone":           {with("PROXMOX_VE_ENDPOINT", ""), []proxmox.Target{spec}, "root@pam!sim https://pve.example:8006 false"},
		"endpoint disagrees":   {with("PROXMOX_VE_ENDPOINT", "https://other:8006"), []proxmox.Target{spec}, "specs/a.yaml sets proxmox.endpoint to https://pve.example:8006, but PROXMOX_VE_ENDPOINT is https://other:8006"},
		"insecure disagrees":   {with("PROXMOX_VE_INSECURE", "true"), []proxmox.Target{spec}, "proxmox.insecure to false"},
		"secure disagrees":     {with("PROXMOX_VE_INSECURE", "false"), []proxmox.Target{{Spec: "x", Insecure: true}}, "proxmox.insecure to true"},
		"insecure in the spec": {env1, []proxmox.Target{{Spec: "x", Insecure: true}}, "root@pam!sim https://pve.example:8006 true"},
		"two clusters":         {env1, []proxmox.Target{spec, {Spec: "specs/b.yaml", Endpoint: "https://b:8006"}}, "specs/a.yaml and specs/b.yaml name different clusters"},
		"no endpoint":          {with("PROXMOX_VE_ENDPOINT", ""), nil, "set PROXMOX_VE_ENDPOINT"},
		"plain http":           {with("PROXMOX_VE_ENDPOINT", "http://pve:8006"), nil, "only https"},
		"password in the URL":  {with("PROXMOX_VE_ENDPOINT", "https://root:swordfish@pve:8006"), nil, "set PROXMOX_VE_USERNAME"},
		"no credentials":       {with("PROXMOX_VE_API_TOKEN", ""), nil, "no credentials"},
		"bad token":            {with("PROXMOX_VE_API_TOKEN", "swordfish"), nil, "USER@REALM!TOKENID=UUID"},
		"bad TLS version":      {with("PROXMOX_VE_MIN_TLS", "2"), nil, "1.0, 1.1, 1.2 or 1.3"},
		"password":             {with("PROXMOX_VE_API_TOKEN", "", "PROXMOX_VE_USERNAME", "a@pve", "PROXMOX_VE_PASSWORD", "swordfish"), nil, "a@pve https://pve.example:8006 false"},
		"ticket over password": {with("PROXMOX_VE_API_TOKEN", "", "PROXMOX_VE_USERNAME", "a@pve", "PROXMOX_VE_PASSWORD", "swordfish",
			"PROXMOX_VE_AUTH_TICKET", "PVE:t@pve:00::swordfish", "PROXMOX_VE_CSRF_PREVENTION_TOKEN", "swordfish"), nil, "t@pve https://pve.example:8006 false"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := proxmox.Configure(env(c.env), c.targets)
			text := fmt.Sprintf("%s %s %t", got.Who(), got.Endpoint, got.Insecure)
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("got %q, want %q", text, c.want)
			}
			body, jsonErr := json.Marshal(got)
			shown := fmt.Sprintf("%v %+v %#v %q %d %s %v", got, got, got, got.Token, got.Password, body, jsonErr)
			if strings.Contains(shown+text, "swordfish") || strings.Contains(shown+text, tokenSecret) {
				t.Errorf("the output contains a secret: %s %s", text, shown)
			}
		})
	}
}

func TestCertificates(t *testing.T) {
	s := start(t, pvesim.Options{Seed: smallCluster(t)})
	read := func(targets ...proxmox.Target) error {
		c := configure(t, s, map[string]string{"PROXMOX_VE_API_TOKEN": s.Token()}, targets...)
		_, err := proxmox.Read(t.Context(), c, proxmox.Wanted{})
		return err
	}
	if err := read(); err == nil || !strings.Contains(err.Error(), "has no trusted certificate") || !strings.Contains(err.Error(), "ca_file") || s.Counters().Requests != 0 {
		t.Errorf("unknown authority: error %v", err)
	}
	if err := read(proxmox.Target{Insecure: true}); err != nil {
		t.Error(err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := read(proxmox.Target{CAFile: ca}); err == nil || !strings.Contains(err.Error(), "proxmox.ca_file") {
		t.Errorf("a missing ca_file gives %v", err)
	}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL(), "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	cert := conn.ConnectionState().PeerCertificates[0].Raw
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: cert}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ca, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := read(proxmox.Target{CAFile: ca}); err != nil {
		t.Errorf("with its own certificate as authority: %v", err)
	}
	if err := os.WriteFile(ca, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := read(proxmox.Target{CAFile: ca}); err == nil || !strings.Contains(err.Error(), "contains no certificate") {
		t.Errorf("a ca_file without a certificate gives %v", err)
	}
}

func TestRejectedRequests(t *testing.T) {
	s := start(t, pvesim.Options{Seed: smallCluster(t)})
	_, err := read(t, s, "root@pam!other", proxmox.Wanted{})
	if err == nil || !strings.Contains(err.Error(), "rejects the credentials of root@pam!other (401)") {
		t.Errorf("an unknown token gives %v", err)
	}
	if n := s.Counters().Requests; n != 1 {
		t.Errorf("%d requests with rejected credentials", n)
	}
	if err := s.AddFault(&pvesim.Fault{Do: pvesim.DoError, Status: 403, Message: "Permission check failed", Path: "/pools"}); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, s, "root@pam!sim", proxmox.Wanted{}); err == nil || err.Error() != "GET /pools: HTTP 403 Permission check failed" {
		t.Errorf("403 gives %v", err)
	}
	s.ClearFaults()
	if err := s.AddFault(&pvesim.Fault{Do: pvesim.DoError, Status: 400, Message: "bad " + tokenSecret + " from " + token, Path: "/pools"}); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, s, "root@pam!sim", proxmox.Wanted{}); err == nil || err.Error() != "GET /pools: HTTP 400 bad (secret) from (secret)" {
		t.Errorf("a server that repeats the token gives %v", err)
	}
}

func TestPasswordsAndTickets(t *testing.T) {
	seed := smallCluster(t)
	addAuditor(seed, true)
	grant(seed, "/", "PVEAuditor", true)
	s := start(t, pvesim.Options{Seed: seed})
	vars := map[string]string{"PROXMOX_VE_INSECURE": "1", "PROXMOX_VE_USERNAME": "audit@pve", "PROXMOX_VE_PASSWORD": "correct-horse"}
	read := func() (int, error) {
		inv, err := proxmox.Read(t.Context(), configure(t, s, vars), proxmox.Wanted{})
		return len(inv.Guests), err
	}
	if n, err := read(); n != 11 || err != nil {
		t.Errorf("a password shows %d guests: %v", n, err)
	}
	if w := s.Counters().Writes; w != 1 { // the login itself
		t.Errorf("%d writes", w)
	}
	vars["PROXMOX_VE_PASSWORD"] = "wrong-horse"
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "rejects the credentials of audit@pve (401)") || strings.Contains(err.Error(), "wrong-horse") {
		t.Errorf("a wrong password gives %v", err)
	}
	answer := s.Do(t.Context(), pvesim.Request{Method: "POST", Path: "/api2/json/access/ticket", Body: []byte("username=audit@pve&password=correct-horse"),
		Header: map[string][]string{"Content-Type": {"application/x-www-form-urlencoded"}}})
	var login struct {
		Data struct{ Ticket, CSRFPreventionToken string }
	}
	if err := json.Unmarshal(answer.Body, &login); err != nil {
		t.Fatal(err)
	}
	vars["PROXMOX_VE_AUTH_TICKET"], vars["PROXMOX_VE_CSRF_PREVENTION_TOKEN"] = login.Data.Ticket, login.Data.CSRFPreventionToken
	if n, err := read(); n != 11 || err != nil {
		t.Errorf("a ticket shows %d guests: %v", n, err)
	}
}
