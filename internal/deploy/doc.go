// Package deploy applies and destroys stacks: it turns the project, the cluster and a
// person's answer into runs of Terragrunt, in the order that docs/apply.md describes.
//
// It changes the cluster only by plans that were judged and confirmed, and only through
// Terragrunt, so that the hooks of every unit judge them again. It never applies what it
// has not announced.
package deploy
