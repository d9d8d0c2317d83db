# The text after ## describes a target; `make help` prints it.

GO        ?= go
BIN       := bin/almanac
CACHE     := .cache
FUZZTIME  ?= 60s
PACKAGES  := ./...
# What all builds and tests share, so that each package is compiled once: only the race detector wants cgo. Tests are vetted
# by the target of that name alone.
export CGO_ENABLED ?= 0
export GOFLAGS     ?= -trimpath -vet=off
# Compilers and staticcheck are done sooner, by a sixth, if they collect garbage so much less often. Tests are not.
LESS_OFTEN := 400
build vet: export GOGC := $(LESS_OFTEN)

.DEFAULT_GOAL := help
.PHONY: help run build check test format vet unit packages browser race rankings programs postgres contract soak conformance clients trec pages dashboard container archive kubernetes smoke man docs bench bounds relevance tune fuzz up scale down backup restore refill reset release image secrets ports clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build, load the sample network and serve it on 127.0.0.1:8080
	$(BIN) serve

build: ## build the binary as bin/almanac
	$(GO) build -o $(BIN) ./cmd/almanac

check: ## the quick part of test: format, vet, staticcheck and tests that start no server, without the race detector
	@.ci/stages format vet unit

test: packages ## everything CI runs, in three stages: one process with -race; programs started and killed; browsers and clients
	@.ci/stages format vet race programs rankings+postgres+contract build+browser \
	  pages+dashboard+clients+conformance+trec+container+kubernetes

soak: ## kills, chaos, hostile sources, walks over every answer, all rounds and on both catalogs: once a night
	ALMANAC_SOAK=1 .ci/stages race rankings programs postgres archive ports pages dashboard

format:
	@echo "== gofmt"
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi

# Packages with files of one system or processor. They import none of ours, so that they are compiled for another one in
# seconds; `make ports` compiles everything.
PORTED := ./catalog/datadir/filesystem ./embed/transformer/kernel ./ingest/gitrepo/rlimit ./retrieval/corpus/prefetch ./retrieval/vector/kernel ./text/pdf

vet:
	@echo "== go vet, staticcheck"
	$(GO) vet $(PACKAGES)
	GOOS=windows GOARCH=arm64 $(GO) vet $(PORTED)
	GOOS=windows GOARCH=arm64 $(GO) build $(PORTED)
	@bash -euc '. .ci/install; staticcheck=$$(go_tool staticcheck); "$$staticcheck" $(PACKAGES)'

unit:
	@echo "== go test"
	$(GO) test -short -p $$((2 * $$(getconf _NPROCESSORS_ONLN))) $(PACKAGES)

ports: ## the program compiled for every system that a release is for
	for system in linux darwin windows; do for processor in amd64 arm64; do \
	  GOOS=$$system GOARCH=$$processor $(GO) build -o /dev/null ./cmd/almanac || exit 1; done; done

packages:
	.ci/packages

browser:
	@bash -euc '. .ci/browser'

# SQLite's C code translated to Go, the regular expressions and compression are not
# instrumented: that halves the time, and they share no state with our packages.
UNWATCHED := -gcflags='modernc.org/...=-race=false' -gcflags='regexp/...=-race=false' -gcflags='compress/...=-race=false'

# Tests write many files that are gone when they end: memory holds them where it has room, which costs the system less.
IN_MEMORY = $(shell d=/dev/shm; findmnt -no OPTIONS $$d 2>/dev/null | grep -qv noexec && \
  [ "$$(df --output=avail -m $$d | tail -n 1)" -gt 8000 ] && echo $$d || echo $${TMPDIR:-/tmp})

# By default the detector keeps each process for a second at its end, lest it miss a goroutine that nobody waits for: tests
# wait for theirs. They also wait for disks and servers, so there are more processes than cores.
race: export CGO_ENABLED := 1
race: export GORACE := atexit_sleep_ms=0
race postgres: export TMPDIR = $(IN_MEMORY)
race:
	@echo "== go test -race"
	@GOGC=$(LESS_OFTEN) $(GO) build -race $(UNWATCHED) $$($(GO) list -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' $(PACKAGES))
	@$(GO) test -race -p $$((2 * $$(getconf _NPROCESSORS_ONLN))) $(UNWATCHED) -timeout 25m $$(.ci/goroutines)
	$(GO) test -race $(UNWATCHED) -timeout 25m -run 'Crowd|ServeInProcess' ./cmd/almanac

rankings: ## packages without goroutines and with tests that are too slow for -race: rankings, recall, the corpus, walks
	@echo "== rankings, recall, the corpus, walks over all pages and operations, and packages without goroutines"
	@$(GO) test -timeout 25m $$(.ci/goroutines none)
	@$(GO) test -timeout 25m -run "$$(.ci/goroutines tests)" $$(.ci/goroutines slow)
	for off in avx512f all; do GODEBUG=cpu.$$off=off $(GO) test -short ./embed/transformer/... ./retrieval/vector/kernel || exit 1; done

programs: ## the program and its parts started, killed and filled up, hostile sources
	@echo "== programs started, killed and filled up"
	$(GO) test -parallel 4 -timeout 25m ./cmd/almanac

# The short run leaves out walks, which ask nothing of a catalog that the operations do not.
postgres: ## every operation over a catalog in PostgreSQL
	@echo "== operations over PostgreSQL"
	ALMANAC_TEST_CATALOG=postgres $(GO) test -timeout 25m $(if $(ALMANAC_SOAK),,-short) ./api

contract: ## compare what the program promises from outside with testing/contract; BEFORE=COMMIT prints what a build of it said
	@echo "== contract"
	$(GO) run ./testing/contract $(if $(BEFORE),-before $(BEFORE))

conformance: build ## the official MCP conformance runner against the built binary
	@echo "== MCP conformance"
	.ci/conformance $(BIN)

clients: build ## third-party and generated clients against the built binary, over NETWORKS (default: .ci/networks)
	@echo "== clients"
	.ci/clients $(BIN) $(NETWORKS)

trec: build ## the measures of the sample's rankings against pytrec_eval
	@echo "== pytrec_eval"
	.ci/trec $(BIN)

container: build ## the image of almanac in a container, where a Docker engine can be started
	@echo "== container"
	compose/smoke image

archive: ## what a newcomer does with the archive of a release, in a container that has nothing else
	@echo "== archive"
	compose/smoke archive

kubernetes: ## docs/kubernetes against the schemas of Kubernetes, with kubeconform
	@echo "== kubernetes"
	$(GO) test -C testing/kubeconform .

smoke: build ## the whole stack in containers; SMOKE_STANDINS=1 where the servers' images cannot be had
	compose/smoke stack

pages: build browser ## the pages of the sample in a browser, with and without script: use, accessibility, policy
	@echo "== pages"
	.ci/pages $(BIN)

dashboard: build browser ## the dashboard of the sample in a browser: from a bad query to a published fix and back
	@echo "== dashboard"
	.ci/dashboard $(BIN)

bench: build ## figures: engines against bleve, FTS5 and plain scans, searches over the judged collections, pages
	$(GO) test -run '^$$' -bench . -benchtime 1s ./retrieval/... ./embed/... ./catalog/...
	$(GO) test -run '^$$' -bench Agents -benchtime 1x ./api
	$(GO) test -run '^$$' -bench Pages -benchtime 500x ./api
	$(GO) test -run '^$$' -bench 'Serve|Interfaces' -benchtime 5000x ./cmd/almanac
	$(GO) test -run '^$$' -bench 'ModelChange|TakeOver' -benchtime 1x -timeout 2h ./cmd/almanac
	$(GO) test -run '^$$' -bench Stacks -benchtime 1000x -timeout 1h ./cmd/almanac
	$(GO) test -run '^$$' -bench Catalogs/.*/sync -benchtime 3x ./cmd/almanac
	$(GO) test -run '^$$' -bench Catalogs/.*/page -benchtime 1000x ./cmd/almanac
	$(GO) test -run '^$$' -bench 'Gigabyte|ManyTopics' -benchtime 1x -timeout 30m ./ingest/mail ./ingest/forum
	cd testing/keywordbench && $(GO) run .
	.ci/onnx
	$(GO) run ./testing/measure -passages 100000,1000000
	.ci/lighthouse $(BIN)

man: build ## the man page as bin/almanac.1
	$(BIN) man >bin/almanac.1

docs: ## write the pages of docs that commands print
	$(GO) test ./cmd/almanac -run GeneratedPages -update

bounds: ## the figures of docs/security.md
	$(GO) test -run '^$$' -bench 'HalfHeaders|Hostile' -benchtime 1x -timeout 2h ./cmd/almanac
	$(GO) test -run '^$$' -bench Flood -benchtime 200x -timeout 30m ./api

relevance: build ## the tables of docs/reference/measurements.md, over ../shared/judged
	ALMANAC_CORPUS=../shared/corpus $(BIN) sync --network corpus --data $(CACHE)/corpus --log-level error
	ALMANAC_CORPUS=../shared/corpus $(BIN) eval --network corpus --data $(CACHE)/corpus --log-level error --stages --markdown \
	  $(foreach c,scifact eips-known-item vendor-docs-rag cosqa,--judged ../shared/judged/$(c)) --queries ../shared/judged/network-dev

tune: build ## fit the reranker's weights again, into .cache/tuned.yaml
	ALMANAC_CORPUS=../shared/corpus $(BIN) sync --network corpus --data $(CACHE)/corpus --log-level error
	ALMANAC_CORPUS=../shared/corpus $(BIN) tune --network corpus --data $(CACHE)/corpus --log-level error --l2 0.3 --force --out $(CACHE)/tuned.yaml \
	  $(foreach c,scifact eips-known-item vendor-docs-rag cosqa,--judged ../shared/judged/$(c)) --queries ../shared/judged/network-dev

fuzz: build ## every fuzz target for FUZZTIME (60s), then generated requests over HTTP
	@$(GO) list -f '{{.Dir}}' $(PACKAGES) | while read -r dir; do \
	  for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go 2>/dev/null | sed 's/func //'); do \
	    echo "== $$dir $$target"; (cd "$$dir" && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x .) || exit 1; \
	  done; done
	.ci/schemathesis $(BIN)

COMPOSE := docker compose --project-directory compose
# A shell in a container that has the volumes below /volumes, as the owner of
# the catalog or of the engines. They are emptied, not removed: what they are
# called is known to compose alone.
CATALOG_SHELL := $(COMPOSE) run --rm --no-deps -T --user 10001:10001 --entrypoint sh volumes -euc
ENGINES_SHELL := $(COMPOSE) run --rm --no-deps -T --user 1000:1000 --entrypoint sh volumes -euc
EMPTY_ENGINES := $(ENGINES_SHELL) 'find /volumes/meilisearch /volumes/qdrant -mindepth 1 -delete'

# Both stacks publish the same ports: what has the containers of the other is stopped first, and keeps its data.
INSTEAD_OF = @[ -z "$$($(COMPOSE) --profile '*' ps --all --quiet $(1))" ] || $(COMPOSE) --profile '*' down

up: secrets ## start the stack of containers, on 127.0.0.1:8080 (docs/deploy.md)
	$(call INSTEAD_OF,caddy)
	$(COMPOSE) up --detach --build

# What runs is replaced one after the other: each server drains, and the next is not touched before it is healthy.
scale: export WATCHED := scale
scale: secrets ## start one writer and two readers instead, over PostgreSQL, Redis and three nodes of Qdrant
	$(call INSTEAD_OF,almanac)
	$(COMPOSE) up --detach --build --no-recreate caddy
	for server in reader1 reader2 writer; do $(COMPOSE) up --detach --no-deps --wait $$server || exit 1; done
	$(COMPOSE) up --detach caddy $$($(COMPOSE) config --services | grep -xE 'prometheus|grafana')

down: ## stop the stack of containers and keep its data
	$(COMPOSE) --profile '*' down

# Containers see a secret's file with its owner and mode, and each runs as a
# different user: the files are readable by all, in a directory that only its owner
# may enter. Addresses are made again when the password before them in the list is newer.
secrets:
	@install -d -m 700 compose/secrets
	@cd compose/secrets; \
	for name in admin_token meilisearch_key qdrant_key grafana_password postgres_password redis_password catalog_url redis_url; do \
	  case $$name in \
	    catalog_url) of=postgres_password ;; redis_url) of=redis_password ;; *) of=$$name ;; \
	  esac; \
	  [ -s $$name ] && [ ! $$of -nt $$name ] || case $$name in \
	    catalog_url) echo "postgres://almanac:$$(cat postgres_password)@postgres/almanac?sslmode=disable" ;; \
	    redis_url) echo "redis://:$$(cat redis_password)@redis/0" ;; \
	    *) head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' ;; \
	  esac >$$name && chmod 644 $$name || exit 1; \
	done

backup: FILE := almanac-$(shell date -u +%Y%m%dT%H%M%SZ).tar.gz
backup: ## save the catalog of the stack as FILE; almanac is stopped meanwhile
	@umask 077; ran=$$($(COMPOSE) ps --quiet --status running almanac) && $(COMPOSE) stop almanac && { \
	  $(CATALOG_SHELL) 'tar -C /volumes/data -cz .' >'$(FILE).part' && mv '$(FILE).part' '$(FILE)'; done=$$?; \
	  [ -z "$$ran" ] || $(COMPOSE) start almanac; [ $$done = 0 ] && echo "$(FILE)"; }

# FILE is read to its end, unpacked beside the catalog and opened by almanac before
# anything stops. What was there is removed when the other is in its place.
restore: secrets ## replace the stack's catalog by FILE; the engines are refilled
	@[ -n '$(FILE)' ] || { echo 'say what to put back: make restore FILE=almanac-….tar.gz'; exit 2; }
	@tar -tzf '$(FILE)' ./catalog.db >/dev/null || { echo '$(FILE) is not a whole backup: nothing was changed'; exit 2; }
	$(COMPOSE) up volumes
	@{ $(CATALOG_SHELL) 'cd /volumes/data; rm -rf .restored; mkdir .restored; tar -C .restored -xz' <'$(FILE)' && \
	  $(COMPOSE) run --build --rm --no-deps -T almanac doctor --catalog --data /data/.restored </dev/null; } || { \
	  $(CATALOG_SHELL) 'rm -rf /volumes/data/.restored' </dev/null; \
	  echo '$(FILE) holds no catalog that almanac can serve, for the reason above: nothing was changed'; exit 2; }
	$(COMPOSE) --profile '*' down
	$(CATALOG_SHELL) 'cd /volumes/data; rm -rf .before; mkdir .before; \
	  find . -mindepth 1 -maxdepth 1 ! -name .restored ! -name .before -exec mv {} .before ";"; \
	  find .restored -mindepth 1 -maxdepth 1 -exec mv {} . ";"; [ -s catalog.db ]; rm -rf .restored .before'
	$(EMPTY_ENGINES)
	$(COMPOSE) up --detach --build

refill: secrets ## empty the stack's search engines and fill them from the catalog
	$(COMPOSE) --profile '*' down
	$(COMPOSE) up volumes
	$(EMPTY_ENGINES)
	$(COMPOSE) up --detach --build

reset: secrets ## stop the stack and remove its catalog, so that it can start with another network
	$(COMPOSE) --profile '*' down
	$(COMPOSE) up volumes
	$(CATALOG_SHELL) 'find /volumes/data -mindepth 1 -delete'
	$(EMPTY_ENGINES)

release: ## archives, packages, image, bill of materials, formula and checksums, in dist; HOME_URL=github.com/OWNER/almanac
	$(GO) -C .ci/release run . -home $(or $(HOME_URL),example.org/almanac)

image: ## build the container image; DOCKER_DEFAULT_PLATFORM=linux/arm64 for another architecture
	$(COMPOSE) build almanac

clean: ## remove built files
	rm -rf bin $(CACHE)
