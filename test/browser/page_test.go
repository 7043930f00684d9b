package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/report"
)

// eval is Eval for a test.
func eval[T any](t *testing.T, tab *Tab, expression string) T {
	t.Helper()
	value, err := Eval[T](tab, expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// quiet fails if the page loaded or logged something.
func quiet(t *testing.T, tab *Tab) {
	t.Helper()
	if loads := tab.Loads(); len(loads) > 0 {
		t.Errorf("the page loads %v", loads)
	}
	if errors := tab.Errors(); len(errors) > 0 {
		t.Errorf("the page logs %v", errors)
	}
}

// hostile is a page with names that are markup, scripts, or one long word.
func hostile(t *testing.T) string {
	t.Helper()
	var fs []finding.Finding
	names := []string{`<script>pwned=1</script>`, `"><img src=x onerror=pwned=1>`, `</script><script>pwned=1</script>`, `javascript:pwned=1`, "\u202eeman\u2066\x1b[31m\x00", strings.Repeat("long", 60), `' onmouseover='pwned=1`}
	r := report.NewDrift(nil, nil)
	for i, name := range names {
		f := finding.Finding{Address: finding.Address{Stack: "lab", Type: finding.VM, Key: name, Unit: name}, Kind: finding.Live, Severity: finding.Blocked, Reason: finding.Why(finding.Code(name)),
			Object: finding.Object{VMID: 100 + i, Node: name, Change: &finding.Change{Property: name, Applied: name, Real: name + "2", Spec: name, Does: name, Cause: finding.ByHand,
				At: &finding.Place{File: name, Line: 1}, By: []finding.Act{{User: name}}, Accept: name}}}
		f.Because("%s", name).Next(name, name)
		fs = append(fs, f)
		r.VMs = append(r.VMs, finding.ScopeVM{Stack: "lab", Key: name, Node: name})
	}
	n := report.NewDrift(fs, names)
	n.Endpoint, n.Taken, n.VMs = names[1], names[2], r.VMs
	n.Coverage = finding.Coverage{Unmanaged: []finding.Unmanaged{{Name: names[5], Node: names[0], Why: names[1]}}}
	return write(t, n)
}

// TestPageFits: the page loads nothing, logs nothing and is not wider than the window.
func TestPageFits(t *testing.T) {
	for name, file := range map[string]string{"few": page(t, 12, 6), "many": page(t, 500, 40), "none": page(t, 42, 0), "all verdicts": page(t, 42, 30), "hostile": hostile(t)} {
		for _, width := range []int64{360, 800, 1600} {
			tab := open(t, file, How{Width: width, Height: 800, Phone: width == 360})
			wide := eval[[]string](t, tab, fmt.Sprintf(`document.querySelectorAll('details').forEach((d) => { d.open = true }),
				document.querySelectorAll('.card').forEach((c) => { c.style.contentVisibility = 'visible' }),
				document.documentElement.scrollWidth <= %[1]d ? [] : [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > %[1]d).map((e) => e.outerHTML.slice(0, 200))`, width))
			if got := eval[int64](t, tab, "innerWidth"); got != width || len(wide) > 0 {
				t.Errorf("%s at %d pixels: the window has %d, and too wide are %q", name, width, got, wide)
			}
			if eval[bool](t, tab, "'pwned' in window") {
				t.Errorf("%s: text of the cluster ran as a script", name)
			}
			quiet(t, tab)
			tab.Close()
		}
	}
}

// contrasts finds text whose contrast with what is behind it is below 4.5, as WCAG 2.2 asks:
// https://www.w3.org/TR/WCAG22/#contrast-minimum
const contrasts = `(() => {
	const rgb = (text) => { const n = text.match(/[\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1] }
	const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c } return [255, 255, 255, 1] }
	const low = []
	let seen = 0
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let node; (node = walk.nextNode());) {
		const e = node.parentElement
		if (!node.textContent.trim() || e.closest('script') || !e.checkVisibility()) continue
		seen++
		const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e))
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
		if (ratio < 4.5) low.push(e.outerHTML.slice(0, 120) + ' ' + ratio.toFixed(2))
	}
	return { low: [...new Set(low)].slice(0, 10), seen, page: getComputedStyle(document.body).backgroundColor }
})()`

// TestPageColors: light and dark differ, and all text of both is readable.
func TestPageColors(t *testing.T) {
	type colors struct {
		Low  []string
		Seen int
		Page string
	}
	for _, c := range [][2]int{{42, 30}, {42, 0}} {
		file := page(t, c[0], c[1])
		pages := map[string]bool{}
		for _, dark := range []bool{false, true} {
			tab := open(t, file, How{Width: 1024, Height: 768, Dark: dark})
			eval[int](t, tab, `document.querySelectorAll('details').forEach((d) => { d.open = true }), document.querySelectorAll('.card').forEach((c) => { c.style.contentVisibility = 'visible' }),
				document.querySelector('[data-filter]')?.setAttribute('aria-pressed', 'true'), 1`)
			got := eval[colors](t, tab, contrasts)
			if len(got.Low) > 0 || got.Seen < 20 {
				t.Errorf("dark %v: of %d texts, these have too little contrast: %s", dark, got.Seen, strings.Join(got.Low, "\n"))
			}
			pages[got.Page] = true
		}
		if len(pages) != 2 {
			t.Errorf("light and dark have the same background: %v", pages)
		}
	}
}

// TestPageStructure: what a screen reader needs: one heading of the first level, names of
// everything that can be activated, and ids that are unique.
func TestPageStructure(t *testing.T) {
	tab := open(t, page(t, 120, 60), How{Width: 1024, Height: 768})
	wrong := eval[[]string](t, tab, `(() => {
		const out = []
		if (document.querySelectorAll('h1').length !== 1) out.push('h1')
		const ids = [...document.querySelectorAll('[id]')].map((e) => e.id)
		if (new Set(ids).size !== ids.length) out.push('ids')
		for (const e of document.querySelectorAll('a, button, input, summary')) {
			if (!(e.getAttribute('aria-label') ?? e.textContent.trim()) && !e.labels?.length) out.push(e.outerHTML)
		}
		for (const e of document.querySelectorAll('[aria-labelledby], [aria-describedby]')) {
			if (!document.getElementById(e.getAttribute('aria-labelledby') ?? e.getAttribute('aria-describedby'))) out.push(e.outerHTML.slice(0, 100))
		}
		let last = 1
		for (const h of document.querySelectorAll('h1, h2, h3, h4')) {
			const level = Number(h.tagName[1])
			if (level > last + 1) out.push('heading ' + h.textContent)
			last = level
		}
		return out
	})()`)
	if len(wrong) > 0 {
		t.Errorf("wrong: %q", wrong)
	}
}

// TestPageWithoutScripts: all changes can be read, and nothing is shown that does not work.
func TestPageWithoutScripts(t *testing.T) {
	tab := open(t, page(t, 500, 200), How{Width: 800, Height: 800, NoScript: true})
	got := eval[map[string]int](t, tab, `({
		dead: [...document.querySelectorAll('button, input')].filter((e) => e.checkVisibility()).length,
		rows: [...document.querySelectorAll('tr[id]')].filter((e) => e.checkVisibility({ contentVisibilityAuto: false }) || e.closest('details')).length,
		links: [...document.querySelectorAll('a[href^="#"]')].filter((a) => !document.getElementById(a.hash.slice(1))).length,
		opened: [...document.querySelectorAll('details')].map((d) => { d.open = true; return d.querySelector('tr')?.checkVisibility() ?? true }).filter((v) => !v).length })`)
	if want := (map[string]int{"dead": 0, "rows": 200, "links": 0, "opened": 0}); fmt.Sprint(got) != fmt.Sprint(want) {
		body, _ := json.Marshal(got)
		t.Errorf("got %s, want %v", body, want)
	}
	quiet(t, tab)
}
