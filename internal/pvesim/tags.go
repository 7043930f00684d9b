package pvesim

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/pvesim/schema"
)

// tagRules are the options of the data center about tags.
type tagRules struct {
	registered    []string // only those who may change the node's system may set them
	allow         string   // which others may be set: free, existing, list or none
	list          []string
	caseSensitive bool
	unsorted      bool
}

// options are the options in a property string such as a=1,b=x;y.
func options(text string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		out[name] = value
	}
	return out
}

func (w *cluster) tagRules() tagRules {
	access, style := options(w.seed.Options["user-tag-access"]), options(w.seed.Options["tag-style"])
	return tagRules{
		registered:    schema.SplitList(w.seed.Options["registered-tags"]),
		allow:         cmp.Or(access["user-allow"], "free"),
		list:          schema.SplitList(access["user-allow-list"]),
		caseSensitive: style["case-sensitive"] == "1",
		unsorted:      style["ordering"] == "config",
	}
}

// allowedTags are the tags that the caller may set, as the server lists them.
func (c *call) allowedTags() []string {
	r, all, tags := c.w.tagRules(), c.w.allowed(c.who, "/", "Sys.Modify"), map[string]bool{}
	if r.allow != "none" || all {
		for _, t := range r.list {
			tags[t] = true
		}
	}
	if r.allow == "free" || r.allow == "existing" || all {
		for _, g := range c.w.guests {
			if all || c.w.allowed(c.who, "/vms/"+itoa(g.VMID), "VM.Audit") {
				for _, t := range schema.SplitList(g.effective()["tags"]) {
					tags[t] = true
				}
			}
		}
	}
	for _, t := range r.registered {
		if tags[t] = true; !all {
			delete(tags, t)
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(tags))...)
}

// checkTags checks each tag that is added or removed.
func (c *call) checkTags(was, is string) error {
	if c.w.allowed(c.who, "/", "Sys.Modify") {
		return nil
	}
	r, allowed := c.w.tagRules(), c.allowedTags()
	before, after := schema.SplitList(was), schema.SplitList(is)
	for _, t := range append(before, after...) {
		if slices.Contains(before, t) == slices.Contains(after, t) {
			continue
		}
		if !slices.Contains(allowed, t) && r.allow != "free" || slices.Contains(r.registered, t) {
			return denied("/, Sys.Modify for modifying tag '%s'", t)
		}
	}
	return nil
}

// uniqueTags are tags as an update stores them.
func (r *tagRules) uniqueTags(v string) string {
	var out []string
	for _, t := range schema.SplitList(v) {
		if !r.caseSensitive {
			t = strings.ToLower(t)
		}
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return " "
	}
	if !r.unsorted {
		slices.Sort(out)
	}
	return strings.Join(out, ";")
}

// clusterOptions returns the options of the data center. Without Sys.Audit, they are those
// of the web interface only.
func clusterOptions(c *call) (any, error) {
	out := object{"allowed-tags": c.allowedTags()}
	audit := c.w.allowed(c.who, "/", "Sys.Audit")
	if audit {
		out["description"], out["mac_prefix"] = "", "BC:24:11"
	}
	for k, v := range c.w.seed.Options {
		switch {
		case !audit && k != "console" && k != "tag-style":
		case k == "registered-tags":
			out[k] = schema.SplitList(v)
		case k == "user-tag-access":
			parsed := object{}
			for name, value := range options(v) {
				if parsed[name] = value; name == "user-allow-list" {
					parsed[name] = schema.SplitList(value)
				}
			}
			out[k] = parsed
		case k == "tag-style":
			parsed := object{}
			for name, value := range options(v) {
				if parsed[name] = value; name == "case-sensitive" {
					parsed[name], _ = strconv.Atoi(value)
				}
			}
			out[k] = parsed
		default:
			out[k] = v
		}
	}
	return out, nil
}
