package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"stackgen/internal/finding"
)

// pageFiles are the parts of the page. Its style and script become a part of it, so that it
// needs no other file and no network.
//
//go:embed page
var pageFiles embed.FS

// A page is what the template shows. It is cleaned already, and the template escapes it.
type page struct {
	Style  template.CSS
	Script template.JS
	Policy string // which style and script may run: these only
	Class  string // of the answer: blocked, failed, safe, none
	Head   string // the answer in three words
	Answer string // the rest of it
	Name   string // of the tab
	Read   string // when the cluster was read
	Tiles  []tile
	Worst  []*card // the first that block
	More   int     // that block, too
	Nodes  []box
	Units  []box
	Marks  []option // the verdicts that occur
	Legend []option
	Dense  bool // so many VMs that the marks are small
	Stacks []option
	Causes []option
	Cards  []*card
	Status string // how many changes the cards have
	*Drift
	Covered   string
	KnownLine string
	Notes     []string
}

// A tile is a number at the top of the page, and a filter if it has findings.
type tile struct {
	Class string
	N     int
	Word  string
}

// An option is a value to filter by.
type option struct {
	Value, Word, Letter, Doc string
	N                        int
}

// A card is a group of changes that are alike.
type card struct {
	ID     string
	Class  string // blocked, failed, safe, noted, known
	Word   string
	Kind   finding.Kind
	Letter string
	Doc    string
	About  string
	Long   string // About with the VM and what changes of it
	Reason string
	First  []change // shown
	Rest   []change // below a line that opens them
	Steps  []cardStep
	N      int
}

type cardStep struct {
	What string
	Text string
}

// A change is a row of a card.
type change struct {
	finding.Finding
	ID    string
	Class string
	Thing string // stack/key
	What  string
	HCL   string // the attribute, if What is not it
	Cause string
	Who   []string
	Says  []string // evidence
}

// html writes the report as one page.
func (r *Drift) html(out *bytes.Buffer) error {
	text, err := pageFiles.ReadFile("page/page.html")
	if err != nil {
		return err
	}
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return err
	}
	t, err := template.New("page").Parse(string(text))
	if err != nil {
		return err
	}
	p := r.page()
	p.Style, p.Script = template.CSS(style), template.JS(script) //nolint:gosec // they are files of this package
	p.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'",
		digest(style), digest(script))
	return t.Execute(out, p)
}

// digest is the form in which a policy names a style or script:
// https://www.w3.org/TR/CSP3/#grammardef-hash-source
func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (r *Drift) page() *page {
	word, rest := r.verdict()
	p := &page{Drift: r, Name: word + ": " + rest, Answer: rest, Notes: r.Notes, Covered: r.coverage()}
	heads := map[string][2]string{
		"blocked":  {"blocked", "Do not apply"},
		"unknown":  {"failed", "Do not apply yet"},
		"safe":     {"safe", "Safe to apply"},
		"no drift": {"none", "No drift"},
	}
	p.Class, p.Head = heads[word][0], heads[word][1]
	p.Cards = r.cards()
	p.Read = strings.NewReplacer("T", " ", "Z", " UTC").Replace(r.Taken)
	p.Status = Count(r.Total, "change")
	if n := len(r.Findings.Findings) - r.Total; n > 0 {
		p.Status += fmt.Sprintf(" and %d that need nothing", n)
	}
	for _, c := range p.Cards {
		if c.Class == "blocked" || c.Class == "failed" {
			if len(p.Worst) < few {
				p.Worst = append(p.Worst, c)
			} else {
				p.More += c.N
			}
		}
	}
	if word == "blocked" && r.OtherCluster() == "" {
		p.Answer = r.harms()
	}
	if known := r.known(); len(known) > 0 {
		p.KnownLine = known[0]
	}
	p.options()
	p.picture()
	return p
}

// harms says how many changes block, and how many do not.
func (r *Drift) harms() string {
	n := map[string]int{}
	for _, f := range r.fresh() {
		n[classOf(&f)]++
	}
	text := fmt.Sprintf("%d of %s would harm", n["blocked"], Count(r.Total, "change"))
	if n["failed"] > 0 {
		text += fmt.Sprintf(", %d could not be checked", n["failed"])
	}
	if n["safe"] == 1 {
		return text + ". The other one is safe."
	} else if n["safe"] > 1 {
		return text + fmt.Sprintf(". The other %d are safe.", n["safe"])
	}
	return text + "."
}

// classOf is how a finding is shown.
func classOf(f *finding.Finding) string {
	switch {
	case isKnown(f):
		return "known"
	case f.Severity == finding.Blocked:
		return "blocked"
	case f.Severity == finding.Failed:
		return "failed"
	case f.Severity == finding.OK:
		return "noted"
	}
	return "safe"
}

// classes are the classes of changes in words, the worst first.
var classes = []tile{
	{"blocked", 0, "would harm"},
	{"failed", 0, "not checked"},
	{"safe", 0, "safe changes"},
	{"noted", 0, "nothing to do"},
	{"known", 0, "known"},
}

// cards are the changes in groups, the worst first, those that a baseline knows last.
func (r *Drift) cards() []*card {
	fresh := finding.Groups(worstFirst(r.fresh()))
	notKnown := func(f finding.Finding) bool { return !isKnown(&f) }
	known := finding.Groups(worstFirst(slices.DeleteFunc(slices.Clone(r.Findings.Findings), notKnown)))
	var out []*card
	n := 0
	for _, g := range slices.Concat(fresh, known) {
		f := &g.Findings[0]
		v := verdictOf(f.Kind)
		c := &card{
			ID: fmt.Sprint("c", len(out)), Class: classOf(f), Kind: f.Kind, Letter: v.Letter, Doc: v.Doc,
			About: line(f.String()), Long: about(f), Reason: line(f.Says), N: len(g.Findings),
		}
		c.Word = classWord(c.Class)
		if c.N > 1 {
			c.About = groupName(g.Findings)
			c.Long = c.About
		}
		for i := range g.Findings {
			n++
			row := newChange(&g.Findings[i], fmt.Sprint("f", n))
			if i < 2*few {
				c.First = append(c.First, row)
			} else {
				c.Rest = append(c.Rest, row)
			}
		}
		for _, s := range g.Steps {
			c.Steps = append(c.Steps, cardStep{s.What, strings.Join(texts(slices.Concat(s.Blocks...)), "\n")})
		}
		out = append(out, c)
	}
	return out
}

func classWord(class string) string {
	return map[string]string{
		"blocked": "would harm", "failed": "not checked", "safe": "safe", "noted": "nothing to do", "known": "known",
	}[class]
}

func newChange(f *finding.Finding, id string) change {
	c := change{Finding: *f, ID: id, Class: classOf(f), Thing: line(f.String()), What: changed(f), Says: evidence(f)}
	if f.Change == nil {
		c.Change = &finding.Change{}
		return c
	}
	if f.Change.Attribute != c.What {
		c.HCL = f.Change.Attribute
	}
	c.Cause = causeWord(f.Change.Cause)
	for _, by := range f.Change.By {
		c.Who = append(c.Who, by.String())
	}
	return c
}

// In is where the real value is.
func (c change) In() string {
	if c.Type == finding.Record {
		return "DNS server"
	}
	return "Proxmox VE"
}

// UnitThing is the unit of the change as stack/unit.
func (c change) UnitThing() string { return line(c.Stack + "/" + c.Unit) }

// Values reports whether the change has values to compare.
func (c change) Values() bool {
	return c.Change.Applied != "" || c.Change.Real != "" || c.Change.Spec != "" || c.Change.Sensitive
}

// Hand and Asked report whether what is real, and what the spec says, differs from what the
// last apply left.
func (c change) Hand() bool { return c.Change.Real != c.Change.Applied }
func (c change) Asked() bool {
	return c.Change.Spec != c.Change.Applied && (c.Change.Spec != "" || c.Change.Cause == finding.BySpec || c.Change.Cause == finding.ByBoth)
}
