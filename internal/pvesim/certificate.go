package pvesim

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"time"
)

// An authority is the certificate authority that a cluster makes for itself. Its id,
// the OU of its name, is the same in all certificates that it issues.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// authorityID is the id of the seed, or one that depends on the seed only: a cluster
// that is saved and loaded remains the same one.
func authorityID(s *Seed) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", s.Cluster, s.Number, s.Nodes[0].Name))
	return cmp.Or(s.CA, fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}

func newAuthority(id string) (*authority, error) {
	name := pkix.Name{CommonName: "Proxmox Virtual Environment", OrganizationalUnit: []string{id},
		Organization: []string{"PVE Cluster Manager CA"}}
	return issue(nil, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: name, NotAfter: time.Now().AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
}

// issue makes a certificate and its key: of the authority, or self-signed without one.
func issue(by *authority, of *x509.Certificate) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	of.NotBefore = time.Now().Add(-time.Hour)
	if by == nil {
		by = &authority{of, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, of, by.cert, &key.PublicKey, by.key)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return &authority{cert, key}, nil
}

// nodeCertificate makes the certificate of a node's API server.
func nodeCertificate(by *authority, n *Node) (*authority, error) {
	out := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().AddDate(2, 0, 0),
		Subject: pkix.Name{OrganizationalUnit: []string{"PVE Cluster Node"}, Organization: []string{"Proxmox Virtual Environment"},
			CommonName: n.Name},
		DNSNames:    []string{"localhost", n.Name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(n.Address); ip != nil {
		out.IPAddresses = append(out.IPAddresses, ip)
	}
	return issue(by, out)
}

// ownCertificate makes a certificate that somebody installed instead of the node's.
func ownCertificate(n *Node) (*authority, error) {
	return issue(nil, &x509.Certificate{SerialNumber: big.NewInt(3), NotAfter: time.Now().AddDate(1, 0, 0),
		Subject: pkix.Name{CommonName: n.Name + ".sim.invalid"}, DNSNames: []string{"localhost", n.Name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
}

// addCertificates makes the authority of the cluster and the certificates of all nodes.
func (w *cluster) addCertificates() error {
	ca, err := newAuthority(authorityID(w.seed))
	if err != nil {
		return err
	}
	w.certificates = map[string][]certificate{}
	for _, n := range w.nodes {
		own, err := nodeCertificate(ca, n)
		if err != nil {
			return err
		}
		w.certificates[n.Name] = []certificate{{"pve-root-ca.pem", ca}, {"pve-ssl.pem", own}}
		if w.seed.OwnCertificate {
			installed, err := ownCertificate(n)
			if err != nil {
				return err
			}
			w.certificates[n.Name] = append(w.certificates[n.Name], certificate{"pveproxy-ssl.pem", installed})
		}
	}
	return nil
}

// A certificate is one file of a node.
type certificate struct {
	file string
	*authority
}

// served is the certificate that the API server of a node uses: the last one.
func (w *cluster) served(node string) tls.Certificate {
	list := w.certificates[node]
	c := list[len(list)-1]
	return tls.Certificate{Certificate: [][]byte{c.cert.Raw}, PrivateKey: c.key}
}

func nodeCertificates(c *call) (any, error) {
	out := []object{}
	for _, f := range c.w.certificates[c.node] {
		sum := sha256.Sum256(f.cert.Raw)
		names := []string{}
		for _, ip := range f.cert.IPAddresses {
			names = append(names, longIP(ip))
		}
		out = append(out, object{"filename": f.file, "fingerprint": strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":"),
			"issuer": slashed(f.cert.Issuer), "subject": slashed(f.cert.Subject), "san": append(names, f.cert.DNSNames...),
			"notbefore": f.cert.NotBefore.Unix(), "notafter": f.cert.NotAfter.Unix(), "public-key-bits": 256, "public-key-type": "id-ecPublicKey",
			"pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.cert.Raw}))})
	}
	return out, nil
}

// longIP returns an address as OpenSSL prints it: IPv6 in full.
func longIP(ip net.IP) string {
	if ip.To4() != nil {
		return ip.String()
	}
	a, _ := netip.AddrFromSlice(ip)
	return a.StringExpanded()
}

// slashed is a name in the notation of OpenSSL that Proxmox VE uses.
func slashed(n pkix.Name) string {
	var out strings.Builder
	node := len(n.OrganizationalUnit) > 0 && n.OrganizationalUnit[0] == "PVE Cluster Node" // has its CN last
	cn := "/CN=" + n.CommonName
	if !node {
		out.WriteString(cn)
	}
	for _, ou := range n.OrganizationalUnit {
		out.WriteString("/OU=" + ou)
	}
	for _, o := range n.Organization {
		out.WriteString("/O=" + o)
	}
	if node {
		out.WriteString(cn)
	}
	return out.String()
}
