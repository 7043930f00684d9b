package effect

import (
	"stackgen/guest"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A Container is what must be known of a container to judge its update.
type Container struct {
	Running bool
	Permits bool                 // the spec permits a restart
	Had     func(tf.Change) bool // the last apply left the network device that a change removes
}

// restartsContainer is what an update does that the provider reboots a container for. It has no
// switch for that.
const restartsContainer = "restarts the container"

// What a change of whether a container runs does to it.
const (
	starts         = "starts the container"
	stopsContainer = "stops the container"
)

// Updates are the changes that do something, each with its effect and harm.
func (v *Container) Updates(changes []tf.Change) []Update {
	var out []Update
	for _, c := range changes {
		u := Update{Change: c, Effect: c.Effect()}
		if u.Effect == schema.Noise || u.Effect == schema.Creation {
			continue
		}
		u.Does, u.Harm = v.does(u)
		out = append(out, u)
	}
	return out
}

// turnsOn reports whether a change of whether the container runs starts it. The plan has a container that
// does not run as one without a value.
func (u Update) turnsOn() bool { return u.Is == "true" }

// stop is a change that shuts the container down, by force in the end.
func (v *Container) stop() (string, Harm) {
	if v.Permits {
		return stopsContainer, ""
	}
	return stopsContainer, Stops
}

// does says what a change does to the container.
func (v *Container) does(u Update) (string, Harm) {
	switch {
	case u.Effect == "":
		return unknown, NotKnown
	case u.Key() == guest.VMID && u.Was == "": // an import leaves it to the id, and another one would be a replacement
		return Settles, ""
	case u.Effect == schema.Replace:
		return "replaces the container", Replaces
	case u.Effect == schema.ProviderOnly:
		return Settles, ""
	case u.Effect == schema.Grow && shrinks(u.Change):
		return "fails", Shrinks
	case u.Effect == schema.Power && v.Running && !u.turnsOn():
		return v.stop()
	case u.Effect == schema.Power:
		return starts, ""
	case u.Key() == guest.Networks && u.Whole && u.Removes() && !v.Had(u.Change):
		return "removes it", Unplugs
	case u.Effect == schema.Restart && !v.Running, u.Effect == schema.Pending && !v.Running:
		return nextStart, ""
	case u.Effect == schema.Restart && !v.Permits:
		return restartsContainer, Restarts
	case u.Effect == schema.Restart:
		return restartsContainer, ""
	case u.Effect == schema.Pending:
		return afterRestart, ""
	}
	return atOnce, ""
}
