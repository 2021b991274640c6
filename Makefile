# Two commands do everything: `make serve` and `make test`.
PYTHON ?= python3
PORT   ?= 8443
BIN    := .venv/bin
# Tests start hundreds of processes, which would each compile this package and its libraries again.
# Of each, to read the certificates of the system takes a good part of the time; tests trust their own alone.
PYTEST := env -u PYTHONDONTWRITEBYTECODE SSL_CERT_FILE=/dev/null $(BIN)/pytest
# The doctests of a room are in its package.
ROOM_TESTS = $(if $(ROOM),$(or $(wildcard tests/$(ROOM) interpreter/karta_interpreter/$(ROOM)),$(error there is no room $(ROOM))))
PAGE = if command -v npm >/dev/null; then $(MAKE) --no-print-directory console; else echo "without the page of the console: it needs npm"; fi
# The catalogue in the form that is read soonest; it is made again when what it is made of is newer.
CATALOGUE = interpreter/karta_interpreter/catalogue.bin
STATIC = interpreter/karta_interpreter/web/console/static
SPHINX = $(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going --conf-dir docs/tools --doctree-dir build/doctrees

.DEFAULT_GOAL := help
.PHONY: help serve test laws coverage check format generate catalogue-diff bench bench-compare bench-quick audit audit-turns conformance demo e2e e2e-karmada reality reality-shared drift fleet tools lock version release-dry-run release-check release release-push-charts release-page docs docs-serve docs-links console console-test dist package-test pip-audit image image-test sbom clean

help: ## Show what there is to do
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/run.stamp: requirements/run.txt requirements/build.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with PYTHON=...")'
	@echo "installing what the server needs into .venv: about a minute"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt -r requirements/build.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

.venv/%.stamp: .venv/run.stamp requirements/%.txt
	@echo "installing requirements/$*.txt into .venv"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$*.txt
	@touch $@

.venv/vulnerabilities.stamp: .venv/dev.stamp

serve: $(CATALOGUE) ## Serve the catalogue over HTTPS on 127.0.0.1:8443 (PORT=... changes it), and start the console
	@# The server is there first: the console starts when its page is built, and ends with the server.
	@# It waits for the server in the background: so SIGTERM, which make passes on to the shell, ends both.
	@trap : INT; trap 'kill $$server $$console' TERM; \
	{ $(MAKE) --no-print-directory --silent $(STATIC)/index.html && echo "The console:" && exec $(BIN)/karta-interpreter console --no-open --port 0; } & \
	console=$$!; $(BIN)/karta-interpreter serve --port $(PORT) & server=$$!; wait $$server; code=$$?; \
	[ $$code -le 128 ] || { wait $$server; code=$$?; }; kill $$console 2>/dev/null; exit $$code

$(CATALOGUE): .venv/run.stamp $(shell find kartas -name karta.yaml; find $(addprefix interpreter/karta_interpreter/,base definitions languages) -name '*.py')
	@PYTHONHASHSEED=0 $(BIN)/python -c 'from karta_interpreter.definitions.sources import compile_catalogue; compile_catalogue()'

$(STATIC)/index.html: $(shell find interpreter/console -maxdepth 1 -type f; find interpreter/console/src -type f)
	@command -v npm >/dev/null || { echo "serving without the console: to build its page needs npm"; exit 1; }
	@echo "building the page of the console: about half a minute"
	@cd interpreter/console && npm ci --silent --fetch-retries 0 && npm run --silent build || { echo "serving without the console: npm cannot build its page"; exit 1; }

test: .venv/dev.stamp $(CATALOGUE) ## Run the tests (ROOM=definitions/karta: those of one room, with its slow ones)
	@$(BIN)/python -m compileall -q interpreter  # once, for the hundreds of processes that tests start
	$(PYTEST) --numprocesses auto --dist worksteal $(or $(ROOM_TESTS),-m "not slow")

laws: .venv/dev.stamp ## Try laws on 100 examples, on all cases of the catalogue, and slow tests (EXAMPLES=1000, ROOM as for test)
	EXAMPLES=$(or $(EXAMPLES),100) $(PYTEST) --numprocesses auto --dist worksteal -m "hypothesis or sweep or slow" $(ROOM_TESTS)

coverage: .venv/dev.stamp ## Run the tests and show the lines and branches that none of them reaches (ROOM=definitions/karta, as for test)
	$(PYTEST) --numprocesses auto --dist worksteal --cov=karta_interpreter$(if $(wildcard interpreter/karta_interpreter/$(ROOM)/__init__.py),$(subst /,.,$(ROOM:%=/%))) --cov-report=term-missing $(ROOM_TESTS)

check: .venv/dev.stamp ## Format, lint, types, layers, sizes, prose, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m docs.tools.sizes
	$(BIN)/python -m docs.tools.check_prose
	$(BIN)/python -m docs.tools.generate --check

format: .venv/dev.stamp ## Put every file into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: .venv/run.stamp ## Write what is generated: schemas, docs/catalogue, READMEs of the charts, kustomize (needs helm)
	$(BIN)/python -m docs.tools.generate

catalogue-diff: .venv/run.stamp ## Write into the CHANGELOG what the catalogue answers differently (FROM=v0.1.0: since then)
	$(BIN)/python -m docs.tools.catalogue_diff "$(FROM)"

bench: .venv/dev.stamp ## Measure the calls of a recorded day and write docs/performance.md (needs Go; ten minutes)
	$(BIN)/python -m tests.proofs.benchmarks

bench-compare: .venv/dev.stamp ## Measure the same next to the server of BEFORE, a commit (needs Go; two minutes)
	$(BIN)/python -m tests.proofs.benchmarks --before $(or $(BEFORE),HEAD~1)

bench-quick: .venv/dev.stamp ## Fail when an operation takes 10 % more instructions than it did (without Valgrind: 30 % more time)
	$(BIN)/python -m tests.proofs.benchmarks --quick

audit: audit-turns ## Attack the server next to an idle one, and fail when others notice
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m tests.proofs.audit
	KARTA_INTERPRETER_TEST_EXAMPLES=40 $(PYTEST) tests/web/types_api/test_openapi.py -k describes

audit-turns: .venv/dev.stamp ## The same attacks, shorter, for the processor time of the turns of the event loop
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m tests.proofs.audit --turns --seconds 3 --reloading 20

conformance: .venv/dev.stamp ## Compare with Karmada's own Lua, with gojq and with GitOps tools (needs Go)
	@command -v go >/dev/null || { echo "make conformance is skipped: it needs Go to fetch and build Karmada's interpreter, gojq and GitOps tools"; exit 0; }; \
	$(BIN)/python -m tests.proofs.conformance

e2e: .venv/dev.stamp ## Prove the image on a real Karmada control plane (needs Go; builds it once)
	@command -v go >/dev/null || { echo "make e2e is skipped: it needs Go to build a Karmada control plane"; exit 0; }; \
	$(BIN)/python -m tests.proofs.e2e

e2e-karmada: .venv/dev.stamp ## Run cases of Karmada's own end-to-end suite (needs Go; a quarter of an hour)
	@command -v go >/dev/null || { echo "make e2e-karmada is skipped: it needs Go to build a Karmada control plane and its suite"; exit 0; }; \
	$(BIN)/python -m tests.proofs.suite

demo: .venv/dev.stamp ## Show two workloads on a real Karmada without this server and with it (needs Go; builds it once)
	@command -v go >/dev/null || { echo "make demo needs Go to build a Karmada control plane"; exit 1; }; \
	$(BIN)/python -m tests.proofs.e2e.demo

reality: .venv/dev.stamp ## Compare our answers with what real workload controllers do (needs Go; builds them once; FROM=FOLDER: operators from source trees, too)
	@$(BIN)/python -m tests.proofs.reality
	@! command -v go >/dev/null || RUN_E2E=core EXAMPLES=100 $(PYTEST) --numprocesses 0 --capture=no tests/proofs/e2e/test_immutable.py

reality-shared: .venv/dev.stamp ## The same with the controllers that take little to build next to those of e2e
	@$(BIN)/python -m tests.proofs.reality --shared

drift: .venv/dev.stamp ## Compare newer releases of the catalogue's projects (needs Go, or FROM=FOLDER of checkouts)
	@$(BIN)/python -m tests.proofs.drift $(if $(FROM),--from "$(FROM)") $(if $(CLONE),--clone)
	@$(BIN)/python -m tests.proofs.drift.schemas --check $(if $(FROM),--from "$(FROM)")

fleet: .venv/dev.stamp ## Live through the recorded day of a fleet again, and compare (needs Go; half an hour)
	@$(BIN)/python -m tests.proofs.fleet

tools: ## Build helm and kustomize for the tests of deploy/ (needs Go)
	deploy/tools.sh

console: ## Build the page of the console into the package (needs npm)
	@command -v npm >/dev/null || { echo "make console needs npm, which is not there"; exit 1; }
	cd interpreter/console && npm ci --silent && npm run --silent check && npm run --silent build
	@echo "the page is built: karta-interpreter console [--port PORT] serves it, and docs/console.md shows how"

console-test: .venv/dev.stamp ## Try the API by generated requests, and the console in a headless Chromium (needs npm and chromium)
	KARTA_INTERPRETER_TEST_EXAMPLES=2 $(PYTEST) tests/web/types_api/test_openapi.py -k describes
	@command -v npm >/dev/null && command -v chromium >/dev/null || { echo "make console-test is skipped: the console needs npm and chromium"; exit 0; }; \
	$(MAKE) --no-print-directory console && \
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/browser.txt && \
	CONSOLE_TEST=1 $(PYTEST) -n 0 tests/web/console/browser

dist: $(CATALOGUE) ## Build the sdist, and the wheel from it, into dist/ (with the page of the console, where npm is there)
	@$(PAGE)
	rm -f dist/karta_interpreter-*
	$(BIN)/python -m hatchling build --target sdist --directory dist
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --no-index --wheel-dir dist dist/karta_interpreter-*.tar.gz

package-test: .venv/dev.stamp $(CATALOGUE) ## Test the wheel, and the package in new environments (needs a package index)
	$(BIN)/python -m tests.proofs.packages -rs

image: ## Build the image with podman, docker or buildah (BASE=debian: without a registry)
	@$(PAGE)
	deploy/image.sh

image-test: .venv/dev.stamp ## Build the image of the last commit and test it (needs root, buildah, crun and mmdebstrap)
	$(BIN)/python -m tests.proofs.image

sbom: .venv/sbom.stamp ## Write the CycloneDX SBOM of what the image installs into dist/
	mkdir -p dist
	rm -rf .venv/sbom
	$(PYTHON) -m venv --without-pip .venv/sbom
	$(BIN)/pip --quiet --disable-pip-version-check --python .venv/sbom/bin/python install --require-hashes -r requirements/run.txt
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --mc-type application --output-reproducible -o dist/karta-interpreter.cdx.json .venv/sbom/bin/python

version: .venv/run.stamp ## Set the version in all places and date its changes (VERSION=x.y.z)
	$(BIN)/python -m deploy.release version "$(VERSION)"
	$(BIN)/python -m docs.tools.generate

release-dry-run: .venv/run.stamp ## Build and verify every file of a release into dist/release; publish nothing
	$(BIN)/python -m deploy.release build

release-check: .venv/run.stamp
	$(BIN)/python -m deploy.release check --tag "$(TAG)"

release: .venv/run.stamp
	$(BIN)/python -m deploy.release build --tag "$(TAG)" --digest "$(DIGEST)"

release-push-charts release-page: .venv/run.stamp
	$(BIN)/python -m deploy.release $(@:release-%=%)

docs: .venv/docs.stamp ## Build the documentation site into build/docs; a warning or a broken link fails it
	rm -rf build/docs
	$(BIN)/python -m docs.tools.write_site
	$(SPHINX) --builder html docs build/docs
	$(BIN)/python -m docs.tools.check_site build/docs
	@mkdir -p build/docs/schema/main && cp docs/karta.schema.json build/docs/schema/main
	@for tag in $$(git tag --list 'v[0-9]*' 2>/dev/null); do \
	  mkdir -p build/docs/schema/$$tag && git show $$tag:docs/karta.schema.json > build/docs/schema/$$tag/karta.schema.json || exit 1; \
	done

docs-serve: docs ## Build the documentation site and serve it on 127.0.0.1:8000
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/docs 8000

docs-links: .venv/docs.stamp ## Check the links of the documentation to other sites (needs a network)
	@$(BIN)/python -c 'import urllib.request as r; r.urlopen("https://github.com", timeout=10)' 2>/dev/null || { echo "make docs-links is skipped: it needs a network"; exit 0; }; \
	$(BIN)/python -m docs.tools.write_site
	$(SPHINX) --builder linkcheck docs build/docs-links

pip-audit: .venv/vulnerabilities.stamp ## Look for known vulnerabilities of the locked packages (needs the data of pypi.org)
	@# Flask 0.5 has known ones: without them in the answer of the index nothing would be checked.
	@$(BIN)/python -c 'import json, urllib.request as r; json.load(r.urlopen("https://pypi.org/pypi/flask/0.5/json", timeout=20))["vulnerabilities"][0]' 2>/dev/null || { echo "make pip-audit has checked nothing: it needs the data of pypi.org about vulnerabilities"; exit 1; }
	@for lock in run build dev; do $(BIN)/pip-audit --strict --progress-spinner off --disable-pip --require-hashes --requirement requirements/$$lock.txt || exit 1; done

lock: ## Renew requirements/*.txt (needs uv)
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --all-extras pyproject.toml -o requirements/run.txt
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --group pyproject.toml:build -o requirements/build.txt
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -c requirements/run.txt --group pyproject.toml:dev -o requirements/dev.txt
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -c requirements/run.txt -c requirements/dev.txt --group pyproject.toml:docs -o requirements/docs.txt
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -c requirements/run.txt -c requirements/dev.txt --group pyproject.toml:sbom -o requirements/sbom.txt
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -c requirements/run.txt -c requirements/dev.txt -c requirements/docs.txt -c requirements/sbom.txt --group pyproject.toml:vulnerabilities -o requirements/vulnerabilities.txt
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -c requirements/dev.txt --group pyproject.toml:browser -o requirements/browser.txt

clean: ## Remove what the other commands made
	rm -rf $(CATALOGUE) .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
