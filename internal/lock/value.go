package lock

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

const minVMID, maxVMID = 100, 999999999

// A form is what a value of the lock must look like, where the formats of specs do not
// say it.
type form struct {
	fits func(string) bool
	want string
}

var forms = map[string]form{
	"name":      {isName, "a name of lower-case letters, digits and inner hyphens"},
	"project":   {regexp.MustCompile(`^[0-9a-f]{1,64}$`).MatchString, "a hexadecimal number"},
	"spec":      {isSpecPath, "a path relative to the project"},
	"state key": {isStateKey, "a path without . and .."},
	"backend":   {oneOf("local", "s3"), "local or s3"},
	"kind":      {oneOf(guest.Container.Name()), guest.Container.Name()},
	"clone":     {oneOf("full", "linked"), "full or linked"},
	"chosen mac": {func(s string) bool {
		fits, _ := schema.Matches("mac", s)
		return fits || s == "" || s == schema.AutoMAC
	}, "a unicast MAC address, auto, or empty"},
	// Specs of earlier versions had hosts and ports that are refused now.
	"endpoint":  {regexp.MustCompile(`^https?://[^\x00-\x20\x7f-\x{a0}\x{2000}-\x{206f}"'@]+$`).MatchString, "a URL without credentials"},
	"image url": {regexp.MustCompile(`^https?://[^\x00-\x20\x7f-\x{a0}\x{2000}-\x{206f}"'@]+$`).MatchString, "a URL without credentials"},
	"server":    {regexp.MustCompile(`^[0-9A-Za-z:][0-9A-Za-z.:_-]*$`).MatchString, "a host name or IP address"},
	"seen mac":  {regexp.MustCompile(`^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$`).MatchString, "a MAC address"},
	"former":    {isFormer, "PROFILE/KEY"},
	"detached": {
		regexp.MustCompile(`^(ide|sata|scsi|virtio)[0-9]+=[^\x00-\x20\x7f-\x{a0}\x{2000}-\x{206f},]+$`).MatchString,
		"INTERFACE=VOLUME",
	},
}

func oneOf(words ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(words, s) }
}

// isName reports whether text can be the name of a stack, unit or guest.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && s[0] != '-' && s[len(s)-1] != '-'
}

// isStackName reports whether text can be the name of a stack: that of a Template has dots.
func isStackName(s string) bool {
	fits, _ := schema.Matches("stackname", s)
	return fits && s != ""
}

// isSpecPath reports whether text is a path that begins at the project. A project of
// --out has specs outside of it.
func isSpecPath(s string) bool {
	line, _ := schema.Matches("line", s)
	below := s
	for strings.HasPrefix(below, "../") {
		below = below[len("../"):]
	}
	return line && path.Clean(s) == s && !path.IsAbs(s) && below != "." && below != ".."
}

// isStateKey reports whether text stays below the folder or prefix of states.
func isStateKey(s string) bool {
	fits, _ := schema.Matches("prefix", s)
	return fits && path.Join("/", s) == "/"+s
}

// isFormer reports whether text is a former address: PROFILE/KEY.
func isFormer(s string) bool {
	profile, key, both := strings.Cut(s, "/")
	fits, _ := schema.Matches("profile", profile)
	return both && fits && isName(key)
}

// text reads a text, which may be missing.
func (r *reader) text(parent *schema.Node, key, format string) string {
	return r.checked(parent.Get(key), key, format)
}

// checked returns a text of a format.
func (r *reader) checked(n *schema.Node, key, format string) string {
	if n == nil {
		return ""
	}
	if n.Shape == schema.ShapeList || n.Shape == schema.ShapeMap {
		r.fail(n.Pos, "expected text, found %s", n.Shape)
		return ""
	}
	s := n.Str()
	if s == "" {
		return ""
	}
	if fits, want := matches(format, s); !fits {
		r.fail(n.Pos, "%s is %q, but it must be %s", key, s, want)
		return ""
	}
	return s
}

// matches reports whether text has a format of the lock or of specs.
func matches(format, text string) (fits bool, want string) {
	if f, own := forms[format]; own {
		return f.fits(text), f.want
	}
	return schema.Matches(format, text)
}

// list reads a list, which may be missing.
func (r *reader) list(parent *schema.Node, key string) []*schema.Node {
	n := parent.Get(key)
	if n == nil {
		return nil
	}
	if n.Shape != schema.ShapeList {
		r.fail(n.Pos, "expected a list, found %s", n.Shape)
		return nil
	}
	return n.Items
}

// texts reads a list of texts.
func (r *reader) texts(parent *schema.Node, key, format string) []string {
	var out []string
	for _, item := range r.list(parent, key) {
		out = append(out, r.checked(item, key, format))
	}
	return out
}

func (r *reader) number(parent *schema.Node, key string, least, most int) int {
	n := parent.Get(key)
	if n == nil {
		r.fail(parent.Pos, "%s is missing", key)
		return 0
	}
	v, err := strconv.Atoi(n.Str())
	if err != nil {
		r.fail(n.Pos, "%s is a number, not %q", key, n.Str())
	} else if v < least || v > most {
		r.fail(n.Pos, "%s is %d, but it must be between %d and %d", key, v, least, most)
	}
	return v
}

// flag reads true or false, which may be missing.
func (r *reader) flag(parent *schema.Node, key string) bool {
	n := parent.Get(key)
	if n != nil && n.Shape != schema.ShapeBool {
		r.fail(n.Pos, "%s is %q, but it must be true or false", key, n.Str())
	}
	return n.Bool()
}

func (r *reader) status(parent *schema.Node) string {
	n := parent.Get("status")
	s := n.Str()
	if n != nil && s != Retired && s != Forgotten && (s != "" || n.Shape == schema.ShapeList || n.Shape == schema.ShapeMap) {
		r.fail(n.Pos, "unknown status %q", s)
	}
	return s
}
