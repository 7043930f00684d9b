// Package dns looks up DNS names on their own servers. It queries the server
// that an apply would update instead of a resolver, because caches and other
// views would hide existing records. It never updates a record.
package dns
