# Two commands do everything on a fresh Debian or Ubuntu machine: `make run` and `make test`. What they may expect is Go, Python 3.9 or newer,
# and a network to the package indexes. The rest is installed here: system packages by apt (as root, or with sudo), Python tools into .tools.

SHELL   := /bin/bash
BIN     := bin/kernel-launch
TOOLS   := .tools
VENV    := $(TOOLS)/venv
PYTHON  ?= $(firstword $(wildcard /usr/bin/python3) python3)
SUDO    := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
GOFLAGS_BUILD := -trimpath -ldflags '-s -w'
PREFIX  ?= $(HOME)/.local
PEERS   := $(TOOLS)/bench
SMOKESCREEN := github.com/stripe/smokescreen@v0.1.0

export CGO_ENABLED ?= 0
export KERNEL_LAUNCH_TEST_PYTHON := $(CURDIR)/$(VENV)/bin/python

.PHONY: help build run test test-user vet lint bench install tools system-run system-test system-bench clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/kernel-launch, one static binary
	go build $(GOFLAGS_BUILD) -o $(BIN) ./cmd/kernel-launch

run: system-run build ## install what is missing, build, and show a confined kernel at work
	./$(BIN) demo

test: system-test tools build vet ## install what the tests need, and run all of them
	go test ./...
	testdata/as-user

vet: ## vet for every platform, and the format of the sources
	go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...
	GOOS=freebsd go vet ./...
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }

lint: ## the linters, if they are installed
	golangci-lint run

bench: system-test system-bench tools $(PEERS)/smokescreen build ## measure, as ratios in one run
	go run ./testdata/bench -launcher $(BIN) -python $(VENV)/bin/python -peers $(PEERS)

install: build ## put the binary into PREFIX/bin (~/.local)
	install -d $(PREFIX)/bin
	install -m 755 $(BIN) $(PREFIX)/bin/kernel-launch

# System packages. Each is asked for only when what it brings is not there, so that a second run needs no right at all.
apt = need=(); $(1) \
	if [ $${\#need[@]} -gt 0 ]; then \
		if ! command -v apt-get >/dev/null; then echo "missing: $${need[*]}. Install them with this system's package manager." >&2; exit 1; fi; \
		if [ -n "$(SUDO)" ] && ! command -v sudo >/dev/null; then echo "missing: $${need[*]}. As root: apt-get install $${need[*]}" >&2; exit 1; fi; \
		$(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive $(foreach v,SYSTEMD_OFFLINE RUNLEVEL,$${$(v):+$(v)=$$$(v)}) apt-get install -y -qq --no-install-recommends "$${need[@]}"; \
	fi

# What a test needs must not begin to serve a port of the machine when it is installed.
masked = ! command -v systemctl >/dev/null || $(SUDO) systemctl --quiet mask $(1)

system-run:
	@$(call apt, command -v bwrap >/dev/null || need+=(bubblewrap);)

system-test:
	@$(call apt, command -v bwrap >/dev/null || need+=(bubblewrap); \
		command -v R >/dev/null || need+=(r-base-core); \
		[ -d /usr/lib/R/site-library/IRkernel ] || R --vanilla --slave -e 'stopifnot(requireNamespace("IRkernel"))' >/dev/null 2>&1 || need+=(r-cran-irkernel); \
		$(PYTHON) -c 'import ensurepip' >/dev/null 2>&1 || need+=(python3-venv); \
		$(PYTHON) -c 'import pip' >/dev/null 2>&1 || need+=(python3-pip); \
		command -v git >/dev/null || need+=(git); \
		[ -x /usr/bin/curl ] || need+=(curl); \
		[ -x /usr/bin/wget ] || need+=(wget); \
		[ -x /usr/bin/ssh ] || need+=(openssh-client); \
		[ -x /usr/sbin/sshd ] || { need+=(openssh-server); $(call masked,ssh.service ssh.socket); }; \
		[ -x /usr/bin/gdb ] || need+=(gdb); \
		[ -x /usr/bin/node ] || need+=(nodejs); \
		compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || need+=(postgresql); \
		command -v chromium chromium-browser google-chrome >/dev/null || need+=(chromium); \
		command -v setpriv >/dev/null || need+=(util-linux);)

# Proxies to measure against. They are started by the bench, and nothing of them by the system: both variables keep a package from starting its service.
system-bench: export SYSTEMD_OFFLINE = 1
system-bench: export RUNLEVEL = 1
system-bench:
	@$(call apt, command -v tinyproxy >/dev/null || need+=(tinyproxy-bin); \
		[ -x /usr/sbin/squid ] || need+=(squid);)

$(PEERS)/smokescreen:
	mkdir -p $(PEERS)
	GOBIN=$(abspath $(PEERS)) go install $(SMOKESCREEN)

tools: $(VENV)/.ready

$(VENV)/.ready: testdata/requirements.txt
	rm -rf $(VENV)
	mkdir -p $(TOOLS)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check -r testdata/requirements.txt
	chmod -R a+rX $(TOOLS)
	touch $@

clean: ## remove what was built
	rm -rf bin $(TOOLS)
