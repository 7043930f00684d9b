package proxmox

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net/url"
	"slices"
	"strings"
)

// ownAuthority is the organization of the certificate authority that every cluster
// makes for itself. The organizational unit beside it is a UUID.
const ownAuthority = "PVE Cluster Manager CA"

// authorityID returns the id of a cluster's own certificate authority, or "" if a name
// is not that of such an authority.
func authorityID(name pkix.Name) string {
	if !slices.Contains(name.Organization, ownAuthority) || len(name.OrganizationalUnit) == 0 {
		return ""
	}
	return strings.ToLower(name.OrganizationalUnit[0])
}

// readIdentity adds what tells this cluster from another one: its name and the
// addresses of its nodes, which only /cluster/status has, and the id of its own
// certificate authority. The certificate of the server has that id, and no request is
// necessary, unless somebody installed another certificate.
func (r *reader) readIdentity(ctx context.Context, status []member) {
	for _, m := range status {
		if m.Type == "cluster" {
			r.inv.Cluster = m.Name
		}
		if n := r.inv.Node(m.Name); m.Type == "node" && n != nil {
			n.Address = strings.ToLower(m.Address)
		}
	}
	issuer, address := r.transport.server()
	r.inv.Address, r.inv.CA = address, authorityID(issuer)
	for _, n := range r.inv.Nodes {
		if n.Online && r.inv.CA == "" {
			r.inv.CA = r.rootCA(ctx, n.Name)
		}
	}
}

// rootCA returns the id in the cluster's root certificate, which every node has, and
// every user may read. Without an answer, the id is unknown.
func (r *reader) rootCA(ctx context.Context, node string) string {
	var files []struct {
		Name string `json:"filename"`
		PEM  string `json:"pem"`
	}
	once := context.WithValue(ctx, noRetry{}, true) // another node may answer
	if err := r.get(once, "/nodes/"+url.PathEscape(node)+"/certificates/info", &files); err != nil {
		return ""
	}
	for _, f := range files {
		block, _ := pem.Decode([]byte(f.PEM))
		if f.Name != "pve-root-ca.pem" || block == nil {
			continue
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			return authorityID(cert.Subject)
		}
	}
	return ""
}
