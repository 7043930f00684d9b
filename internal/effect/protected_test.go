package effect

import (
	"testing"

	"stackgen/internal/tf"
)

// TestProtected: Proxmox VE removes no drive of a VM whose protection is on, also if the same request removes the
// protection. It moves and grows disks, and makes new ones.
func TestProtected(t *testing.T) {
	disk := tf.Change{Path: "disk", Device: "scsi1", Was: "size=20", Whole: true}
	tpm := tf.Change{Path: "tpm_state", Was: "version=v2.0", Whole: true}
	drive := tf.Change{Path: "initialization.datastore_id", Was: "ssd", Is: "hdd"}
	permits := VM{Running: true, Permits: true, Restarts: true, Answers: true}
	for name, c := range map[string]struct {
		vm      VM
		changes []tf.Change
		does    string
		harm    Harm
	}{
		"disk":                          {VM{Running: true}, []tf.Change{disk}, "fails", Protected},
		"disk, off":                     {VM{}, []tf.Change{disk}, "fails", Protected},
		"disk, and the protection":      {VM{}, []tf.Change{disk, {Path: "protection", Was: "true", Is: "false"}}, "fails", Protected},
		"disk to boot from":             {VM{BootDevices: []string{"scsi1"}}, []tf.Change{disk}, "fails", BootsFrom},
		"disk that was detached":        {VM{Disks: attached("scsi0")}, []tf.Change{disk}, "fails", Lost},
		"disk that the state has not":   {VM{}, []tf.Change{{Path: "disk", Device: "scsi9", Was: "size=20", Whole: true}}, "detaches it", Detaches},
		"disk grows":                    {VM{}, []tf.Change{{Path: "disk.size", Device: "scsi1", Was: "20", Is: "30"}}, atOnce, ""},
		"disk moves":                    {VM{}, []tf.Change{{Path: "disk.datastore_id", Device: "scsi1", Was: "ssd", Is: "hdd"}}, atOnce, ""},
		"TPM":                           {permits, []tf.Change{tpm}, "stops the VM and fails", Protected},
		"TPM, off":                      {VM{}, []tf.Change{tpm}, "fails", Protected},
		"cloud-init drive":              {permits, []tf.Change{drive}, "stops the VM and fails", Protected},
		"cloud-init drive, may not":     {VM{Running: true}, []tf.Change{drive}, "fails", Protected},
		"cloud-init drive, none so far": {VM{NoDrive: true}, []tf.Change{drive}, atOnce, ""},
		"cloud-init user":               {permits, []tf.Change{{Path: "initialization.user_account.username", Was: "a", Is: "b"}}, restarts, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.vm.State = values(t, stateBefore)
			c.vm.State["tpm_state.version"] = "v2.0"
			c.vm.Keeps = []string{"scsi0", "scsi1"}
			for _, protected := range []bool{true, false} {
				c.vm.Protected = protected
				u := c.vm.Updates(c.changes)[0]
				if protected && (u.Does != c.does || u.Harm != c.harm) {
					t.Errorf("got %q, %q, want %q, %q", u.Does, u.Harm, c.does, c.harm)
				}
				if !protected && u.Harm == Protected {
					t.Errorf("a VM without protection: %q", u.Harm)
				}
			}
		})
	}
}

// TestFirmware: a disk of the firmware that the VM has and the state lacks is no disk that is added: Proxmox VE makes
// another one.
func TestFirmware(t *testing.T) {
	efi := tf.Change{Path: "efi_disk", Is: "datastore_id=ssd", Whole: true}
	tpm := tf.Change{Path: "tpm_state", Is: "datastore_id=ssd", Whole: true}
	read := func(c tf.Change) tf.Change { c.Present = true; return c }
	for name, c := range map[string]struct {
		vm     VM
		change tf.Change
		does   string
		harm   Harm
	}{
		"EFI disk":                  {VM{Firmware: []string{"efidisk0"}}, efi, "replaces it by a new one", Forgets},
		"EFI disk as the VM has it": {VM{Firmware: []string{"efidisk0"}}, read(efi), "replaces it by a new one", Forgets},
		"TPM":                       {VM{Running: true, Permits: true, Firmware: []string{"tpmstate0"}}, tpm, "replaces it by a new one", ForgetsKeys},
		"TPM as the VM has it":      {VM{Running: true, Firmware: []string{"tpmstate0"}}, read(tpm), "replaces it by a new one", ForgetsKeys},
		"TPM, begun":                {VM{Begun: true, Firmware: []string{"tpmstate0"}}, tpm, atOnce, ""},
		"new EFI disk":              {VM{Firmware: []string{"tpmstate0"}}, efi, nextStart, ""},
		"new TPM":                   {VM{Firmware: []string{"efidisk0"}}, tpm, atOnce, ""},
	} {
		if u := c.vm.Updates([]tf.Change{c.change})[0]; u.Does != c.does || u.Harm != c.harm {
			t.Errorf("%s: got %q, %q, want %q, %q", name, u.Does, u.Harm, c.does, c.harm)
		}
	}
}
