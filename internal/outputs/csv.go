package outputs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// columns are the first line of the CSV.
var columns = []string{"key", "name", "member", "ordinal", "role", "vmid", "node", "ipv4", "mac", "dns", "user", "extra", "meta", "console"}

// csv is the registration as a table. Extra and meta are JSON in a cell.
func (r *Registration) csv() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	errs := []error{w.Write(columns)}
	for _, v := range r.VMs {
		extra, meta := "", ""
		if len(v.Extra) > 0 {
			body, err := encode(v.Extra, "")
			extra, errs = jsonCell(body), append(errs, err)
		}
		if len(v.Meta) > 0 {
			body, err := encode(v.Meta, "")
			meta, errs = jsonCell(body), append(errs, err)
		}
		row := []string{v.Key, v.Name, v.Member, strconv.Itoa(v.Ordinal), v.Role, strconv.Itoa(v.VMID), v.Node,
			string(v.IPv4), string(v.MAC), v.DNS, v.User, extra, meta, string(v.Console)}
		for i := range row {
			row[i] = Cell(row[i])
		}
		errs = append(errs, w.Write(row))
	}
	w.Flush()
	return out.Bytes(), errors.Join(append(errs, w.Error())...)
}

// formula is the begin of a formula where a spreadsheet may begin a cell: one whose system
// separates cells by semicolons does not see the quotes around a cell of this file.
var formula = regexp.MustCompile(`(^|[;\t\r\n])([ "]*[=+\-@\t\r])`)

// Cell is text that no spreadsheet takes for a formula.
func Cell(text string) string { return formula.ReplaceAllString(text, "$1'$2") }

// jsonCell is JSON that a semicolon does not split.
func jsonCell(body []byte) string {
	return strings.ReplaceAll(strings.TrimSpace(string(body)), ";", `\u003b`)
}
