package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/miekg/dns"
)

// recordSet is dns_a_record_set: all A records of one name.
func recordSet() *schema.Resource {
	return &schema.Resource{
		Description:   standIn + "The A records of a name.",
		CreateContext: create,
		ReadContext:   read,
		UpdateContext: change,
		DeleteContext: remove,
		Importer:      &schema.ResourceImporter{StateContext: adopt},
		Schema: map[string]*schema.Schema{
			"zone": {Type: schema.TypeString, Required: true, ForceNew: true, ValidateFunc: checkZone,
				Description: "The zone, with its final dot."},
			"name": {Type: schema.TypeString, Optional: true, ForceNew: true, ValidateFunc: checkName,
				Description: "The name below the zone; none for the zone itself."},
			"addresses": {Type: schema.TypeSet, Required: true, Elem: &schema.Schema{Type: schema.TypeString}, Description: "Its IPv4 addresses."},
			"ttl":       {Type: schema.TypeInt, Optional: true, ForceNew: true, Default: 3600, Description: "TTL in seconds."},
		},
	}
}

// checkZone refuses what is no name of a zone, as the released provider does.
func checkZone(v any, _ string) ([]string, []error) {
	if zone := v.(string); !dns.IsFqdn(zone) || strings.TrimSpace(zone) != zone {
		return nil, []error{fmt.Errorf("DNS zone name must be fully qualified: %q", zone)}
	}
	return nil, nil
}

// checkName refuses what is no name in a zone.
func checkName(v any, _ string) ([]string, []error) {
	if name := v.(string); name == "" || dns.IsFqdn(name) || strings.TrimSpace(name) != name {
		return nil, []error{fmt.Errorf("DNS record name must be relative to its zone: %q", name)}
	}
	return nil, nil
}

// fqdn is the full name of a record set, with its final dot.
func fqdn(d *schema.ResourceData) string {
	zone, name := d.Get("zone").(string), d.Get("name").(string)
	if name == "" {
		return zone
	}
	return name + "." + zone
}

// create adds the addresses to those that the name has already: the update has no
// prerequisites.
func create(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	d.SetId(fqdn(d))
	return change(ctx, d, meta)
}

// change removes old addresses and adds new ones in one message. After an error the
// record set is removed from the state, as in the real provider.
func change(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	c, _ := meta.(*client)
	if c == nil {
		d.SetId("")
		return diag.FromErr(errNoServer)
	}
	if d.HasChange("addresses") {
		was, is := d.GetChange("addresses")
		gone, err := records(d, was.(*schema.Set).Difference(is.(*schema.Set)))
		if err == nil {
			var added []dns.RR
			added, err = records(d, is.(*schema.Set).Difference(was.(*schema.Set)))
			m := new(dns.Msg).SetUpdate(d.Get("zone").(string))
			m.Remove(gone)
			m.Insert(added)
			if err == nil {
				err = c.update(ctx, m)
			}
		}
		if err != nil {
			d.SetId("")
			return diag.Errorf("Error updating DNS record: %s", err)
		}
	}
	return read(ctx, d, meta)
}

// records are the A records of a set of addresses.
func records(d *schema.ResourceData, addresses *schema.Set) ([]dns.RR, error) {
	var out []dns.RR
	for _, a := range addresses.List() {
		ip := net.ParseIP(a.(string)).To4()
		if ip == nil {
			return nil, fmt.Errorf("%q is not an IPv4 address", a)
		}
		header := dns.RR_Header{Name: fqdn(d), Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: uint32(d.Get("ttl").(int))}
		out = append(out, &dns.A{Hdr: header, A: ip})
	}
	return out, nil
}

// read reads the records from the server. Without addresses, the resource does not exist.
func read(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	c, _ := meta.(*client)
	found, err := c.ask(ctx, fqdn(d), dns.TypeA)
	if c == nil {
		return diag.FromErr(err)
	}
	var addresses []any
	ttl := -1
	for _, rr := range found {
		a, ok := rr.(*dns.A)
		if !ok {
			err = fmt.Errorf("didn't get a A record")
			break
		}
		addresses = append(addresses, a.A.String())
		if own := int(a.Hdr.Ttl); ttl < 0 || own < ttl {
			ttl = own
		}
	}
	switch {
	case err != nil:
		return diag.Errorf("Error querying DNS record: %s", err)
	case len(addresses) == 0:
		d.SetId("")
		return nil
	}
	if err := d.Set("addresses", addresses); err != nil {
		return diag.FromErr(err)
	}
	return diag.FromErr(d.Set("ttl", ttl))
}

// remove removes all addresses of the name, also those added by others.
func remove(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	c, _ := meta.(*client)
	m := new(dns.Msg).SetUpdate(d.Get("zone").(string))
	m.RemoveRRset([]dns.RR{&dns.A{Hdr: dns.RR_Header{Name: fqdn(d), Rrtype: dns.TypeA, Class: dns.ClassINET}}})
	switch err := c.update(ctx, m); {
	case errors.Is(err, errNoServer):
		return diag.FromErr(err)
	case err != nil:
		return diag.Errorf("Error deleting DNS record: %s", err)
	}
	return nil
}

// adopt imports by full name. The zone comes from the server.
func adopt(ctx context.Context, d *schema.ResourceData, meta any) ([]*schema.ResourceData, error) {
	c, _ := meta.(*client)
	if !dns.IsFqdn(d.Id()) {
		return nil, fmt.Errorf("Not a fully-qualified DNS name: %s", d.Id()) //nolint:staticcheck // the message of the real provider
	}
	zone, err := c.zoneOf(ctx, d.Id())
	if err != nil {
		return nil, fmt.Errorf("Error querying DNS record: %w", err) //nolint:staticcheck // the message of the real provider
	}
	if err := d.Set("zone", zone); err != nil {
		return nil, err
	}
	if name, below := strings.CutSuffix(d.Id(), "."+zone); below {
		err = d.Set("name", name)
	}
	return []*schema.ResourceData{d}, err
}
