// Package schema turns the compact API descriptions of Proxmox VE (data/) into
// a router and a parameter check: a method and a path become the described call
// and its path parameters; raw parameters become checked values, or the error
// texts a genuine server gives for them. It never touches state, files or time.
package schema
