#!/bin/sh
# ci/drift-check.sh of a stackgen project, see docs/guides/ci.md. The weekly check of the daily job: in
# a copy of the project with a VM that does not exist, the job must fail, and name this VM.
set -eu
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
git archive HEAD | tar -x -C "$copy"
cat >"$copy/specs/drift-check.yaml" <<END
apiVersion: stackgen/v1
kind: Stack
name: drift-check
vms: {nobody: {node: pve1, adopt: {vmid: 999999999}}}
END
(cd "$copy" && stackgen render >/dev/null)
code=0
report=$(sh "$copy/ci/drift.sh" text 2>&1) || code=$?
case $code,$report in
3,*drift-check/nobody*) echo "ci/drift.sh works: it failed for a VM that does not exist" ;;
*)
	echo "ci/drift.sh does not work: it should end with exit code 3 and name drift-check/nobody; it ended with $code:"
	echo "$report"
	exit 1
	;;
esac
