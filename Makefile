# What a developer does. `make` lists it.

GO ?= go
FUZZTIME ?= 30s
BENCHTIME ?= 10s
BENCH ?= .
PKG ?= ./ranking ./hub/... ./server ./server/access ./server/live ./cmd/rankcast/e2e/...
# The version that the program shows is the tag or the commit, unless VERSION is given.
ifndef VERSION
VERSION := $(or $(shell git describe --tags --match 'v*' --always --dirty 2>/dev/null),devel)
endif
BINARY = bin/rankcast
# All of Go here compiles packages once: with the settings of the program, which is built without C and names no folder
# of this machine. The race detector alone needs other ones.
export CGO_ENABLED = 0
# Libraries without inlining: the program is 3 MB smaller, an update takes 2.5 % more CPU of the node, a read less than 1 %, and an
# update of the embedded store 7 %. go-redis alone has 600 commands with methods of seven types each, which the linker keeps
# because kong and html/template call methods by name.
NOT_INLINED = github.com/redis/go-redis/... github.com/alicebob/... github.com/prometheus/... github.com/alecthomas/kong \
	charm.land/... github.com/charmbracelet/... github.com/go-text/...
FLAGS = $(NOT_INLINED:%=-gcflags=%=-l) -trimpath
# The last of several -gcflags for a package counts: the user's own.
export GOFLAGS := $(strip $(FLAGS) $(filter-out $(FLAGS),$(shell $(GO) env GOFLAGS 2>/dev/null)))
KUBE_SCORE = github.com/zegl/kube-score/cmd/kube-score@v1.20.0
CADDY = github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9
# Everybody may reach a node, by its one port; and there is one Redis, which no other pod can stand in for.
IGNORE = pod-networkpolicy statefulset-has-poddisruptionbudget statefulset-has-host-podantiaffinity
DIST ?= dist
# The build tags of tests that a target of their own runs.
TAGS = axe,browsers,caddy,contract,dist,kit,soak,upgrade
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT = github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
CYCLONEDX = github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## Start a server with an embedded store and scores that move by themselves
	@echo "Building Rankcast. The first build takes about a minute; later ones take seconds."
	@$(MAKE) --no-print-directory build
	bin/rankcast serve --demo

.PHONY: build
build: ## Build bin/rankcast
	$(GO) build -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION)" -o $(BINARY) ./cmd/rankcast

.PHONY: dist
dist: deps-dist ## Build the archives of a release for all systems: dist/
	VERSION='$(VERSION)' .ci/dist '$(DIST)'

.PHONY: check-dist
check-dist: dist ## Build the archives a second time and compare; check what is in them
	@again=$$(mktemp -d) && trap 'rm -rf "$$again"' EXIT && VERSION='$(VERSION)' .ci/dist "$$again" && \
		diff '$(DIST)/checksums.txt' "$$again/checksums.txt" && (cd '$(DIST)' && sha256sum --check --strict checksums.txt)
	VERSION='$(VERSION)' DIST='$(abspath $(DIST))' $(GO) test -tags dist -count=1 -v -run TestDist ./cmd/rankcast

.PHONY: sbom
sbom: build ## Write the bill of materials of the program into DIST
	@mkdir -p '$(DIST)'
	$(GO) run $(CYCLONEDX) bin -json -version '$(VERSION)' -output '$(DIST)/rankcast_$(VERSION)_sbom.cdx.json' $(BINARY)

.PHONY: check-deploy
check-deploy: deps ## Check the example for Kubernetes, and run that for Compose behind a real Caddy
	$(GO) run ./cmd/rankcast example kubernetes | $(GO) run $(KUBE_SCORE) score $(IGNORE:%=--ignore-test %) -
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && GOBIN="$$dir" $(GO) install $(CADDY) && \
		CADDY="$$dir/caddy" $(GO) test -tags caddy -count=1 -v -run TestDeployBehindCaddy ./cmd/rankcast/e2e/process

# make lint vets what make test and make race would vet again, each time that they compile.
#
# The tests of pages need most CPU, and come first, beside the server's, which wait much. One package more than there are
# cores runs at a time, for each of them waits now and then.
.PHONY: test
test: deps ## Run all tests, on the embedded store and on a real Redis
	$(GO) test -vet=off -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -timeout 20m ./cmd/rankcast/e2e/pages ./server/... ./hub/... ./cmd/... ./ranking ./...

# Packages that start no goroutine and guard nothing. The race detector sees them in the tests of those that use them.
PURE = cmd/rankcast/internal/(credentials|demo|doctor|example|heapfloor)|hub/view|ranking/(calendar|history|scoretext|search|internal/keyspace)|server/internal/(host|origin|problem)|web|web/generate

.PHONY: race
race: export CGO_ENABLED = 1
# A program under the race detector sleeps for a second before it ends, for a goroutine that is reporting a race then. The
# tests wait for their goroutines.
race: export GORACE = atexit_sleep_ms=0
race: deps ## Run the tests of all that has goroutines under the race detector, but those of pages
	$(GO) test -vet=off -race -timeout 20m $$($(GO) list ./... | grep -vE '/($(PURE))$$')

# Tests that shift the clock of Redis by faketime, under which the newer stores do not start.
SHIFTED = TestDiagnoseClock|TestScoreToFrameByTheClockOfRedis|TestHistoryOverHTTP|TestFullMemoryLosesNoEntry|TestOldEntriesWithLongIDs|TestAFullBoardLosesNoEntry

.PHONY: redis8 valkey9
redis8: STORE = trixie redis-server redis-server 8 ## Run the tests of store, hub and server on Redis 8, unpacked into bin/redis8
valkey9: STORE = forky valkey-server valkey-server 9 ## Run the tests of store, hub and server on Valkey 9, unpacked into bin/valkey9
redis8 valkey9: deps
	.ci/newer $(STORE) bin/$@
	PATH="$(CURDIR)/bin/$@:$$PATH" $(GO) test -vet=off -count=1 -timeout 20m -skip '$(SHIFTED)' ./ranking/... ./hub/... ./server/...

# The number of shards that make sharded gives the boards of the tests.
SHARDS ?= 3

.PHONY: sharded
sharded: deps ## Run the tests of store, hub and server for boards with SHARDS shards: 3, or make sharded SHARDS=16
	.ci/sharded $(SHARDS)

# The version before this one, a tag or a commit: the one from which nodes are updated.
PREVIOUS ?= a07a925

.PHONY: upgrade
upgrade: deps ## Run nodes of this version beside those of PREVIOUS, or see them refused
	@git cat-file -e '$(PREVIOUS)^{commit}' 2>/dev/null || { echo "make upgrade builds the version before, $(PREVIOUS), from the history, which is not here: git fetch --tags --unshallow" >&2; exit 1; }
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && git archive '$(PREVIOUS)' | tar -x -C "$$dir" && \
		echo "Building $(PREVIOUS)." && $(MAKE) --no-print-directory -C "$$dir" build && \
		PREVIOUS_TREE="$$dir" $(GO) test -tags upgrade -count=1 -timeout 10m -run 'TestUpgrade' ./cmd/rankcast/e2e/faults

.PHONY: e2e
e2e: deps ## Run the tests of the program as a process, its page in a browser among them
	$(GO) test -count=1 ./cmd/...

.PHONY: bench
bench: deps ## Measure beside a baseline: all, or some: make bench BENCH=Apply PKG=./ranking
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -timeout 30m $(PKG)

.PHONY: fuzz
fuzz: ## Fuzz each decoder for FUZZTIME
	@set -e; for package in $$($(GO) list ./ranking/... ./server/...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$package; \
		done; \
	done

.PHONY: soak
soak: deps ## Run random histories, crowds and long runs: about 30 minutes
	$(GO) test -count=1 -timeout 10m ./hub/view -run 'TestView' -rapid.checks=100000
	$(GO) test -count=30 -timeout 10m ./hub -run 'TestEvery' -skip 'OnEngines'
	$(GO) test -count=1 -timeout 10m ./hub -run 'TestEveryResumeEndsRightOnEngines/(embedded|redis)' -rapid.checks=400
	$(GO) test -count=1 -timeout 10m ./hub -run 'TestEveryResumeEndsRightOnEngines/cluster' -rapid.checks=40
	$(GO) test -count=1 -timeout 10m ./hub -run 'TestScripts' -whole -rapid.checks=60
	$(GO) test -count=1 -timeout 10m ./hub -run 'TestFollowedWindow' -rapid.checks=3000
	$(GO) test -count=1 -timeout 10m ./ranking -run 'TestKey|TestEarlier|TestArrival' -rapid.checks=20000
	$(GO) test -count=1 -timeout 10m ./ranking -run 'TestWindowIsWhat' -rapid.checks=3000
	$(GO) test -count=1 -timeout 10m ./ranking -run 'TestUnionOfWindows|TestWindowIsTheSame' -rapid.checks=200
	$(GO) test -count=1 -timeout 10m ./ranking -run 'TestBoardDoes' -whole -rapid.checks=150
	$(GO) test -count=1 -timeout 10m ./ranking -run 'TestFrozenBoardLaw|TestColumnsSort' -rapid.checks=500
	$(GO) test -count=1 -timeout 10m ./ranking -run 'TestWalkThrough|TestExportThat|TestUnionIsTheSum|TestOrdersNever' -rapid.checks=500
	$(GO) test -count=5 -timeout 10m ./server -run 'TestSentinelFailover'
	$(GO) test -count=1 -timeout 10m -v ./server -run 'TestClusterChanges' -failovers 8
	$(MAKE) --no-print-directory sharded SHARDS=2
	$(MAKE) --no-print-directory sharded
	$(MAKE) --no-print-directory sharded SHARDS=16
	CGO_ENABLED=1 $(GO) test -count=10 -race -timeout 10m ./server/live -run 'TestChurn|TestStalled'
	$(GO) test -count=1 -tags soak -timeout 10m ./server/live -run 'TestEverySocketConverges|TestRolloverReachesEverySocket'
	$(GO) test -count=1 -tags soak -timeout 20m -p 1 ./cmd/rankcast/e2e/process ./cmd/rankcast/e2e/pages -run 'ForLong|LargeCrowd'
	$(GO) test -count=1 -v -tags soak -timeout 15m ./cmd/rankcast/e2e/faults -run 'Fault.*Measured'
	$(GO) test -count=1 -tags soak -timeout 15m ./cmd/rankcast -run TestPublishedModule
	$(MAKE) --no-print-directory upgrade
	$(MAKE) --no-print-directory browsers

# A line that holds an import, in Go and in the Go of a page. go mod edit refuses what is no path.
.PHONY: module
module: ## Give the module another path: make module MODULE=example.org/you/rankcast
	@old=$$($(GO) list -m) && $(GO) mod edit -module '$(MODULE)' && \
		grep -rl --include='*.go' --include='*.md' "\"$$old/" . | xargs sed -i.was -E \
			"s#^((import )?[[:space:]]*([A-Za-z0-9_.]+ )?\")$$old(/[^\"]*\"[[:space:]]*(//.*)?)\$$#\1$(MODULE)\4#" && \
		find . -name '*.was' -delete && gofmt -w . && $(GO) generate ./web

# Lines of more than 140 characters, a tab being one; but a struct tag, which Go cannot break.
TOO_LONG = LC_ALL=C.UTF-8 grep -rnE '^.{141,}' --include='*.go' --include='*.js' --include='*.css' --include='*.lua' \
	--exclude-dir=dist --exclude-dir=node_modules . | grep -vE '`[a-z]+:".*`$$'

.PHONY: lint
lint: ## Check format and find mistakes
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt -w these files"; exit 1; }
	@! $(TOO_LONG) || { echo "these lines have more than 140 characters"; exit 1; }
	$(GO) vet -tags $(TAGS) ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(ACTIONLINT) .github/workflows/*.yml

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what the program calls
	$(GO) run $(GOVULNCHECK) ./...

.PHONY: lint-web
lint-web: ## Check the types of the scripts (needs Node)
	npx --yes --package typescript@5.9 tsc --noEmit --allowJs --checkJs --strict --target es2023 \
		--module esnext --moduleResolution bundler --lib es2023,dom,dom.iterable web/kit/*.js web/kit/*.d.ts web/assets/*/*.js web/testdata/*.ts

.PHONY: reference
reference: ## Write the pages of the documentation that are made from the contract
	$(GO) test -count=1 -run TestReference ./server/servertest/contract -update

.PHONY: generate
generate: reference ## Make the files that are made from others: web/dist, and the reference pages
	$(GO) generate ./web

.PHONY: kit
kit: ## Pack the kit for npm into DIST (needs Node)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && mkdir -p "$(DIST)" && \
		(cd web && $(GO) run ./generate kit "$(VERSION)" "$$dir") && npm pack --silent --pack-destination "$(DIST)" "$$dir"

.PHONY: check-kit
check-kit: deps ## Check the packed kit, build a page with it, and open the page (needs Node)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cp web/testdata/bundler/* "$$dir" && \
		$(MAKE) --no-print-directory kit DIST="$$dir" && cd "$$dir" && \
		npm install --silent --no-audit --no-fund ./rankcast-kit-*.tgz && \
		npx publint --strict ./rankcast-kit-*.tgz && npx attw --profile esm-only ./rankcast-kit-*.tgz && \
		npx tsc && npx vite build --logLevel warn && cd "$(CURDIR)" && \
		KIT_SITE="$$dir/dist" $(GO) test -tags kit -count=1 -v -run TestBundledKit ./cmd/rankcast/e2e/pages

.PHONY: pictures
pictures: deps ## Take README's pictures of the pages
	$(GO) test -count=1 -run TestPagesFit ./cmd/rankcast/e2e/pages -pictures "$(CURDIR)/web/pictures"

.PHONY: browsers
browsers: deps deps-browsers ## Walk through the pages in Chromium, Firefox and WebKit
	@dir=$$(mktemp -d) && $(GO) test -tags browsers -count=1 -v -timeout 15m -run TestWalk ./cmd/rankcast/e2e/pages -steps "$$dir"; \
	code=$$?; echo "Pictures of each step: $$dir"; exit $$code

.PHONY: axe
axe: deps ## Look for what keeps people from using the pages (needs Node)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && npm install --silent --no-audit --no-fund --prefix "$$dir" axe-core@4.14 && \
		AXE="$$dir/node_modules/axe-core/axe.min.js" $(GO) test -tags axe -count=1 -v -run TestAxe ./cmd/rankcast/e2e/pages

.PHONY: check-contract
check-contract: deps ## Lint the contract, and make and try clients from it (needs Node)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cp -r cmd/rankcast/e2e/process/testdata/contract/. "$$dir" && \
		npm install --silent --no-audit --no-fund --prefix "$$dir" && \
		CONTRACT_TOOLS="$$dir" $(GO) test -tags contract -count=1 -v -run TestClientsFromTheContract ./cmd/rankcast/e2e/process

# install is the end of a recipe: it installs the packages in $missing where it may, and else says how.
define install
[ -n "$$missing" ] || exit 0; \
	install="apt-get update && apt-get install -y --no-install-recommends$$missing"; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then sh -c "$$install"; \
	elif command -v apt-get >/dev/null && sudo -n true 2>/dev/null; then sudo sh -c "$$install"; \
	else echo "Programs are missing. Install their packages with: sudo sh -c '$$install'" >&2; exit 1; fi
endef

HEADLESS = chromium-headless-shell
# The shell chooses the browser's package after apt-get update, which tells what the system offers.
CHROMIUM = \$$(apt-cache show $(HEADLESS) >/dev/null 2>&1 && echo $(HEADLESS) || echo chromium)

# The tests need a real Redis whose clock they can shift, a browser, and systemd-analyze. The examples of the
# documentation need curl and python3. Any Chromium from version 140 on will do, but the one without windows takes half of
# the CPU: the recipe installs it beside another one where it may.
.PHONY: deps
deps:
	@missing=; \
	for program in redis-server faketime curl git python3; do command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	for browser in chromium-headless-shell chromium chromium-browser google-chrome chrome headless-shell; do command -v $$browser >/dev/null && break; done \
		|| missing="$$missing $(CHROMIUM)"; \
	command -v systemd-analyze >/dev/null || missing="$$missing systemd"; \
	if ! command -v $(HEADLESS) >/dev/null && apt-cache show $(HEADLESS) >/dev/null 2>&1 && { [ "$$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; then \
		missing="$$missing $(HEADLESS)"; \
	fi; \
	$(install)

.PHONY: deps-dist
deps-dist:
	@missing=; command -v zip >/dev/null || missing=" zip"; \
	$(install)

# The packages are Debian's: Firefox, WebKit with the browser that drives it, and a screen for both.
.PHONY: deps-browsers
deps-browsers:
	@missing=; \
	command -v firefox-esr >/dev/null || missing="$$missing firefox-esr"; \
	command -v WebKitWebDriver >/dev/null || missing="$$missing webkit2gtk-driver"; \
	command -v Xvfb >/dev/null || missing="$$missing xvfb"; \
	$(install)
