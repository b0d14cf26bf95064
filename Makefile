# `make help` lists what one can do here.
SHELL := /bin/bash
.DEFAULT_GOAL := help
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: help
help: ## List these targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Install what is missing: a browser, the sandbox (says what before it does)
	@scripts/setup.sh

.PHONY: build
build: ## Build bin/tas and bin/tas-demo
	@mkdir -p bin
	@go build -ldflags '-X main.version=$(VERSION)' -o bin/tas ./cmd/tas
	@go build -o bin/tas-demo ./demo/cmd/demo

.PHONY: demo
demo: setup build ## Set everything up and run the demo suite; keeps serving (DEMO_EXIT=1: ends with the verdict's status)
	@bin/tas-demo

.PHONY: test
test: setup-tests check-generated lint test-go test-postgres test-runner ## Pass all the tests

.PHONY: setup-tests
setup-tests:
	@scripts/setup.sh --tests

.PHONY: test-go
test-go: ## Go tests, the whole-system scenarios among them
	go test -count=1 -timeout 40m ./...

.PHONY: test-postgres
test-postgres: ## Scenarios with records in PostgreSQL instead of SQLite
	TAS_TEST_DATABASE=postgres go test -count=1 -run 'TestMainJob|TestShards$$|TestShardIsKilled|TestServiceCrash|TestWhatWorkersSay|TestIdempotencyKey|TestKeys|TestOthers|TestHealing$$' ./test

.PHONY: test-runner
test-runner: ## Tests of tas-runner with three versions of Playwright
	cd runner && npm test --silent

.PHONY: lint
lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these'; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...

.PHONY: generate
generate: ## Build what is generated and checked in: runner/dist
	@scripts/setup.sh --tests
	cd runner && npm run --silent build

.PHONY: generate-api
generate-api: ## Write the API's OpenAPI documents anew: docs/api
	UPDATE=1 go test -count=1 -run 'TestOpenAPI$$' ./test

.PHONY: check-generated
check-generated: generate
	@git diff --exit-code --stat -- runner/dist || { echo 'runner/dist is not what its sources make: commit what make generate wrote'; exit 1; }

.PHONY: test-faults
test-faults: setup-tests ## 200 seeded schedules of faults over real processes, some 25 minutes (FAULTS=N FROM=SEED)
	TAS_FAULTS=$(or $(FAULTS),200) TAS_FAULTS_FROM=$(or $(FROM),1) go test -count=1 -v -timeout 3h -run TestFaults ./test/faults 2>&1 | grep -v ' level='

.PHONY: test-s3
test-s3: ## Artifacts on a real S3 server (versitygw, built first: a minute or two)
	scripts/test-s3.sh

.PHONY: fuzz-api
fuzz-api: ## 100,000 requests made up from the API's documents (FUZZ=N FROM=SEED)
	TAS_FUZZ=$(or $(FUZZ),100000) TAS_FUZZ_FROM=$(or $(FROM),1) go test -count=1 -v -timeout 2h -run 'TestFuzzAPI$$' ./test 2>&1 | grep -v ' level='

.PHONY: fuzz
fuzz: ## Fuzz what strangers send, a minute each
	go test -run '^$$' -fuzz FuzzReader -fuzztime 60s -fuzzminimizetime 10x ./internal/report
	go test -run '^$$' -fuzz FuzzTrace -fuzztime 60s -fuzzminimizetime 10x ./internal/report
	go test -run '^$$' -fuzz FuzzEdited -fuzztime 60s -fuzzminimizetime 10x ./internal/report
	go test -run '^$$' -fuzz FuzzSignature -fuzztime 60s -fuzzminimizetime 10x ./internal/bug
	go test -run '^$$' -fuzz FuzzChats -fuzztime 60s -fuzzminimizetime 10x ./internal/notify
	go test -run '^$$' -fuzz FuzzRetryAfter -fuzztime 60s -fuzzminimizetime 10x ./internal/notify/httpcall
	go test -run '^$$' -fuzz FuzzReadPairs -fuzztime 60s -fuzzminimizetime 10x ./bench/relocation
	go test -run '^$$' -fuzz FuzzParseRemote -fuzztime 60s -fuzzminimizetime 10x ./internal/forge
	for forge in github gitlab gitea; do go test -run '^$$' -fuzz FuzzWebhook -fuzztime 60s -fuzzminimizetime 10x ./internal/forge/$$forge || exit 1; done
	go test -run '^$$' -fuzz FuzzCode -fuzztime 60s -fuzzminimizetime 10x ./internal/forge
	go test -run '^$$' -fuzz FuzzReadPage -fuzztime 60s -fuzzminimizetime 10x ./internal/evidence
	go test -run '^$$' -fuzz 'FuzzRead$$' -fuzztime 60s -fuzzminimizetime 10x ./internal/evidence
	go test -run '^$$' -fuzz FuzzPicture -fuzztime 60s -fuzzminimizetime 10x ./internal/evidence
	go test -run '^$$' -fuzz FuzzParts -fuzztime 60s -fuzzminimizetime 10x ./internal/heal
	go test -run '^$$' -fuzz FuzzCSS -fuzztime 60s -fuzzminimizetime 10x ./internal/heal
	go test -run '^$$' -fuzz FuzzAnswer -fuzztime 60s -fuzzminimizetime 10x ./internal/heal
	for protocol in anthropic openai; do go test -run '^$$' -fuzz FuzzReply -fuzztime 60s -fuzzminimizetime 10x ./internal/llm/$$protocol || exit 1; done
	go test -run '^$$' -fuzz FuzzRequest -fuzztime 60s -fuzzminimizetime 10x ./test

.PHONY: bench-overhead
bench-overhead: setup build ## What a run costs over bare Playwright
	go run ./bench/overhead

.PHONY: bench-api
bench-api: ## What status reads cost, with 1,000 runs and 100,000 results stored
	go run ./bench/api

.PHONY: bench-pages
bench-pages: setup-tests ## Whether lists page in constant time, with 10,000 runs and 1,000,000 results, on both databases
	go run ./bench/pages
	scripts/with-postgres.sh go run ./bench/pages

.PHONY: bench-web
bench-web: ## What the web app's pages cost, with 10,000 runs, 5,000 tests and 1,000,000 results
	go run ./bench/web

.PHONY: bench-bugs
bench-bugs: ## How well failures are grouped into bugs, on labelled failures of real shapes
	go run ./bench/bugs

.PHONY: bench-relocation
bench-relocation: ## How well elements are found again years later, with each site left out of the training (DATA=folder)
	go run ./bench/relocation -cross $(if $(DATA),-data $(DATA))

.PHONY: bench-heal
bench-heal: setup ## How much of what drifted is healed, and that nothing broken is, by mutation of three applications (N=mutants of each kind, SEED=n)
	go run ./bench/heal -n $(or $(N),1000) -seed $(or $(SEED),1)

.PHONY: bench-repair
bench-repair: setup build ## How long it takes from a failing run to a proved pull request
	go run ./bench/repair

.PHONY: train-relocation
train-relocation: ## Learn the weights of relocation anew from all labelled sites (DATA=folder)
	go run ./bench/relocation -train internal/relocate/weights.json $(if $(DATA),-data $(DATA))

.PHONY: bench-shards
bench-shards: setup build ## How evenly shards are loaded, against --shard and a static split
	go run ./bench/shards

.PHONY: bench-evidence
bench-evidence: setup-tests ## What recording evidence costs a suite that computes, and one that waits
	cd runner && npm run --silent versions
	node bench/evidence/main.js

.PHONY: bench-memory
bench-memory: ## Memory of the service while 5,000 tests stream in
	go run ./bench/memory

.PHONY: bench-checkout
bench-checkout: ## What a second checkout costs against a fresh git clone, with 6,000 files and 300 commits
	go run ./bench/checkout

.PHONY: clean
clean: ## Remove what was built and the demo's data
	rm -rf bin .tas
