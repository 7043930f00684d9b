package pve

// Snippets are the snippets that a start of a guest needs as it is configured: the script of its hooks, and what is written to
// its cloud-init drive, if it has one.
func Snippets(raw map[string]string) []Volume {
	var out []Volume
	add := func(text string) {
		if v := ParseVolume(text); v.Storage != "" {
			out = append(out, v)
		}
	}
	add(raw["hookscript"])
	for _, d := range Drives(raw) {
		if !d.CDROM() || !d.CloudInit() {
			continue
		}
		for _, o := range Parse(raw["cicustom"]) {
			add(o.Value)
		}
		break
	}
	return out
}
