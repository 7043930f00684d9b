# stackgen: build it, test it, see it work. `make help` lists the targets.
BIN := bin/stackgen
GO  ?= go
# The real tools for tests. Terragrunt's shared provider cache is the user's: our builds have other hashes.
TOOLS := PATH="$(CURDIR)/.tools/bin:$$PATH" TF_CLI_CONFIG_FILE="$(CURDIR)/.tools/tofurc" TG_NO_AUTO_PROVIDER_CACHE_DIR=true
LINT := GOWORK=off $(GO) tool -modfile="$(CURDIR)/tools/golangci-lint/go.mod" golangci-lint
SOURCES := cmd schema generator templates internal test tools
.PHONY: build example demo test faults golden lint words tools bench check conformance fuzz help

example: build ## render this repository's own project from specs/ (the default)
	@$(BIN) render

build: ## build bin/stackgen
	@$(GO) build -trimpath -o $(BIN) ./cmd/stackgen

test: build tools ## run all tests, also those that need the real OpenTofu, Terragrunt and providers (go test ./... runs the others)
	@$(TOOLS) $(GO) test -race -timeout 30m ./...
	@cd test/terratest && $(TOOLS) $(GO) test -count=1 -timeout 20m # without packages, so that it says where suites ran

faults: build tools ## let everything go wrong in a simulated cluster, and print what is then done and refused
	@$(TOOLS) $(GO) test ./test/real -run '^TestFaults$$' -count=1 && sed -n '/^|/p' docs/faults.md

golden: build ## write what the tests expect from what comes out now; review the diff
	@UPDATE=1 $(GO) test -run "Script|Reference|Golden" ./schema ./cmd ./test && UPDATE=1 $(GO) test -run Docs ./test
	@$(BIN) render

lint: ## run gofmt, go vet and golangci-lint, which takes some minutes to build once
	@test -z "$$(gofmt -l $(SOURCES))" || { gofmt -l $(SOURCES); exit 1; }
	@for dir in . tools/provider-dns test/terratest; do \
		(cd $$dir && GOWORK=off $(GO) vet ./... && $(LINT) run --issues-exit-code=0 ./...) || exit 1; done

words: ## report words of test/words.txt, with what to write instead
	@WORDS=1 $(GO) test ./test -run '^TestWords$$'

tools: ## build the pinned OpenTofu, Terragrunt and providers into .tools/
	@tools/install && cd test/terratest && $(GO) test -c -o /dev/null . # its dependencies take minutes, once

demo: build tools ## the whole story against a simulated cluster: apply, lose the state, look
	@$(TOOLS) tools/demo

conformance: ## replay recordings of a genuine server (DIR) against the simulator
	@$(GO) run ./internal/pvesim/replay/cmd $(DIR)

bench: build ## time renders of 10 to 10,000 VMs, and a preflight of 300 VMs among 1,000 guests
	@$(GO) test ./test -run '^$$' -bench 'Render|Preflight' -benchtime 5x

fuzz: ## throw FUZZTIME (60s) of bytes at the parser and the renderer
	@$(GO) test ./test -run '^$$' -fuzz FuzzSpec -fuzztime $(or $(FUZZTIME),60s) -fuzzminimizetime 20x

check: lint build ## what must hold before a commit, but for the tests
	@$(BIN) render --check

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
