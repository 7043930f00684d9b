// Package project turns paths into a project: it finds the project's folder,
// reads its specs, settings, lock and the files that specs name, and decides what
// the lock does not hold yet.
//
// It writes the lock alone, removes what Terragrunt generated from earlier renders, and
// knows neither the cluster nor states.
package project
