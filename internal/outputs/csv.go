package outputs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strconv"
	"strings"
)

// columns are the first line of the CSV.
var columns = []string{"key", "name", "member", "ordinal", "role", "vmid", "node", "ipv4", "mac", "dns", "user", "extra", "meta"}

// csv is the registration as a table. Extra and meta are JSON in a cell.
func (r *Registration) csv() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	errs := []error{w.Write(columns)}
	for _, v := range r.VMs {
		extra, meta := "", ""
		if len(v.Extra) > 0 {
			body, err := encode(v.Extra, "")
			extra, errs = strings.TrimSpace(string(body)), append(errs, err)
		}
		if len(v.Meta) > 0 {
			body, err := encode(v.Meta, "")
			meta, errs = strings.TrimSpace(string(body)), append(errs, err)
		}
		row := []string{v.Key, v.Name, v.Member, strconv.Itoa(v.Ordinal), v.Role, strconv.Itoa(v.VMID), v.Node, string(v.IPv4), string(v.MAC), v.DNS, v.User, extra, meta}
		for i := range row {
			row[i] = cell(row[i])
		}
		errs = append(errs, w.Write(row))
	}
	w.Flush()
	return out.Bytes(), errors.Join(append(errs, w.Error())...)
}

// cell is text that no spreadsheet takes for a formula.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
