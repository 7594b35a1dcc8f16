# Entry point for all tasks; CMake does the work. `make help` lists the targets.

PRESET ?= dev
PREFIX ?= /usr/local
ARCH ?= $(shell uname -m)
# One more than there are cores: scripts wait for the disk, for servers and for each other a third of their time.
JOBS ?= $(shell expr $$(nproc) + 1)
SCOPE ?= all
SECONDS ?= 600
# ccache is used if installed; it is optional.
export CMAKE_CXX_COMPILER_LAUNCHER ?= $(shell command -v ccache)
# Leaks are errors too; reports need a stack.
export ASAN_OPTIONS ?= detect_leaks=1
export UBSAN_OPTIONS ?= print_stacktrace=1

all: release ## build the static program, build/wheelsmith

help:
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 24

# Always run: ninja knows better than make what is out of date. Copied only when changed, so that its time stamp is
# meaningful.
release:
	@scripts/setup.sh build
	@scripts/configure.sh release
	@cmake --build build/release --target wheelsmith
	@cmp -s build/release/bin/wheelsmith build/wheelsmith || cp build/release/bin/wheelsmith build/wheelsmith

# The dev preset's program is also static, so tests that need a static program use it. The release program is not built
# here, because both do not fit into CI's time limit.
test: ## run unit tests, end-to-end scripts and the fuzz corpus; PRESET=dev|asan|tsan, SCOPE=all|scripts
	$(if $(filter-out all scripts,$(SCOPE)),$(error SCOPE is $(SCOPE); use all or scripts))
	@scripts/setup.sh test
	@scripts/tools.sh
	@scripts/configure.sh $(PRESET)
	@cmake --build build/$(PRESET) $(if $(filter scripts,$(SCOPE)),--target wheelsmith)
	@ctest --test-dir build/$(PRESET) --output-on-failure --no-tests=error -j $(JOBS) $(if $(filter scripts,$(SCOPE)),-R '^(e2e|source)\.')

demo: ## take the tour: build, inspect, check, install and run an example package
	@scripts/setup.sh demo
	@$(MAKE) --no-print-directory release
	@scripts/demo.sh

bench: ## compare speed with auditwheel, libdeflate, cuobjdump, pip, uv and ccache; WHEELS=folder of wheels
	@scripts/setup.sh bench
	@scripts/tools.sh
	@$(MAKE) --no-print-directory release
	@cmake --build build/release --target inflate_elf install_wheel
	@python3 bench/run.py
	@python3 bench/build.py
	@python3 bench/diagnose.py
	@python3 bench/index.py
	@python3 bench/cache.py
	@python3 bench/rocm_package.py
	@python3 bench/reuse.py

proof: ## compare results with other tools on many wheels from the package index; WHEELS=folder of wheels
	@scripts/setup.sh proof cross-aarch64
	@scripts/tools.sh
	@$(MAKE) --no-print-directory release
	@scripts/proof.sh

proof-flash: ## build flash-attn for CUDA, interrupted twice, and 12 of its units under the governor; 3 hours on 2 cores
	@scripts/setup.sh proof
	@scripts/tools.sh
	@$(MAKE) --no-print-directory release
	@WHEELS=none scripts/proof.sh flash_cuda governor_flash

fuzz: ## fuzz each target for SECONDS=600; TARGETS="zip elf"; adds findings to fuzz/corpus
	@scripts/setup.sh fuzz
	@scripts/configure.sh fuzz
	@cmake --build build/fuzz
	@SECONDS_EACH=$(SECONDS) scripts/fuzz.sh $(TARGETS)

# The release program for this machine's architecture; a cross build with its own preset for another one.
ifeq ($(ARCH),$(shell uname -m))
dist: ## package the program in build/dist: wheel, Debian package, tarball, SBOM, checksums; ARCH=x86_64|aarch64
	@scripts/setup.sh dist
	@$(MAKE) --no-print-directory release
	@scripts/dist.sh build/wheelsmith build/dist $(ARCH)
else
dist: cross
	@scripts/dist.sh build/release-$(ARCH)/bin/wheelsmith build/dist $(ARCH)
endif

cross:
	@scripts/setup.sh dist cross-$(ARCH)
	@scripts/sysroot.sh $(ARCH) build/sysroot-$(ARCH)
	@scripts/configure.sh release-$(ARCH)
	@cmake --build build/release-$(ARCH) --target wheelsmith

docs: ## the documentation as a site in build/docs: static pages with search, readable offline
	@scripts/setup.sh docs
	@$(MAKE) --no-print-directory release
	@scripts/docs.py build/docs --program build/wheelsmith --picture

sources = $(shell find src fuzz bench tests -name '*.cc' -o -name '*.h')

format: ## run clang-format on all sources
	@scripts/setup.sh format
	@clang-format-19 -i $(sources)

format-check: ## fail if `make format` would change a file
	@scripts/setup.sh format
	@clang-format-19 --dry-run -Werror $(sources)

# The command for each source by itself, without precompiled headers. Nothing is built there.
one_by_one = cmake --preset dev -B build/sources -D WHEELSMITH_UNITY=OFF -D WHEELSMITH_PRECOMPILED=OFF \
  -D CMAKE_CXX_COMPILER_LAUNCHER= --log-level=WARNING >build/sources.log || { cat build/sources.log; exit 1; }

tidy: ## run clang-tidy on all sources
	@scripts/setup.sh test format
	@mkdir -p build && $(one_by_one)
	@run-clang-tidy-19 -quiet -p build/sources "$(CURDIR)/src/.*\.cc"

check-sources: ## compile each source separately to find missing includes; FILES=src/zip
	@scripts/setup.sh test
	@mkdir -p build && $(one_by_one)
	@scripts/check_sources.py build/sources $(FILES)

share = $(DESTDIR)$(PREFIX)/share

install: release ## install the program; PREFIX=/usr/local, DESTDIR
	install -D -m 755 build/wheelsmith $(DESTDIR)$(PREFIX)/bin/wheelsmith
	install -D -m 644 -t $(share)/doc/wheelsmith LICENSE README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md
	for page in $$(find docs -name '*.md' -o -name '*.svg'); do install -D -m 644 $$page $(share)/doc/wheelsmith/$$page; done
	build/wheelsmith man $(share)/man/man1
	build/wheelsmith completion bash | install -D -m 644 /dev/stdin $(share)/bash-completion/completions/wheelsmith
	build/wheelsmith completion zsh | install -D -m 644 /dev/stdin $(share)/zsh/site-functions/_wheelsmith
	build/wheelsmith completion fish | install -D -m 644 /dev/stdin $(share)/fish/vendor_completions.d/wheelsmith.fish

clean: ## remove build/
	rm -rf build

.PHONY: all help release test demo bench proof proof-flash fuzz dist cross docs format format-check tidy check-sources install clean
