// Package names turns DNS names into what their own servers say of them. It asks
// the server that would be updated, not a resolver: caches and other views would
// hide the record that an update would add to. It never updates anything.
package names
