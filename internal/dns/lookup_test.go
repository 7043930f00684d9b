package dns_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	wire "github.com/miekg/dns"

	"stackgen/internal/cluster"
	"stackgen/internal/dns"
)

// listen listens on one loopback port for both protocols. Another process may have
// the TCP port of a free UDP port, so it tries several.
func listen(t *testing.T) (net.PacketConn, net.Listener, int) {
	t.Helper()
	for range 20 {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := conn.LocalAddr().(*net.UDPAddr).Port
		if tcp, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return conn, tcp, port
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no port is free for both protocols")
	return nil, nil, 0
}

// zone serves records on a loopback port and returns the port.
func zone(t *testing.T, records ...string) int {
	t.Helper()
	conn, tcp, port := listen(t)
	handler := wire.HandlerFunc(func(w wire.ResponseWriter, r *wire.Msg) {
		m := new(wire.Msg).SetReply(r)
		m.Authoritative = true
		name := r.Question[0].Name
		for _, line := range records {
			rr, err := wire.NewRR(line)
			if err != nil {
				t.Error(err)
				continue
			}
			if rr.Header().Name == name || strings.HasPrefix(line, "*.") && strings.HasSuffix(name, line[1:strings.Index(line, " ")]) {
				rr.Header().Name = name
				m.Answer = append(m.Answer, rr)
			}
		}
		switch {
		case strings.HasPrefix(name, "refused."):
			m.Rcode = wire.RcodeRefused
		case strings.HasPrefix(name, "elsewhere."):
			m.Authoritative = false
		case strings.HasPrefix(name, "long.") && w.LocalAddr().Network() == "udp":
			m.Truncated, m.Answer = true, nil
		}
		if err := w.WriteMsg(m); err != nil {
			t.Log(err)
		}
	})
	for _, s := range []*wire.Server{{PacketConn: conn, Handler: handler}, {Listener: tcp, Handler: handler}} {
		go func() {
			if err := s.ActivateAndServe(); err != nil {
				t.Log(err)
			}
		}()
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return port
}

func TestLookup(t *testing.T) {
	port := zone(t, "web.lab. 300 IN A 192.0.2.2", "web.lab. 300 IN A 192.0.2.1", "alias.lab. 60 IN CNAME web.lab.", "long.lab. 1 IN A 192.0.2.3",
		"*.apps.lab. 300 IN A 192.0.2.9")
	var q []dns.Question
	for _, name := range []string{"web.lab.", "alias.lab.", "none.lab.", "long.lab.", "refused.lab.", "elsewhere.lab.", "x.apps.lab.", "*.apps.lab."} {
		q = append(q, dns.Question{Name: name, Server: "127.0.0.1", Port: port})
	}
	want := []string{"*.apps.lab. [192.0.2.9]  300 false ", "alias.lab. [] web.lab. 60 false ", "elsewhere.lab. []  0 false SERVER is not authoritative for it",
		"long.lab. [192.0.2.3]  1 false ", "none.lab. []  0 false ", "refused.lab. []  0 false SERVER responds with REFUSED", "web.lab. [192.0.2.1 192.0.2.2]  300 false ",
		"x.apps.lab. [192.0.2.9]  300 true "}
	for i, r := range dns.Lookup(context.Background(), q) {
		got := strings.ReplaceAll(show(r), fmt.Sprintf("127.0.0.1:%d", port), "SERVER")
		if got != want[i] {
			t.Errorf("got  %q\nwant %q", got, want[i])
		}
	}
}

func show(r cluster.Record) string {
	return fmt.Sprintf("%s %v %s %d %t %s", r.Name, r.Addresses, r.CNAME, r.TTL, r.Wildcard, r.Error)
}

func TestServerThatDoesNotRespond(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets := make(chan int)
	go func() { // counts packets and never responds
		for n := 0; ; n++ {
			if _, _, err := conn.ReadFrom(make([]byte, 512)); err != nil {
				packets <- n
				return
			}
		}
	}()
	var q []dns.Question
	for i := range 200 {
		q = append(q, dns.Question{Name: fmt.Sprintf("n%d.lab.", i), Server: "127.0.0.1", Port: conn.LocalAddr().(*net.UDPAddr).Port})
	}
	for _, r := range dns.LookupWithin(context.Background(), q, 100*time.Millisecond) {
		if !strings.Contains(r.Error, "does not respond: timeout") {
			t.Fatalf("error %q", r.Error)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-packets; n == 0 || n > 2*16 { // two tries of each concurrent query
		t.Errorf("%d packets", n)
	}
}
