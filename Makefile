# The front door. Meson builds; tools/ holds what the targets do.
.DEFAULT_GOAL := help
.PHONY: help demo build deps run-deps check test soak bench bless receipts fuzz wasm docs install uninstall clean
PREFIX ?= /usr/local
DESTDIR ?=
# Seconds a fuzz target runs in `make fuzz` and in `make soak`.
FUZZ_SECONDS ?= 600

help:
	@echo 'make demo      install what is missing, build, and run the main job: examples/despike.json'
	@echo 'make test      every test: minutes, software GPU, sanitizers, wasm, docs, fuzz corpora'
	@echo 'make check     what takes seconds and needs no GPU: layers, formats, unit tests'
	@echo 'make build     build/cli/gradus'
	@echo 'make soak      hours: the fault sweep and long fuzzing'
	@echo 'make bench     ratios against plain C, a bare GPU loop and SciPy'
	@echo 'make bless     rewrite the goldens; the diff is the review'
	@echo 'make receipts  conform every op whose receipt does not hold on this adapter'
	@echo 'make fuzz      fuzz every target for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo 'make wasm      the core for wasm32-wasi, in build-wasm/'
	@echo 'make docs      regenerate the generated pages of docs/'
	@echo 'make install   to DESTDIR and PREFIX=$(PREFIX)'
	@echo 'make uninstall what the last make install installed, nothing else'
	@echo 'make clean     remove what was built'

deps:
	@tools/install-deps

run-deps:
	@tools/install-deps --run

build: run-deps
	@tools/build

demo: run-deps
	@tools/build cli/gradus
	build/cli/gradus run examples/despike.json

check: deps
	@tools/run-tests --check

test: deps
	@tools/run-tests

soak: deps
	@tools/run-tests soak
	@tools/fuzz --seconds $(FUZZ_SECONDS)

bench: deps
	@tools/build
	meson test -C build --benchmark --verbose

bless: deps
	@tools/build
	GRADUS_BLESS=1 meson test -C build
	GRADUS_BLESS=1 python3 tests/cli/test.py
	@tools/gen-docs
	@git --no-pager diff --stat

receipts: run-deps
	@tools/build cli/gradus
	@tools/receipts

fuzz: deps
	@tools/fuzz --seconds $(FUZZ_SECONDS)

wasm: deps
	@tools/build-wasm

docs: deps
	@tools/gen-docs

install: run-deps
	@tools/build cli/gradus
	DESTDIR='$(DESTDIR)' meson install -C build --no-rebuild --quiet
	@echo "installed gradus, its catalog and man page under $(DESTDIR)$(PREFIX)"

uninstall:
	@ninja -C build uninstall

clean:
	rm -rf build build-asan build-fuzz build-wasm out
