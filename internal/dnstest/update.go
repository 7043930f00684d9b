package dnstest

import (
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// update makes an update as RFC 2136 defines it, all of it or nothing, and returns the
// response code. It refuses messages that are not signed with the zone's key.
func (z *zone) update(r *dns.Msg, signed bool) int {
	switch q := r.Question[0]; {
	case q.Qtype != dns.TypeSOA:
		return dns.RcodeFormatError
	case !strings.EqualFold(q.Name, z.name):
		return dns.RcodeNotAuth
	}
	if code := z.prerequisites(r.Answer); code != dns.RcodeSuccess {
		return code
	}
	if !signed {
		return dns.RcodeRefused
	}
	for _, rr := range r.Ns {
		if !dns.IsSubDomain(z.name, strings.ToLower(rr.Header().Name)) {
			return dns.RcodeNotZone
		}
		if c := rr.Header().Class; c != dns.ClassINET && c != dns.ClassANY && c != dns.ClassNONE {
			return dns.RcodeFormatError
		}
	}
	for _, rr := range r.Ns {
		switch rr.Header().Class {
		case dns.ClassINET:
			z.add(rr)
		case dns.ClassANY:
			z.remove(rr, func(other dns.RR) bool {
				return rr.Header().Rrtype == dns.TypeANY || rr.Header().Rrtype == other.Header().Rrtype
			})
		case dns.ClassNONE:
			z.remove(rr, func(other dns.RR) bool { return same(rr, other) })
		}
	}
	return dns.RcodeSuccess
}

// prerequisites checks the records that must or must not exist before an update
// (section 2.4 of the RFC).
func (z *zone) prerequisites(list []dns.RR) int {
	wanted := map[string][]dns.RR{} // whole sets, by name and type
	for _, rr := range list {
		h := rr.Header()
		exists := len(z.of(h.Name, h.Rrtype)) > 0
		anyType := h.Rrtype == dns.TypeANY
		switch {
		case h.Ttl != 0:
			return dns.RcodeFormatError
		case !dns.IsSubDomain(z.name, strings.ToLower(h.Name)):
			return dns.RcodeNotZone
		case h.Class == dns.ClassANY && anyType && !exists:
			return dns.RcodeNameError
		case h.Class == dns.ClassANY && !exists:
			return dns.RcodeNXRrset
		case h.Class == dns.ClassNONE && anyType && exists:
			return dns.RcodeYXDomain
		case h.Class == dns.ClassNONE && exists:
			return dns.RcodeYXRrset
		case h.Class == dns.ClassINET:
			set := strings.ToLower(h.Name) + " " + dns.TypeToString[h.Rrtype]
			wanted[set] = append(wanted[set], rr)
		}
	}
	for _, set := range wanted {
		has := z.of(set[0].Header().Name, set[0].Header().Rrtype)
		if len(has) != len(set) || slices.ContainsFunc(set, func(rr dns.RR) bool {
			return !slices.ContainsFunc(has, func(other dns.RR) bool { return same(rr, other) })
		}) {
			return dns.RcodeNXRrset
		}
	}
	return dns.RcodeSuccess
}

// same reports whether two records are equal except for their class and TTL.
func same(a, b dns.RR) bool {
	a, b = dns.Copy(a), dns.Copy(b)
	a.Header().Class, b.Header().Class = dns.ClassINET, dns.ClassINET
	return dns.IsDuplicate(a, b)
}

// add adds a record. A name with an alias has no other records: what would break
// that is ignored without an error. The last TTL applies to the whole set.
func (z *zone) add(rr dns.RR) {
	for _, other := range z.at(rr.Header().Name) {
		if (other.Header().Rrtype == dns.TypeCNAME) != (rr.Header().Rrtype == dns.TypeCNAME) {
			return
		}
	}
	if rr.Header().Rrtype == dns.TypeCNAME {
		z.remove(rr, func(dns.RR) bool { return true })
	}
	known := false
	for i, other := range z.records {
		if strings.EqualFold(other.Header().Name, rr.Header().Name) && other.Header().Rrtype == rr.Header().Rrtype {
			known = known || same(rr, other)
			z.records[i] = dns.Copy(other)
			z.records[i].Header().Ttl = rr.Header().Ttl
		}
	}
	if !known {
		z.records = append(z.records, dns.Copy(rr))
	}
}

// remove removes records of a name. The zone keeps its SOA and name servers.
func (z *zone) remove(rr dns.RR, which func(dns.RR) bool) {
	z.records = slices.DeleteFunc(z.records, func(other dns.RR) bool {
		h := other.Header()
		apex := strings.EqualFold(h.Name, z.name) && (h.Rrtype == dns.TypeSOA || h.Rrtype == dns.TypeNS)
		return !apex && strings.EqualFold(h.Name, rr.Header().Name) && which(other)
	})
}
