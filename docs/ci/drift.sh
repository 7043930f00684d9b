#!/bin/sh
# ci/drift.sh of a stackgen project, see docs/guides/ci.md. The daily job: it explains what differs
# between specs and cluster, changes nothing, and fails only if something blocks an apply.
# Usage: sh ci/drift.sh [FORMAT]
set -eu
cd "$(dirname "$0")/.."
# The secrets are in the environment of this one command, and nowhere else.
exec sops exec-env --same-process secrets.sops.env \
	"unset SOPS_AGE_KEY SOPS_AGE_KEY_FILE; exec stackgen drift --fail-on blocked --format ${1:-text}"
