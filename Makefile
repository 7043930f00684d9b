# Builds, tests and demonstrates stackgen. `make help` lists the targets.
BIN := bin/stackgen
GO  ?= go
# The environment of the real tools. Terragrunt's shared provider cache is not used: these builds have other hashes.
TOOLS := PATH="$(CURDIR)/.tools/bin:$$PATH" TF_CLI_CONFIG_FILE="$(CURDIR)/.tools/tofurc" TG_NO_AUTO_PROVIDER_CACHE_DIR=true
LINT := GOWORK=off $(GO) tool -modfile="$(CURDIR)/tools/golangci-lint/go.mod" golangci-lint
GOTESTSUM := GOWORK=off $(GO) tool -modfile="$(CURDIR)/tools/gotestsum/go.mod" gotestsum
# The tests with real tools that the race detector watches: applies, their view, concurrent units and runs.
RACE := TestApply|TestApplyProgress|TestApplyInterrupted|TestGuardManyRecords|TestTwoRunners
# The packages that it watches: those that start goroutines, or share values between them.
RACED := grep -rlE --include='*.go' '"sync|sync/errgroup|^[[:space:]]+go (func|[a-z])' cmd generator internal | xargs -n1 dirname | sort -u | sed 's|^|./|'
# The tests with real tools that `make test` leaves to `make test-rest`: they are about records, reports, rights, pages, recipes, adoption and single properties.
REST := TestActions|TestAdoptedVMsChangeOnlyWhatIsEdited|TestAdoptMatch|TestAdoptContainers|TestApplyRestoresNUMANodes|TestBalloonThatAnApplyTurnsOffIsNamed|TestCreationOnly|TestDestroyGone|TestRebuildGone|TestRebuildLeavesOff|TestRebuildPastesGrants|TestRebuildKilled|TestRebuildKilledTwice|TestRebuildKeepsKilled|TestRebuildWaves|TestRebuildStarts|TestRebuildRecords|TestRebuildMeetsLock|TestRebuildStranger|TestStopped.*|TestRolloutKilled|TestDiscover.*|TestDrift.*|TestTutorial|TestStory|TestGuides|TestExistingCluster|TestInit|TestCI.*|TestCatalog|TestClass.*|TestTwoTeachers|TestEngines|TestTerraform|TestTextIsData|TestSystemdUnits|TestProvider|TestProviderImages|TestProviderClonesContainers|TestContainers|TestContainersByHand|TestContainerOtherwise|TestContainersKilled|TestContainersOnSimulator|TestHomelabPlan|TestFeasibility.*|TestDNS.*|TestEachEntryLost|TestCloudInitWaits|TestMachineOfWindows|TestResetDetaches|TestDestroyPartKilled|TestDestroyMeetsLock|TestGuardRecords.*|TestGuardManyRecords|TestRenamedRecord|TestSplitStackRecords|TestSilentAgentWaysOut|TestDevicesFromCreationToImport|TestHardwareDifferences|TestDescriptionsAndTagsConverge|TestDriveOptions|TestTemplateChanged|TestTemplateKind|TestTemplateKindKilled|TestTemplateKindRefused|TestTemplateGuide|TestTemplateKindRetired
# What causes each fault at each level of the guard, each printed way out and ten kills and interrupts at random moments.
FAULTS := TestFaults|TestWaysOut|TestEffectsOfEveryProperty|TestInterruptLongClone|TestApplyKilled|TestApplyInterrupted|TestRolloutKilled
# Tests with the real tools wait for processes and tasks, so more of them run at once than there are cores.
PARALLEL := 6
# Compilers, linters, OpenTofu and providers live for seconds, so they need not collect memory before they have much.
GOGC ?= off
GOMEMLIMIT ?= 2GiB
export GOGC GOMEMLIMIT
# Tests of packages wait, too, so four packages run at once, the three longest first, and four tests in each.
PACKAGES := 4
SOURCES := cmd schema generator templates internal test tools
.PHONY: build example demo test test-all test-rest faults mutants golden lint tools bench cross check conformance fuzz release help

example: build ## render this repository's own project from specs/ (the default)
	@$(BIN) render

build: ## build bin/stackgen
	@$(GO) build -trimpath -o $(BIN) ./cmd/stackgen

test: build tools ## run the tests of what an apply may and may not do, with the real OpenTofu, Terragrunt and providers; `make test-all` runs all
	@mkdir -p .tools/tests
	@$(GOTESTSUM) --format pkgname --jsonfile .tools/tests/packages.json -- -p $(PACKAGES) -parallel $(PACKAGES) ./test/script ./test ./internal/operate $$($(GO) list ./... | grep -v /test/real$$)
	@$(TOOLS) $(GOTESTSUM) --format pkgname --jsonfile .tools/tests/real.json -- -timeout 60m -parallel $(PARALLEL) -skip '^($(REST))$$' ./test/real && times >.tools/tests/times
	@awk 'END { print "The tests with the real tools took", $$1, "of processor time, and the system", $$2, "for them. The ten slowest of them, on a busy machine:" }' .tools/tests/times
	@$(GOTESTSUM) tool slowest --jsonfile .tools/tests/real.json --num 10
	@echo 'Not run: what "make test-rest" runs, and of the fault matrix "guard: fast", "guard: off", applies that end as after import-blocks, and the printed ways out. "make faults" runs these.'

test-all: test test-rest ## run make test and make test-rest

test-rest: build tools ## run the tests that make test leaves out: DNS, reports, pages, the race detector, Terratest, the browser
	@mkdir -p .tools/tests
	@$(TOOLS) $(GOTESTSUM) --format pkgname --jsonfile .tools/tests/rest.json -- -timeout 60m -parallel $(PARALLEL) -run '^($(REST))$$' ./test/real
	@$(GOTESTSUM) --format pkgname --jsonfile .tools/tests/race-packages.json -- -race $$($(RACED))
	@$(TOOLS) $(GOTESTSUM) --format pkgname --jsonfile .tools/tests/race.json -- -timeout 20m -parallel $(PARALLEL) -race -run '^($(RACE))$$' ./test/real
	@cd test/terratest && $(TOOLS) $(GO) test -count=1 -timeout 20m # without package arguments, so that it prints where suites ran
	@cd test/browser && $(GO) test -count=1 -timeout 5m # so that it prints which browser ran

faults: build tools ## cause every fault at every level of the guard, and run every printed way out; takes long
	@STACKGEN_ROUNDS=10 $(TOOLS) $(GO) test ./test/real -run "^($(FAULTS))$$" -count=1 -timeout 90m -parallel $(PARALLEL) && sed -n '/^|/p' docs/dev/faults.md

mutants: tools ## run each fault of tools/mutants/list.tsv with the test that catches it; FAULT=ID runs one
	@$(TOOLS) $(GO) run ./tools/mutants $(if $(FAULT),-fault $(FAULT)) tools/mutants/list.tsv

golden: build ## update expected outputs of the tests; review the diff
	@UPDATE=1 $(GO) test -run "Script|Reference|Golden" ./schema ./cmd ./test ./test/script && UPDATE=1 $(GO) test -run Docs ./test
	@$(BIN) render

lint: GOGC := 100
lint: GOMEMLIMIT := off# with the limit of short-lived tools, it collects memory all the time: ten minutes instead of one and a half
lint: ## run gofmt, golangci-lint with go vet, and the word list; builds golangci-lint once, which takes some minutes
	@$(GO) test ./test -run '^TestWords$$'
	@test -z "$$(gofmt -l $(SOURCES))" || { gofmt -l $(SOURCES); exit 1; }
	@for dir in . tools/provider-dns tools/release test/terratest test/browser; do \
		(cd $$dir && $(LINT) run ./...) || exit 1; done

tools: ## build the pinned OpenTofu, Terragrunt and providers into .tools/
	@tools/install && cd test/terratest && $(GO) test -c -o /dev/null . # its dependencies take minutes, once

demo: build tools ## apply to a simulated cluster, lose the state and adopt
	@$(TOOLS) tools/demo

RECORDINGS := $(addprefix internal/pvesim/testdata/,exchanges cluster lvm lxc)
DIR :=# that of the environment is not meant
conformance: ## replay recordings of a real server against the simulator; DIR="FOLDER..." replays others than those here
	@$(GO) run ./internal/pvesim/replay/cmd $(or $(DIR),-all $(RECORDINGS))

bench: build tools ## measure renders, a preflight, plans, applies, rebuilds and the guard, by the number of VMs; takes more than an hour
	@$(GO) test ./test -run '^$$' -bench 'Render|Preflight' -benchtime 5x
	@$(TOOLS) $(GO) test ./test/real -run '^$$' -bench Guard -benchtime 3x -timeout 60m
	@$(TOOLS) $(GO) test ./test/real -run '^$$' -bench Size -benchtime 1x -timeout 60m
	@$(TOOLS) $(GO) test ./test/real -run '^$$' -bench 'Apply|Rebuild' -benchtime 1x -timeout 60m -v

fuzz: ## fuzz the parser and the renderer for FUZZTIME (60s)
	@$(GO) test ./test -run '^$$' -fuzz FuzzSpec -fuzztime $(or $(FUZZTIME),60s) -fuzzminimizetime 20x

cross: ## build for each system and each architecture, and vet what only other systems compile
	@for platform in linux/arm64 darwin/arm64 windows/amd64; do \
		export GOOS=$${platform%/*} GOARCH=$${platform#*/}; $(GO) build -o /dev/null ./cmd/stackgen || { echo "the build for $$platform failed"; exit 1; }; \
		[ $$GOOS = linux ] || $(GO) vet ./... || { echo "go vet for $$platform failed"; exit 1; }; done

check: cross lint build ## run the checks before a commit, except for tests
	@$(BIN) render --check

release: ## build archives for all platforms, checksums and bills of materials into dist/, and publish nothing
	@GOWORK=off $(GO) tool -modfile="$(CURDIR)/tools/release/go.mod" goreleaser release --clean --skip=publish \
		$$(git describe --exact-match --tags >/dev/null 2>&1 || echo --snapshot)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
