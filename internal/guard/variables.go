package guard

import (
	"slices"
	"strconv"
	"strings"
)

// An influence is what a variable of the environment does to a run.
type influence int

const (
	none      influence = iota // it plans and applies the same
	part                       // it selects a part of the units
	elsewhere                  // it makes the run work on other files or plans than the command says
	other                      // it makes the units others than the rendered ones
	ours                       // only stackgen sets it, for the runs that it starts
)

// The variables with which stackgen speaks to the runs that it starts.
const (
	EventsVariable   = "STACKGEN_EVENTS"   // a folder for the events of OpenTofu
	LaterVariable    = "STACKGEN_LATER"    // the units that are left out run right after this run: it is one of the whole stack
	StartingVariable = "STACKGEN_STARTING" // a file with an override of the module of a unit, for a plan; it has the name of the unit
	ShownVariable    = "STACKGEN_SHOWN"    // a folder of plans as JSON, each named by its plan file's checksum

	InterruptedVariable = "STACKGEN_INTERRUPTED" // a file that exists once a person has interrupted the run
)

// A variable is a row of the table: Terragrunt's are those of its flags, in its reference of
// flags and its sources (1.1.3), OpenTofu's those that its sources read (1.12).
type variable struct {
	name string // at its end, * is for any text
	influence
	does string // of other: what it does, after its name
}

// variables decides about each variable of Terragrunt and OpenTofu. One that is in no row is
// permitted; a test finds those of a new version of Terragrunt.
var variables = []variable{
	{"TG_CONFIG", other, "names another configuration than the unit's"},
	{"TG_SOURCE", other, "names another module than the unit's"},
	{"TG_SOURCE_MAP", other, "names another module than the unit's"},
	{"TG_NO_DEPENDENCY_OUTPUTS", other, "leaves out the addresses that records need"},

	{"TG_WORKING_DIR", elsewhere, ""},
	{"TG_NO_STACK_GENERATE", elsewhere, ""}, // the units may be of an earlier render
	{"TG_NO_HOOKS", elsewhere, ""},
	{"TG_ALL", elsewhere, ""},
	{"TG_GRAPH", elsewhere, ""},
	{"TG_GRAPH_ROOT", elsewhere, ""},
	{"TG_OUT_DIR", elsewhere, ""}, // a destroy would apply the plans in it
	{"TG_JSON_OUT_DIR", elsewhere, ""},
	{"TF_WORKSPACE", elsewhere, ""}, // the guard names it by itself

	{"TG_FILTER", part, ""},
	{"TG_FILTERS_FILE", part, ""},
	{"TG_FILTER_AFFECTED", part, ""},
	{"TG_FILTER_ALLOW_DESTROY", part, ""},
	{"TG_DISCOVERY_BOUNDARY", part, ""},
	{"TG_QUEUE_IGNORE_*", elsewhere, ""}, // units run although what they need failed, or before it
	{"TG_QUEUE_*", part, ""},
	{"TG_UNITS_THAT_INCLUDE", part, ""},

	{EventsVariable, ours, ""},
	{LaterVariable, ours, ""},
	{StartingVariable, ours, ""},
	{ShownVariable, ours, ""},
	{GrantVariable, ours, ""},
	{InterruptedVariable, ours, ""},

	// The same by their names before Terragrunt 0.73, which still work.
	{"TERRAGRUNT_CONFIG", other, "names another configuration than the unit's"},
	{"TERRAGRUNT_SOURCE", other, "names another module than the unit's"},
	{"TERRAGRUNT_SOURCE_MAP", other, "names another module than the unit's"},
	{"TERRAGRUNT_WORKING_DIR", elsewhere, ""},
	{"TERRAGRUNT_GRAPH_ROOT", elsewhere, ""},
	{"TERRAGRUNT_OUT_DIR", elsewhere, ""},
	{"TERRAGRUNT_JSON_OUT_DIR", elsewhere, ""},
	{"TERRAGRUNT_EXCLUDE_DIR", part, ""},
	{"TERRAGRUNT_EXCLUDES_FILE", part, ""},
	{"TERRAGRUNT_IGNORE_DEPENDENCY_*", elsewhere, ""},
	{"TERRAGRUNT_IGNORE_EXTERNAL_DEPENDENCIES", part, ""},
	{"TERRAGRUNT_INCLUDE_DIR", part, ""},
	{"TERRAGRUNT_INCLUDE_EXTERNAL_DEPENDENCIES", part, ""},
	{"TERRAGRUNT_MODULES_THAT_INCLUDE", part, ""},
	{"TERRAGRUNT_QUEUE_INCLUDE_UNITS_READING", part, ""},
	{"TERRAGRUNT_STRICT_INCLUDE", part, ""},

	{"TF_REATTACH_PROVIDERS", none, ""}, // a provider that somebody started for a debugger, as TF_CLI_CONFIG_FILE may name one

	// How a run downloads, initializes, authenticates, retries and logs.
	{"TG_AUTH_PROVIDER_CMD", none, ""}, // the hooks see the variables that it sets
	{"TG_BACKEND_*", none, ""},         // buckets; the guard compares the backend itself
	{"TG_CAS_CLONE_DEPTH", none, ""},
	{"TG_DEPENDENCY_FETCH_OUTPUT_FROM_STATE", none, ""},
	{"TG_DESTROY_DEPENDENCIES_CHECK", none, ""},
	{"TG_DISABLE_BUCKET_UPDATE", none, ""},
	{"TG_DISABLE_COMMAND_VALIDATION", none, ""},
	{"TG_DOWNLOAD_DIR", none, ""}, // the hook runs in the root module, wherever it is
	{"TG_ENGINE_*", none, ""},     // rendered units have no engine block
	{"TG_EXPERIMENT", none, ""},
	{"TG_EXPERIMENTAL_ENGINE", none, ""},
	{"TG_EXPERIMENT_MODE", none, ""},
	{"TG_FAIL_FAST", none, ""},
	{"TG_FEATURE", none, ""}, // rendered units have no feature block
	{"TG_IAM_ASSUME_ROLE*", none, ""},
	{"TG_INPUTS_DEBUG", none, ""},
	{"TG_IN_DOWNLOAD_DIR", none, ""}, // of exec, which is judged
	{"TG_LOG_*", none, ""},
	{"TG_NON_INTERACTIVE", none, ""},
	{"TG_NO_AUTO_APPROVE", none, ""},
	{"TG_NO_AUTO_INIT", none, ""},
	{"TG_NO_AUTO_PROVIDER_CACHE_DIR", none, ""},
	{"TG_NO_AUTO_RETRY", none, ""},
	{"TG_NO_CAS", none, ""},
	{"TG_NO_COLOR", none, ""},
	{"TG_NO_DEPENDENCY_FETCH_OUTPUT_FROM_STATE", none, ""},
	{"TG_NO_DESTROY_DEPENDENCIES_CHECK", none, ""},
	{"TG_NO_DISCOVERY_AUTH_PROVIDER_CMD", none, ""},
	{"TG_NO_ENGINE", none, ""},
	{"TG_NO_FILTERS_FILE", none, ""},
	{"TG_NO_STACK_VALIDATE", none, ""},
	{"TG_NO_TIP*", none, ""},
	{"TG_PARALLELISM", none, ""},
	{"TG_PROFILE_*", none, ""},
	{"TG_PROVIDER_CACHE*", none, ""},
	{"TG_REPORT_*", none, ""},
	{"TG_SOURCE_UPDATE", none, ""},
	{"TG_STRICT_*", none, ""},
	{"TG_SUMMARY_*", none, ""},
	{"TG_TELEMETRY_*", none, ""},
	{"TG_TF_FORWARD_STDOUT", none, ""},
	{"TG_TF_PATH", none, ""}, // a person may use another OpenTofu
	{"TG_USE_PARTIAL_PARSE_CONFIG_CACHE", none, ""},
	{"TG_VERSION_MANAGER_FILE_NAME", none, ""},
}

// influences is what a variable does to a run, and its row.
func influences(name string) (influence, *variable) {
	for i := range variables {
		row := &variables[i]
		if prefix, open := strings.CutSuffix(row.name, "*"); row.name == name || open && strings.HasPrefix(name, prefix) {
			return row.influence, row
		}
	}
	return none, nil
}

// Decides reports whether the table decides about a variable.
func Decides(name string) bool {
	_, row := influences(name)
	return row != nil
}

// named are the variables of an environment that have one of some influences. What is false
// has none.
func named(environ []string, which ...influence) []string {
	var out, seen []string
	for _, e := range slices.Backward(environ) { // the last one of a name counts
		name, value, _ := strings.Cut(e, "=")
		on, err := strconv.ParseBool(value)
		if does, _ := influences(name); !slices.Contains(which, does) || slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		if value != "" && (err != nil || on) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Misleading are the variables of an environment that lead a run of whole stacks to a part
// of the units, or to other files, modules, plans or states than those of the stacks.
func Misleading(environ []string) []string { return named(environ, part, elsewhere, other, ours) }

// SelectsPart reports whether an environment, or the flags before the arguments of OpenTofu
// on a command line of Terragrunt, select a part of the units.
func SelectsPart(args, environ []string) bool {
	return len(named(environ, part)) > 0 || len(typedFlags(args, part)) > 0
}

// typedFlags are the flags of Terragrunt on its command line that have an influence: each has
// a variable.
func typedFlags(args []string, which influence) []string {
	var out []string
	for _, arg := range args {
		if arg == "--" {
			break
		}
		name, value, _ := parseFlag(arg)
		if does, _ := influences("TG_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))); name != "" && does == which && value != "false" {
			out = append(out, name)
		}
	}
	return out
}
