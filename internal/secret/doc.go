// Package secret keeps secrets out of output: Text is a value that never prints
// itself, and Redact replaces the tokens and private keys in a text by "(secret)".
// It recognises secrets by their shape only; a password has none.
package secret
