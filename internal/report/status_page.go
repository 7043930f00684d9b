package report

import (
	"fmt"
	"html/template"
	"io"
)

// A statusPage is what the template shows.
type statusPage struct {
	Style  template.CSS
	Policy string
	Answer string
	*Status
	Titles []string
	Rows   []statusRow
}

type statusRow struct {
	Class   string
	Cells   []string
	Console string
	Problem string
}

// html is one page that needs no other file, and that can be printed.
func (r *Status) html(out io.Writer) error {
	text, err := pageFiles.ReadFile("page/status.html")
	if err != nil {
		return err
	}
	style, err := pageFiles.ReadFile("page/status.css")
	if err != nil {
		return err
	}
	t, err := template.New("status").Parse(string(text))
	if err != nil {
		return err
	}
	titles, rows := r.table()
	p := statusPage{
		Style:  template.CSS(style), //nolint:gosec // it is a file of this package
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; base-uri 'none'; form-action 'none'", digest(style)),
		Answer: r.Answer(), Status: r, Titles: titles,
	}
	for i, cells := range rows {
		v := &r.VMs[i]
		class := "other"
		if v.Problem == "" && (v.Power == "running" || v.Power == "stopped") {
			class = v.Power
		}
		p.Rows = append(p.Rows, statusRow{class, cells, v.Console, v.Problem})
	}
	return t.Execute(out, p)
}
