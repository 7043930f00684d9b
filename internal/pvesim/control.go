package pvesim

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"stackgen/internal/pvesim/clock"

	"go.yaml.in/yaml/v3"
)

// controlPrefix is the path of the simulator's own control interface, outside
// the API.
const controlPrefix = "/_sim/"

// control serves faults, clock, nodes, log and counters.
func (s *Server) control(r *request) *reply {
	switch r.method + " " + r.path {
	case "GET /_sim/faults":
		return jsonReply(200, "OK", s.Faults())
	case "DELETE /_sim/faults":
		s.ClearFaults()
		return jsonReply(200, "OK", nil)
	case "POST /_sim/faults":
		return s.controlFaults(r.body)
	case "POST /_sim/clock":
		var in struct{ Advance string }
		if err := json.Unmarshal(r.body, &in); err != nil {
			return plainReply(400, err.Error())
		}
		d, err := time.ParseDuration(in.Advance)
		if err == nil {
			err = s.Advance(d)
		}
		if err != nil {
			return plainReply(400, err.Error())
		}
		return jsonReply(200, "OK", nil)
	case "POST /_sim/node":
		var in struct{ Node, State string }
		if err := json.Unmarshal(r.body, &in); err != nil {
			return plainReply(400, err.Error())
		}
		if err := s.SetNode(in.Node, NodeState(in.State)); err != nil {
			return plainReply(400, err.Error())
		}
		return jsonReply(200, "OK", nil)
	case "GET /_sim/log":
		return jsonReply(200, "OK", s.Requests())
	case "DELETE /_sim/log":
		s.ResetLog()
		return jsonReply(200, "OK", nil)
	case "GET /_sim/counters":
		return jsonReply(200, "OK", s.Counters())
	}
	return plainReply(404, "no such control: "+r.method+" "+r.path)
}

// controlFaults adds one fault or a list of faults, as JSON.
func (s *Server) controlFaults(body []byte) *reply {
	var list []*Fault
	if err := json.Unmarshal(body, &list); err != nil {
		one := &Fault{}
		if err := json.Unmarshal(body, one); err != nil {
			return plainReply(400, err.Error())
		}
		list = []*Fault{one}
	}
	for _, f := range list {
		if err := s.AddFault(f); err != nil {
			return plainReply(400, err.Error())
		}
	}
	return jsonReply(200, "OK", nil)
}

// AddFault adds a fault.
func (s *Server) AddFault(f *Fault) error { return s.faults.add(f) }

// Faults returns the faults and how many requests each has affected.
func (s *Server) Faults() []Fault {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	out := make([]Fault, 0, len(s.faults.list))
	for _, f := range s.faults.list {
		c := *f
		c.rng = nil
		if c.Delay > 0 {
			c.DelayText = c.Delay.String()
		}
		out = append(out, c)
	}
	return out
}

// ClearFaults removes all faults. It does not revert the changes they made.
func (s *Server) ClearFaults() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = nil
}

// SetNode changes the state of a node.
func (s *Server) SetNode(name string, state NodeState) error {
	switch state {
	case NodeOnline, NodeDown, NodeLost:
	case "online":
		state = NodeOnline
	default:
		return fmt.Errorf("node state %q is not one of online, %s, %s", state, NodeDown, NodeLost)
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.advance(s.clk.Now())
	n := s.w.node(name)
	if n == nil {
		return fmt.Errorf("no node %q", name)
	}
	s.w.setNode(n, state)
	return nil
}

// Advance moves a virtual clock. It returns an error for other clocks.
func (s *Server) Advance(d time.Duration) error {
	v, ok := s.clk.(*clock.Virtual)
	if !ok {
		return fmt.Errorf("the clock of this simulator is not virtual")
	}
	v.Advance(d)
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.advance(v.Now())
	return nil
}

// Change calls a function with the state, under the simulator's lock.
func (s *Server) Change(edit func(*Seed)) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.advance(s.clk.Now())
	edit(s.w.seed)
}

// Save writes the state as YAML, which can be loaded as a seed. It contains the
// secrets of the seed.
func (s *Server) Save(out io.Writer) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.advance(s.clk.Now())
	s.w.seed.Tasks = s.w.tasks
	s.w.seed.Time = s.w.now.UTC()
	s.faults.mu.Lock()
	s.w.seed.Faults = s.faults.list
	s.faults.mu.Unlock()
	enc := yaml.NewEncoder(out)
	enc.SetIndent(2)
	if err := enc.Encode(s.w.seed); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return enc.Close()
}

// Remove removes a guest immediately, with its volumes and pool memberships.
func (s *Server) Remove(vmid int) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.advance(s.clk.Now())
	g := s.w.guests[vmid]
	if g == nil {
		return
	}
	s.w.dropGuest(g)
	delete(s.w.published, vmid)
	for _, p := range s.w.seed.Pools {
		p.remove(vmid)
	}
}

// Add adds a guest immediately, with the volumes of its disks.
func (s *Server) Add(g *Guest) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.advance(s.clk.Now())
	if err := s.w.addGuest(g); err != nil {
		return err
	}
	s.w.seed.Guests = append(s.w.seed.Guests, g)
	return nil
}
