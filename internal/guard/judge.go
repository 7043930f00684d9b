package guard

import (
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// An Input is everything that findings are made from.
type Input struct {
	Project   *schema.Project // with the decisions of the lock, and the stacks that only the lock has
	Lock      *lock.Lock
	Selected  func(stack string) bool // which stacks to report on; all are read
	State     tf.States
	Inventory *cluster.Inventory
	Imports   map[tf.Unit]Imports // the import files on disk; nil if they are not to be judged
	Imported  map[tf.Unit]Imports // the same, also if they are not to be judged
	Destroy   bool                // whole stacks are about to be destroyed, as the user says
	NoDNSKey  bool                // DNS_UPDATE_KEYSECRET is not set where the apply would run
	Partial   bool                // the run has not all units of the stack
	Planned   map[tf.Unit]bool    // units whose plans are judged, too
	Running   bool                // the run has begun: an import file without effect is right
	Grant     *Grant              // what the run may destroy or replace although the specs have it, or nil
	Splits    bool                // the command makes two applies of an update that removes disks and adds some

	// The VMs of the selected stacks that leave are destroyed before the templates of them: by a destroy,
	// and by an apply of Templates that leave last.
	TemplatesLast bool

	Begun map[string]cluster.Begun // what runs from here began to create, by STACK/KEY

	Rendered    string   // the id of the project in the rendered root.hcl; empty if it is not known
	LostLocks   []string // stacks that were rendered, and that the lock on disk does not have
	Elsewhere   []string // stacks that were rendered for another state, cluster or DNS server than the specs say
	NewClusters []string // stacks that are in another cluster now, as the user says
	NewStates   []string // stacks whose recorded states were lost, as the user says
}

// Judge returns one finding for every VM, pool and DNS record of the selected
// stacks, and for every guest that is listed with them. The order is total.
func Judge(in Input) []finding.Finding {
	j := newJudge(in)
	for _, s := range in.Project.Stacks {
		at := j.places[s.Name]
		if at == nil {
			continue
		}
		if j.lockLost(at) || j.elsewhere(at) || j.otherCluster(at) {
			delete(j.places, s.Name) // nothing else of the stack can be judged
			continue
		}
		j.pools(at)
		j.otherState(at)
		j.vms(at)
		j.images(at)
		j.likely(at)
		j.records(at)
		j.unlisted(at)
	}
	j.orphans()
	j.quorum()
	for _, s := range in.Project.Stacks {
		if at := j.places[s.Name]; at != nil {
			j.stale(at)
		}
	}
	shareLines(in.Project, j.out)
	finding.Sort(j.out)
	return j.out
}

func newJudge(in Input) *judge {
	x := newIndex(in)
	j := &judge{
		Input: in, index: x, all: x.match(in), kinds: map[string]finding.Kind{}, listed: map[int]bool{},
		settled: map[finding.Address][]string{}, unidentified: in.Inventory.Unidentified(),
	}
	j.addMatches(j.all)
	return j
}

// Matches says which guest each VM of the project is, by all evidence.
func Matches(in Input) []cluster.Match { return newIndex(in).match(in) }

// A judge holds one run of Judge.
type judge struct {
	Input
	index
	all    []cluster.Match
	out    []finding.Finding
	kinds  map[string]finding.Kind // of VMs that were judged, by stack/key
	listed map[int]bool            // guests that a finding names

	settled map[finding.Address][]string // what an import block that is left over would unset

	unidentified int // guests whose MAC addresses were not read

	inUse map[addressIn][]*cluster.Guest // guests of others that run, by their static addresses; nil until it is asked for
}

// add begins a finding. The pointer is valid until the next one.
func (j *judge) add(at *place, unit string, of finding.Type, key string) *finding.Finding {
	j.out = append(j.out, finding.Finding{Address: finding.Address{Stack: at.Name, Unit: unit, Type: of, Key: key}})
	return &j.out[len(j.out)-1]
}
