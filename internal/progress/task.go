package progress

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/power"
	"stackgen/internal/pve"
)

// A Task is one task of the cluster, as it was seen last.
type Task struct {
	UPID string
	Type string // qmclone, qmstart, ...
	Exit string // how it ended: OK, WARNINGS: 1, or an error; empty while it runs
	Line string // the last line of its log, if the log was read
}

// Running reports whether the task has not ended.
func (t Task) Running() bool { return t.Exit == "" }

// Failed reports whether the task has ended with an error.
func (t Task) Failed() bool {
	return t.Exit != "" && t.Exit != "OK" && !strings.HasPrefix(t.Exit, "WARNINGS")
}

// phase is what a task means for a VM with this action, while it runs and once it has
// ended well. A phase is empty if the task says nothing about it.
func (t Task) phase(a Action) (running, ended Phase) {
	operation := pve.OperationOf(t.Type)
	switch a {
	case Create:
		switch operation {
		case pve.Clone:
			return Cloning, Configuring
		case pve.Create:
			return Creating, Configuring
		case pve.Configure, pve.Resize, pve.MoveDisk, pve.Migrate:
			return Configuring, Configuring
		case pve.Start:
			return Starting, Waiting
		}
	case Destroy:
		switch operation {
		case pve.Stop:
			return Stopping, Destroying
		case pve.Destroy:
			return Destroying, Destroying
		}
	default:
		switch operation {
		case pve.Migrate:
			return Moving, base(a)
		case pve.Stop, pve.Reboot:
			return Stopping, base(a)
		case pve.Start:
			return Starting, base(a)
		case pve.Configure, pve.Resize, pve.MoveDisk:
			return base(a), base(a)
		}
	}
	return "", ""
}

// base is the phase of a row while nothing else is known.
func base(a Action) Phase {
	if of := power.Of(string(a)); of != nil {
		return Phase(of.While)
	}
	switch a {
	case Create:
		return Creating
	case Import:
		return Importing
	case Move:
		return Moving
	case Destroy:
		return Destroying
	}
	return Changing
}

// Lines of task logs that have a percentage:
//
//	transferred 1.2 GiB of 4.0 GiB (30.50%)
//	drive-scsi0: transferred 1.0 GiB of 32.0 GiB (3.13%) in 5s
//	drive-scsi0: transferred: 1 bytes remaining: 3 bytes total: 4 bytes progression: 25.00 % busy: 1 ready: 0
//	migration active, transferred 1.2 GiB of 4.0 GiB VM-state, 110.2 MiB/s
var (
	percentShape = regexp.MustCompile(`transferred:? .*?(?:\(|progression: )(\d+(?:\.\d+)?) ?%`)
	stateShape   = regexp.MustCompile(`migration active, transferred (\d+(?:\.\d+)?) ([KMGT]?i?B) of (\d+(?:\.\d+)?) ([KMGT]?i?B)`)
)

// Percent is how much of a copy is done by a line of a task's log: of the disk that
// is copied, or of the memory of a VM that moves. ok is false for other lines.
func Percent(line string) (percent float64, ok bool) {
	if m := percentShape.FindStringSubmatch(line); m != nil {
		p, err := strconv.ParseFloat(m[1], 64)
		return min(p, 100), err == nil
	}
	if m := stateShape.FindStringSubmatch(line); m != nil {
		part, whole := size(m[1], m[2]), size(m[3], m[4])
		if whole <= 0 {
			return 0, false
		}
		return min(100*part/whole, 100), true
	}
	return 0, false
}

// copyShapes are lines of task logs that only say how far a copy is: of qemu-img and of mirrors, of a migration, dd, wget, a
// restore, a backup, rsync and zfs send. Those of a genuine server are in recordings, except for the last four.
var copyShapes = []*regexp.Regexp{
	regexp.MustCompile(`^(?:[\d-]+ [\d:]+ )?(?:[\w-]+: )?transferred \S+ \S+ of \S+ \S+ \(\d+(?:\.\d+)?%\)(?: in [\d hms]+)?(?:, [a-z ]+)?$`),
	regexp.MustCompile(`^(?:[\d-]+ [\d:]+ )?(?:[\w-]+: )?transferred: \d+ bytes remaining: \d+ bytes .* ready: \d+$`),
	regexp.MustCompile(`^(?:[\d-]+ [\d:]+ )?migration active, transferred \S+ \S+ of \S+ \S+ VM-state, \S+ \S+$`),
	regexp.MustCompile(`^(?:[\d-]+ [\d:]+ )?(?:\d+\+\d+ records (?:in|out)|\d+ bytes (?:\([^()]*\) )?copied, \S+ s, \S+ \S+)$`),
	regexp.MustCompile(`^\d+K[ .]+\d+% +\S+$`),
	regexp.MustCompile(`^progress \d+% \(.*\)$`),
	regexp.MustCompile(`^INFO: +\d+% \(\S+ \S+ of \S+ \S+\).*$`),
	regexp.MustCompile(`^[\d,]+ +\d+% +\S+B/s +[\d:]+(?: \(.*\))?$`),
	regexp.MustCompile(`^\d\d:\d\d:\d\d +[\d.]+[BKMGT]? +\S+@\S+$`),
}

// withoutCopies is a message without the lines of a task's log that only say how far a copy is.
func withoutCopies(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		said := strings.TrimSpace(line)
		if !slices.ContainsFunc(copyShapes, func(shape *regexp.Regexp) bool { return shape.MatchString(said) }) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// size is a size such as 1.2 GiB in bytes.
func size(number, unit string) float64 {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	for range strings.IndexByte("BKMGT", unit[0]) {
		n *= 1024
	}
	return n
}

// volumeShape finds the VMs that volumes and files in a task's log belong to:
// vm-101-disk-0, vm-101-cloudinit, qemu-server/101.conf. Volumes of templates may be
// base-9000-disk-0.
var volumeShape = regexp.MustCompile(
	`(?:\bvm-|/qemu-server/|/lock-|unable to create VM )(\d+)(?:-disk-\d+|-cloudinit|\.conf|: config file)`)

// CloneTarget is the VMID that a clone makes, by a line of its log: the task itself
// carries the VMID of the source. It is 0 if the line does not say.
func CloneTarget(line string, source int) int {
	if strings.HasPrefix(line, "create full clone of ") || strings.HasPrefix(line, "create linked clone of ") {
		return 0 // names a volume of the source
	}
	for _, m := range volumeShape.FindAllStringSubmatch(line, -1) {
		if id, err := strconv.Atoi(m[1]); err == nil && id != source {
			return id
		}
	}
	return 0
}
