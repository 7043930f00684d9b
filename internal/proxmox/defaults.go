package proxmox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/secret"
)

// optionsWrite sets options of one VM.
var optionsWrite = write{http.MethodPut, regexp.MustCompile(`^/api2/json/nodes/[^/]+/qemu/[0-9]+/config$`)}

// defaultsTimeout bounds the requests for one VM.
const defaultsTimeout = 2 * time.Minute

// WriteDefaults writes defaults into the configurations of VMs, one after the other, and
// reports each. An error that only one VM has does not stop it. After an interrupt it ends
// the VM that it is at. The error is why the rest was not tried.
func WriteDefaults(ctx context.Context, c Config, all []cluster.Defaults, report func(cluster.Written)) error {
	api, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer api.close()
	for i := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d := &all[i]
		w := cluster.Written{VMID: d.Guest.VMID, Name: d.Guest.Name, Node: d.Guest.Node}
		for _, s := range d.Settings {
			w.Entries = append(w.Entries, s.Key)
		}
		err := api.writeDefaults(context.WithoutCancel(ctx), d, &w)
		if err != nil {
			w.Error = err.Error()
		}
		report(w)
		var own *ownError
		if code := statusCode(err); err != nil && !errors.As(err, &own) && (code == 0 || code == http.StatusUnauthorized) {
			return err
		}
	}
	return nil
}

// An ownError is why the configuration of one VM was not written.
type ownError struct{ text string }

func (e *ownError) Error() string { return e.text }

// writeDefaults writes into the configuration of one VM, if that is still what was read, and
// reads back what was written and what waits for a restart.
func (c *client) writeDefaults(ctx context.Context, d *cluster.Defaults, w *cluster.Written) error {
	ctx, cancel := context.WithTimeout(ctx, defaultsTimeout)
	defer cancel()
	if err := d.Check(); err != nil {
		return &ownError{err.Error()}
	}
	var now map[string]json.RawMessage
	if err := c.get(ctx, configPath(d.Guest), &now); err != nil {
		return err
	}
	if !sameEntries(now, d.Guest.Config.Raw) {
		return &ownError{"its configuration has changed since it was read"}
	}
	body := map[string]string{"digest": plain(now["digest"])} // Proxmox VE refuses it after another change
	for _, s := range d.Settings {
		body[s.Key] = s.Value
	}
	failed := c.put(optionsWrite.in(ctx), configPath(d.Guest), body)
	r := &reader{client: c}
	after, pending, err := r.readSettings(ctx, d.Guest)
	if err != nil {
		return errors.Join(failed, err)
	}
	for _, s := range d.Settings {
		if text, has := after[s.Key]; !has || !s.Same(text) {
			if failed == nil {
				failed = &ownError{fmt.Sprintf("it has %s=%s afterwards", s.Key, text)}
			}
			return failed
		}
		if slices.ContainsFunc(pending, func(p cluster.Pending) bool { return p.Key == s.Key }) {
			w.Waits = append(w.Waits, s.Key)
		}
	}
	return nil
}

// sameEntries reports whether a configuration is the one that an inventory has.
func sameEntries(now map[string]json.RawMessage, raw map[string]string) bool {
	texts := map[string]string{}
	for key, value := range now {
		if key != "digest" && key != passwordKey && value[0] != '{' && value[0] != '[' {
			texts[key] = secret.Redact(plain(value))
		}
	}
	return maps.Equal(texts, raw)
}
