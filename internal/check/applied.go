package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// lastApplied is when a unit was applied last, RFC 3339, as far as something says it. An apply
// reads all VMs of its unit, so the tasks of one of them say it for all. proven is false if an
// apply may be later: one that only changes options makes no task.
func (s *Session) lastApplied(u tf.Unit, acts *cluster.Acts) (at string, proven bool) {
	at, proven = s.written(u)
	for _, r := range s.State[u].Resources {
		if own := acts.Applied[r.VMID]; r.Type == guest.VMResource && own != "" {
			at = max(at, own)
		}
	}
	return at, proven
}

// written is when an apply wrote the state of a unit last, RFC 3339, by the files of a local
// backend. An apply keeps the state of before in a file, and that file has its time: the state
// has that of later commands, such as `state rm`. Before a second apply there is no such file,
// and the state has the time of the first one, unless it was changed since stackgen has seen it.
func (s *Session) written(u tf.Unit) (at string, proven bool) {
	l := s.Project.Lock.Stacks.Get(u.Stack)
	if l == nil || l.Backend.Type != "local" || len(s.sources.States) > 0 {
		return "", false
	}
	file := filepath.Join(s.Project.Root, lock.StateDir, filepath.FromSlash(l.StateKey), u.Unit, localState)
	info, err := os.Stat(file + ".backup")
	if err != nil {
		if recorded := l.Units.Get(u.Unit); recorded != nil && recorded.Serial != 0 && uint64(recorded.Serial) != s.State[u].Serial {
			return "", false
		}
		info, err = os.Stat(file)
	}
	if err != nil {
		return "", false
	}
	return info.ModTime().UTC().Format(time.RFC3339), true
}

// unproven are the notes about units of which tasks are named that may be from before the last
// apply, such as those with a state in a bucket.
func (s *Session) unproven(found []finding.Finding, acts *cluster.Acts) (notes []string) {
	var units []tf.Unit
	for i := range found {
		f := &found[i]
		u := tf.Unit{Stack: f.Stack, Unit: f.Unit}
		if f.Change == nil || len(f.Change.By) == 0 || slices.Contains(units, u) {
			continue
		}
		units = append(units, u)
		if _, proven := s.lastApplied(u, acts); !proven {
			notes = append(notes, fmt.Sprintf("nothing says when %s was applied last: the tasks that are named may be from before that", u))
		}
	}
	return notes
}
