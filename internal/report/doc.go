// Package report turns problems and findings into text, JSON, SARIF, JUnit XML,
// GitHub workflow commands, Markdown and HTML.
//
// It is the one place that prints text from a spec, a cluster, a state or a tool,
// and makes it harmless: secrets are redacted, characters that a terminal obeys
// or that reorder text are replaced, and no line begins with a workflow command.
// It decides nothing and reads nothing.
package report
