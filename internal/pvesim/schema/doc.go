// Package schema implements routing and parameter validation from the compact API
// descriptions of Proxmox VE in data/. A method and a path select a call and its
// path parameters; raw parameters become validated values, or the error messages
// of a genuine server. The package keeps no state.
package schema
