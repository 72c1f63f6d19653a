# Two commands set everything up: `make demo` and `make test`.

CARGO  ?= cargo
PYTHON ?= python3
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: demo test z3 bench bench-tlc lint peers conformance clean

# Gets Z3, builds, proves the shipped policies, runs their tests, shows a deadlock, and guards a session over stdio: the lines
# it ends with are the gateway's own.
demo: z3
	$(CARGO) build --release
	@echo; echo "== the shipped policies"
	$(TARGET)/release/praxiom check policies/*/policy.yaml
	$(TARGET)/release/praxiom test policies
	@echo; echo "== a policy that locks itself up: found before it runs (the error is what is shown)"
	@! $(TARGET)/release/praxiom check policies/demo/locked.yaml
	@echo; echo "== a session through the gateway: once a secret has been read, nothing leaves any more"
	@$(PYTHON) policies/demo/session.py $(TARGET)/release/praxiom

test: z3 lint peers
	@$(CARGO) run --quiet -- --version
	$(CARGO) test --quiet

lint: z3
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets -- -D warnings
	$(CARGO) check --quiet --no-default-features
	$(CARGO) check --quiet --no-default-features --features gateway

# The real servers and clients that tests talk to, in .peers: never fails, a test says what it lacks.
peers:
	@$(PYTHON) tests/peers/setup.py

# The MCP conformance suite through the gateway, the fixture of tests/conformance behind it.
conformance: z3 peers
	$(CARGO) build --quiet
	@$(PYTHON) tests/conformance/run.py $(TARGET)/debug/praxiom

bench: z3
	$(CARGO) bench

# TLC explores the same models: equal counts, and how much faster we are. Needs Java.
bench-tlc: z3
	$(CARGO) build --release
	@$(PYTHON) benches/tlc.py $(TARGET)/release/praxiom

# A system's Z3 is named by its own version, not by the wheel's of `.cargo/config.toml`.
ifneq ($(wildcard .z3/system),)
export Z3_SYS_Z3_VERSION := $(shell cat .z3/system)
endif

# Z3 comes out of the z3-solver wheel: the systems in use ship one that is too old. A newer one that
# pkg-config knows is used instead.
Z3_MINIMUM := 4.13.3
z3: .z3/lib/.ready

.z3/lib/.ready: .ci/z3-solver.txt
	@rm -rf .z3 && mkdir -p .z3/lib
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || pkg-config --atleast-version=$(Z3_MINIMUM) z3 2>/dev/null || \
	    { echo "z3: $(PYTHON) has no pip: install it (Debian: apt-get install python3-pip)"; exit 1; }
	@if pkg-config --atleast-version=$(Z3_MINIMUM) z3 2>/dev/null; then \
	    echo "z3: using the system's $$(pkg-config --modversion z3)"; \
	    ln -s "$$(pkg-config --variable=libdir z3)"/libz3.* .z3/lib/; \
	    pkg-config --modversion z3 > .z3/system; \
	else \
	    echo "z3: fetching the z3-solver wheel"; \
	    $(PYTHON) -m pip download --quiet --no-deps --only-binary=:all: --require-hashes -r .ci/z3-solver.txt -d .z3 && \
	    $(PYTHON) -c 'import glob, zipfile; w = zipfile.ZipFile(glob.glob(".z3/*.whl")[0]); [open(".z3/lib/" + n.rsplit("/", 1)[1], "wb").write(w.read(n)) for n in w.namelist() if n.startswith("z3/lib/libz3.")]' && \
	    rm -f .z3/*.whl; \
	fi
	@touch $@

clean:
	$(CARGO) clean
	rm -rf .z3 .peers
