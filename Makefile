# The text after ## describes a target; `make help` prints it.

GO        ?= go
BIN       := bin/almanac
CACHE     := .cache
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME  ?= 60s
PACKAGES  := ./...
export CGO_ENABLED ?= 1

.DEFAULT_GOAL := help
.PHONY: help run build test check format vet unit race rankings conformance clients pages bench relevance tune fuzz up down backup restore image secrets clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build, load the sample network and serve it on 127.0.0.1:8080
	$(BIN) serve

build: ## build the binary as bin/almanac
	CGO_ENABLED=0 $(GO) build -o $(BIN) ./cmd/almanac

test: format vet race rankings conformance clients pages ## everything CI runs: formatting, vet, staticcheck, all tests with -race, the binary over HTTP and MCP
	@echo "make test: formatting, vet, staticcheck, tests with -race, rankings, MCP conformance, generated clients, pages in a browser: passed"

check: format vet unit ## the quick part of test: no race detector, no conformance run
	@echo "make check: passed"

format:
	@echo "== gofmt"
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi

vet:
	@echo "== go vet, staticcheck"
	$(GO) vet $(PACKAGES)
	$(GO) run $(STATICCHECK) $(PACKAGES)

unit:
	@echo "== go test"
	$(GO) test -short $(PACKAGES)

# SQLite's C code translated to Go and the regular expressions are not
# instrumented: that halves the time, and they share no state with our packages.
UNWATCHED := -gcflags='modernc.org/...=-race=false' -gcflags='regexp/...=-race=false'

race:
	@echo "== go test -race"
	$(GO) test -race $(UNWATCHED) -timeout 25m $(PACKAGES)

rankings: ## tests too slow for -race: ranking goldens, recall of the vector engine, the corpus
	@echo "== rankings, recall, the corpus"
	$(GO) test ./retrieval/eval ./retrieval/vector/embedded ./ingest/docs ./ingest/networks

conformance: build ## the official MCP conformance runner against the built binary
	@echo "== MCP conformance"
	.ci/conformance $(BIN)

clients: build ## third-party and generated clients against the built binary, over NETWORKS (default: .ci/networks)
	@echo "== clients"
	.ci/clients $(BIN) $(NETWORKS)

pages: build ## the pages of the sample in a browser, with and without script: use, accessibility, policy
	@echo "== pages"
	.ci/pages $(BIN)

bench: build ## figures: engines against bleve, FTS5 and plain scans, searches over the judged collections, pages
	$(GO) test -run '^$$' -bench . -benchtime 1s ./retrieval/... ./embed/... ./catalog/...
	$(GO) test -run '^$$' -bench Agents -benchtime 1x ./api
	$(GO) test -run '^$$' -bench Pages -benchtime 500x ./api
	$(GO) test -run '^$$' -bench 'Serve|Interfaces' -benchtime 5000x ./cmd/almanac
	$(GO) test -run '^$$' -bench ModelChange -benchtime 1x ./cmd/almanac
	$(GO) test -run '^$$' -bench Stacks -benchtime 1000x -timeout 1h ./cmd/almanac
	$(GO) test -run '^$$' -bench 'Gigabyte|ManyTopics' -benchtime 1x -timeout 30m ./ingest/mail ./ingest/forum
	cd retrieval/keyword/bench && $(GO) run .
	.ci/lighthouse $(BIN)

relevance: build ## the tables of docs/relevance.md, over ../shared/judged
	ALMANAC_CORPUS=../shared/corpus $(BIN) sync --network corpus --data $(CACHE)/corpus --log-level error
	ALMANAC_CORPUS=../shared/corpus $(BIN) eval --network corpus --data $(CACHE)/corpus --log-level error --stages --markdown \
	  $(foreach c,scifact eips-known-item vendor-docs-rag cosqa,--judged ../shared/judged/$(c)) --queries ../shared/judged/network-dev

tune: build ## fit the reranker's weights again, into .cache/tuned.yaml
	ALMANAC_CORPUS=../shared/corpus $(BIN) sync --network corpus --data $(CACHE)/corpus --log-level error
	ALMANAC_CORPUS=../shared/corpus $(BIN) tune --network corpus --data $(CACHE)/corpus --log-level error --l2 0.3 --out $(CACHE)/tuned.yaml \
	  $(foreach c,scifact eips-known-item vendor-docs-rag cosqa,--judged ../shared/judged/$(c)) --queries ../shared/judged/network-dev

fuzz: build ## every fuzz target for FUZZTIME (60s), then generated requests over HTTP
	@$(GO) list -f '{{.Dir}}' $(PACKAGES) | while read -r dir; do \
	  for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go 2>/dev/null | sed 's/func //'); do \
	    echo "== $$dir $$target"; (cd "$$dir" && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x .) || exit 1; \
	  done; done
	.ci/schemathesis $(BIN)

COMPOSE := docker compose --project-directory compose
# tar on the volume of the catalog, as its owner.
VOLUME_TAR := $(COMPOSE) run --rm --no-deps -T --user 10001:10001 --entrypoint tar volumes -C /volumes/data

up: secrets ## start the stack of containers, on 127.0.0.1:8080 (docs/deploy.md)
	$(COMPOSE) up --detach --build

down: ## stop the stack of containers and keep its data
	$(COMPOSE) --profile '*' down

# Containers see a secret's file with its owner and mode, and each runs as a
# different user: the files are readable by all, in a directory that only its owner
# may enter.
secrets:
	@install -d -m 700 compose/secrets
	@for name in admin_token meilisearch_key qdrant_key grafana_password; do \
	  file=compose/secrets/$$name; \
	  [ -s $$file ] || head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >$$file && chmod 644 $$file || exit 1; \
	done

backup: FILE := almanac-$(shell date -u +%Y%m%dT%H%M%SZ).tar.gz
backup: ## save the catalog of the stack as FILE; almanac is stopped meanwhile
	@umask 077; $(COMPOSE) stop almanac && { $(VOLUME_TAR) -cz . >'$(FILE).part' && mv '$(FILE).part' '$(FILE)'; done=$$?; \
	  $(COMPOSE) start almanac; [ $$done = 0 ] && echo "$(FILE)"; }

restore: secrets ## replace the stack's catalog by FILE; the engines are refilled
	@gzip -t '$(FILE)' || { echo 'say what to put back: make restore FILE=almanac-….tar.gz'; exit 2; }
	$(COMPOSE) --profile '*' down
	docker volume rm --force almanac_data almanac_meilisearch almanac_qdrant
	$(COMPOSE) up volumes
	$(VOLUME_TAR) -xz <'$(FILE)'
	$(COMPOSE) up --detach --build

image: ## build the container image; DOCKER_DEFAULT_PLATFORM=linux/arm64 for another architecture
	$(COMPOSE) build almanac

clean: ## remove built files
	rm -rf bin $(CACHE)
