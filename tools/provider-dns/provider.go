package main

import (
	"cmp"
	"context"
	"os"
	"strconv"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
)

// standIn starts every description, to distinguish it from the real provider.
const standIn = "Stand-in for hashicorp/dns, from the tests of stackgen. "

// updateFields are the arguments of the update block, each with its environment
// variable.
var updateFields = []struct {
	name, variable string
	number         bool
	doc            string
}{
	{"server", "DNS_UPDATE_SERVER", false, "Host or address of the server that takes updates."},
	{"port", "DNS_UPDATE_PORT", true, "Its port, 53 by default."},
	{"transport", "DNS_UPDATE_TRANSPORT", false, "udp, udp4, udp6, tcp, tcp4 or tcp6; udp by default."},
	{"timeout", "DNS_UPDATE_TIMEOUT", false, "How long to wait for an answer: 500ms, or a number of seconds."},
	{"retries", "DNS_UPDATE_RETRIES", true, "How often to ask again after a timeout, 3 by default."},
	{"key_name", "DNS_UPDATE_KEYNAME", false, "Name of the TSIG key, with its final dot."},
	{"key_algorithm", "DNS_UPDATE_KEYALGORITHM", false, "hmac-sha1, hmac-sha256 or hmac-sha512."},
	{"key_secret", "DNS_UPDATE_KEYSECRET", false, "The key's secret in base64."},
}

// provider is the part of the provider that the rendered modules use.
func provider() *schema.Provider {
	fields := map[string]*schema.Schema{}
	for _, f := range updateFields {
		kind := schema.TypeString
		if f.number {
			kind = schema.TypeInt
		}
		fields[f.name] = &schema.Schema{Type: kind, Optional: true, Description: f.doc + " Or " + f.variable + "."}
	}
	// Like the released provider since 3.3.0: the block has all key arguments or none.
	key := []string{"update.0.key_name", "update.0.key_algorithm", "update.0.key_secret"}
	for _, name := range []string{"key_name", "key_algorithm", "key_secret"} {
		fields[name].RequiredWith = key
	}
	return &schema.Provider{
		Schema: map[string]*schema.Schema{
			"update": {
				Type: schema.TypeList, Optional: true, MaxItems: 1, Elem: &schema.Resource{Schema: fields},
				Description: standIn + "Where updates go, and how they are signed.",
			},
		},
		ResourcesMap:         map[string]*schema.Resource{"dns_a_record_set": recordSet()},
		ConfigureContextFunc: configure,
	}
}

// configure creates the client. Without a server there is none, and operations that
// need one fail.
func configure(_ context.Context, d *schema.ResourceData) (any, diag.Diagnostics) {
	given := map[string]string{}
	blocks, _ := d.Get("update").([]any)
	for _, f := range updateFields {
		given[f.name] = os.Getenv(f.variable)
		if len(blocks) == 0 || blocks[0] == nil {
			continue
		}
		switch v := blocks[0].(map[string]any)[f.name].(type) {
		case string:
			given[f.name] = cmp.Or(v, given[f.name])
		case int:
			if v != 0 {
				given[f.name] = strconv.Itoa(v)
			}
		}
	}
	if given["server"] == "" {
		return (*client)(nil), nil
	}
	c, err := newClient(given)
	if err != nil {
		return nil, diag.Errorf("Error configuring provider: %s", err)
	}
	return c, nil
}
