# SPDX-License-Identifier: Apache-2.0
#
# Two commands on a fresh Debian with Swift: `make run` and `make test`.

SWIFT ?= swift
GRAPH ?= config/demo.conf
PREFIX ?= /usr/local
SECONDS = 600
SEED = $(shell date +%s)
SCRATCH = .build
RELEASE = $(SCRATCH)/release

.DEFAULT_GOAL := help
.PHONY: help run announce test build debug setup setup-test models install format lint docs api pictures contact-sheet bench
.PHONY: lv2-conformance lv2-example soak soak-voice web-test web-measure web-picture systems deb deb-test clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  make run GRAPH=my.conf, make install PREFIX=$$HOME/.local"

# The demo ends when all is said; a graph of one's own may wait for ever for a microphone.
run: announce build ## install what is missing, build, and run GRAPH (config/demo.conf)
	@$(RELEASE)/voicegraph models path hibari >/dev/null 2>&1 || printf '%s\n' \
		'A more natural voice for English (25 MB): $(RELEASE)/voicegraph models install hibari'
	@$(RELEASE)/voicegraph run $(if $(filter config/demo.conf,$(GRAPH)),--until-idle) $(GRAPH) $(ARGS)

# What somebody waits for who sees the project for the first time.
announce:
	@[ -e $(RELEASE)/voicegraph ] || printf '%s\n' \
		'voicegraph is built first: about four minutes on two cores, later seconds. Fetched are Debian packages that are' \
		'missing and sources of Swift packages, 100 MB or less; 300 MB are written to $(SCRATCH).'

test: setup-test ## install what is missing, and run the whole test suite, under the realtime sanitizer
	$(SWIFT) build --build-tests
	@scripts/test .build scripts/rtsan

web-test: debug ## test the page in Chromium, the HTTP API and the WebSocket; ARGS are pytest's
	@scripts/setup web
	@scripts/web-tests $(ARGS)

web-measure: build ## measure the web face: clients, processor time, round trips
	@scripts/setup web
	@scripts/web-tests --version >/dev/null
	@VOICEGRAPH=$(RELEASE)/voicegraph .build/web-venv/bin/python Tests/Web/measure.py

systems: debug ## measure the five systems row by row, and print the table; ARGS="O4 R7" for some rows
	@scripts/setup test web
	@scripts/web-tests prepare
	@.build/web-venv/bin/python Tests/Systems/systems.py $(ARGS)

web-picture: debug ## make the picture of the page again: docs/page.png
	@scripts/setup web
	@scripts/web-tests --version >/dev/null
	@.build/web-venv/bin/python Tests/Web/picture.py

build: setup ## build the release
	VOICEGRAPH_RUN=1 $(SWIFT) build -c release --scratch-path $(SCRATCH)

debug: setup ## build for debugging
	$(SWIFT) build

setup: ## install the Debian packages that are missing to build and run
	@scripts/setup run

setup-test: ## the same for the tests
	@scripts/setup test

install: build ## copy command, plugins, NodeKit, manual, completions and unit below PREFIX (/usr/local); DESTDIR as usual
	DESTDIR="$(DESTDIR)" scripts/install "$(PREFIX)" $(RELEASE)

deb: build ## make Debian packages that need no Swift where they are installed: voicegraph and libvoicegraph-dev
	@scripts/setup deb
	@scripts/deb $(RELEASE)

deb-test: build ## make the packages, and install and try them in a clean Debian; needs root
	@scripts/setup deb
	@scripts/deb-test $(RELEASE)

models: build ## fetch all models for speaking and listening, for this user (160 MB); XDG_DATA_HOME=... for elsewhere
	@scripts/setup models
	@$(RELEASE)/voicegraph models install --all

lv2-example: ## build the LV2 plugin in Swift: .build/lv2/warmth.lv2
	scripts/lv2-example

format: ## format all sources
	$(SWIFT) format -i -r --parallel $$(scripts/swift-sources)

lint: ## check format, documentation and names
	$(SWIFT) format lint --strict -r --parallel $$(scripts/swift-sources)

pictures: build setup-test ## make the pictures of the README again: docs
	scripts/pictures $(RELEASE)/voicegraph

contact-sheet: build setup-test ## draw every style in three sizes, dark and light, to look at: .build/contact-sheet.png
	scripts/contact-sheet $(RELEASE)/voicegraph

docs: setup ## make the documentation of all products, without a network: .build/docs
	@scripts/docs

api: setup ## write down what programs of a new version may use: docs/api
	@scripts/api write "$$(scripts/symbols)"

bench: setup-test build ## measure beside peers (jackd, ecasound, jalv, C); ARGS="--only ring", --help for more
	@# SwiftPM does not see that a package which it depends on by its path has new files.
	@rm -f .build-bench/*.yaml
	$(SWIFT) run -c release --package-path Tests/Benchmarks --scratch-path .build-bench Benchmarks $(ARGS)

lv2-conformance: ## run every LV2 plugin of the distribution, each in its own process; ARGS="--block 64", --help for more
	@scripts/setup lv2
	$(SWIFT) build -c release --product lv2-conformance
	@$(RELEASE)/lv2-conformance $(ARGS)

soak: setup-test ## edit at random and break things under load for SECONDS (600); SEED=... does the same again
	$(SWIFT) build --build-tests
	VOICEGRAPH_SOAK_SECONDS=$(SECONDS) VOICEGRAPH_SOAK_SEED=$(SEED) \
		$(SWIFT) test --skip-build --no-parallel --filter FaultTests.SoakTests

soak-voice: SECONDS = 900
soak-voice: setup-test ## talk with the assistant at random while everything fails, for SECONDS (900); SEED=... as above
	$(SWIFT) build --build-tests
	VOICEGRAPH_SOAK_SECONDS=$(SECONDS) VOICEGRAPH_SOAK_SEED=$(SEED) \
		$(SWIFT) test --skip-build --no-parallel --filter FaultTests.ConversationSoakTests

clean: ## remove what was built
	rm -rf .build .build-tsan .build-asan .build-fuzz .build-bench .build-release .build-examples *.deb
