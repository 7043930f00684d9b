// Package deploy applies and destroys stacks.
package deploy
