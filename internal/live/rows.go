package live

import "io"

func newRows(v *View, out io.Writer, o Options) renderer { return &lines{out: out} }
