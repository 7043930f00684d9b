package deploy

import (
	"errors"
	"time"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/report"
)

// lockTime is how long a backup waits for the lock of a VM.
const lockTime = 5 * time.Minute

// mayBackUp ends the command if no backup can be made on the storage of the order: nobody is asked first.
func (r *run) mayBackUp(s *check.Session, all []*rebuilding, o Order) error {
	if o.Backup == "" {
		return nil
	}
	var names []string
	for _, b := range all {
		names = append(names, b.names()...)
	}
	why, grants := operate.Named(r.p, s.Inventory, names).NoBackup(o.Backup)
	if why == "" {
		return nil
	}
	err := report.Printf(r.Out, "--backup %s: %s; nothing was changed\n", o.Backup, why)
	for _, line := range grants {
		err = errors.Join(err, report.Text(r.Out, "  > "+line+"\n"))
	}
	return errors.Join(err, ended{finding.Failed})
}

// backUp makes a backup of each VM of a wave, while it still runs. Without all of them, none of the wave is
// touched.
func (r *run) backUp(s *check.Session, b *rebuilding, o Order) error {
	if o.Backup == "" {
		return nil
	}
	r.say("backing up %s of %s to %s", report.Count(len(b.Replaced), "VM"), b.stack.name, o.Backup)
	left, err := operate.Named(r.p, s.Inventory, b.names()).Backup(r.ctx, o.Backup, lockTime, func(one operate.One) {
		if one.Result == power.Done || one.Result == power.Waiting {
			r.say("%s: %s", one.String(), one.Text)
		}
	})
	if err != nil || len(left) == 0 {
		return err
	}
	for i := range left {
		err = errors.Join(err, report.Printf(r.Out, "%s has no new backup, so nothing of %s was rebuilt: %s\n",
			left[i].String(), b.stack.name, left[i].Text))
		for _, line := range left[i].Fix {
			err = errors.Join(err, report.Text(r.Out, "  > "+line+"\n"))
		}
	}
	return errors.Join(err, ended{finding.Failed})
}
