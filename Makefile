# One Makefile for everything; nothing recursive. Modes build side by side in build/MODE:
#
#   make                      the binary, build/release/dibs
#   make test [MODE=asan]     all tests; make test SUITES="cli test_step": these suites only
#   make bench                how fast it is, alone and beside its peers
#   make MODE=debug|asan|tsan|cover (and calls, for bench/calls)
#   make coverage             how much of the service the tests run; make docs/coverage.md: the same as a document
#   make lab                  the laboratory alone, build/release/dibs-lab, without the libraries of the service
#   make page                 the laboratory as one web page, build/release/dibs-lab.html
#   make fmt                  format the sources as .clang-format says

MODE ?= release
B := build/$(MODE)
VERSION := 0.2.0
ABI := 0# of the client library

CC ?= cc
CFLAGS_release := -O2 -g -DDIBS_ENDS_AT_ONCE# other modes report at their end what they have found
CFLAGS_debug := -O0 -g3 -DDIBS_CHECKED
CFLAGS_asan := -O1 -g1 -DDIBS_CHECKED -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_tsan := -O1 -g1 -fsanitize=thread
CFLAGS_cover := -O0 -g1 --coverage
CFLAGS_calls := -O1 -g1 -finstrument-functions -finstrument-functions-exclude-file-list=.h,calls.c
ifeq ($(CFLAGS_$(MODE)),)
$(error MODE=$(MODE) is not one of release, debug, asan, tsan, cover, calls)
endif

WERROR ?= -Werror
WARN := -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla
# The pure directories: no padding, so that bytes can be compared and hashed; no silent conversions.
PURE_WARN := -Wpadded -Wconversion $(if $(findstring clang,$(CC)),-Wno-string-conversion) # clang: assert(!"never")
CPPFLAGS := -Isrc -Iinclude -D_GNU_SOURCE -DDIBS_VERSION='"$(VERSION)"' $(EXTRA_CPPFLAGS)
CFLAGS := -std=c11 $(CFLAGS_$(MODE)) $(WARN) $(EXTRA_CFLAGS)
LDFLAGS := $(CFLAGS_$(MODE)) -pthread $(EXTRA_LDFLAGS)
LDLIBS := -lm -luv -lraft
# ./run unpacks libraft 0.15 here if the system has another one.
LIBRAFT := $(wildcard build/libraft/usr/lib/*/libraft.a)
ifneq ($(LIBRAFT),)
    CPPFLAGS += -isystem build/libraft/usr/include
    LDLIBS := $(LIBRAFT) -luv -lm
endif
# dibs itself has libuv and libraft in it, where their archives are installed: `dibs lock` would spend a tenth of its time on
# loading them. (libraft may be linked so: its licence has an exception for that.)
# libm is loaded when it is needed (src/cli/late_math.c), unless the compiler calls more functions of it than that file has. All symbols of
# the C library are bound when the program begins: else its guard, a copy of it, would bind its own again.
archive = $(firstword $(filter /%,$(foreach name,$(1),$(shell $(CC) -print-file-name=$(name)))) $(2))
DIBS_LDLIBS := $(or $(LIBRAFT),$(call archive,libraft.a,-lraft)) $(call archive,libuv_a.a libuv.a,-luv) \
    -Wl,--push-state,--as-needed -lc -lm -Wl,--pop-state

PURE := $(wildcard src/core/*.c src/alg/*.c)
BASE := $(wildcard src/base/*.c)
LAB := $(BASE) $(wildcard src/lab/*.c src/sim/*.c src/check/*.c src/paper/*.c)
NODE := $(wildcard $(patsubst %,src/%/*.c,link member model lock protocol rights relay node command step soak wrap))
SERVICE := $(wildcard src/serve/*.c src/tls/*.c)
CLIENT := $(wildcard src/client/*.c src/tls/*.c)
CLI := $(filter-out src/cli/main.c src/cli/late_math.c,$(wildcard src/cli/*.c))
# What of it runs in a web page: no threads, no mmap, no terminal.
PAGE := $(filter-out src/base/pool.c src/base/slab.c src/check/parallel.c src/check/fingerprint.c src/check/prints.c src/check/view.c \
    src/paper/%,$(PURE) $(LAB)) $(wildcard src/page/*.c) \
    $(patsubst %,src/cli/%.c,args conf help json report spec spec_columns check_spec check_report cmd_sim cmd_list cmd_explain)
TESTS := $(wildcard tests/test_*.c)
FUZZERS := $(filter-out tests/fuzz_driver.c,$(wildcard tests/fuzz_*.c))

obj = $(patsubst %.c,$(B)/%.o,$(1))

PAGE_SOURCES := $(filter-out %.c %.h,$(wildcard src/page/*)) $(wildcard tests/scenario/*.txt) docs/verified.md

.PHONY: FORCE all lab page test nightly purity fuzz clang coverage bench bench-short extra fmt clean \
    install install-program install-lab install-service install-library install-dev uninstall
all: $(B)/dibs $(B)/libdibs.a $(B)/libdibs.so.$(ABI)

# What `dibs lock` runs comes first: so it is in a few pages, side by side, and the system maps several of them at once.
FIRST := $(patsubst %,src/cli/%.c,main args cmd_lock lock_names lock_wait lock_job lock_tree cmd_ask commands) \
    $(wildcard src/wrap/*.c src/client/*.c) src/base/plain.c src/base/memory.c
$(B)/dibs: $(call obj,$(FIRST) $(sort $(filter-out $(FIRST),$(if $(filter release,$(MODE)),src/cli/late_math.c) $(CLI) $(LAB) $(NODE) $(SERVICE) $(CLIENT)))) $(B)/libdme.a
	$(CC) $(LDFLAGS) -Wl,-z,now -o $@ $^ $(DIBS_LDLIBS)

# The pure part, alone: what the checker checks, the simulator counts and the service runs.
$(B)/libdme.a: $(call obj,$(PURE))
	rm -f $@
	$(AR) rcs $@ $^

# The client library, alone: nothing of the rest is in it but TLS, and nothing but what include/dibs.h declares can be
# called, even in the archive: its other names may be those of a program's own functions.
$(B)/libdibs.a: $(call obj,$(CLIENT))
	rm -f $@
	$(LD) -r -o $(B)/libdibs.o $^
	objcopy --localize-hidden $(B)/libdibs.o
	$(AR) rcs $@ $(B)/libdibs.o

$(B)/libdibs.so.$(ABI): $(call obj,$(CLIENT))
	$(CC) $(LDFLAGS) -shared -Wl,-soname,libdibs.so.$(ABI) $(if $(filter asan tsan,$(MODE)),,-Wl,-z,defs) -o $@ $^

$(call obj,$(CLIENT)): CFLAGS += -fPIC -fvisibility=hidden
$(call obj,$(PURE)): CFLAGS += $(PURE_WARN)
$(call obj,$(LAB) $(CLI) src/cli/main.c): CFLAGS += -pthread

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The commit, its date and the version of libraft are in "dibs --version". A copy without history has them in the file .commit, or the
# changelog's date.
COMMIT := $(shell if [ -e .git ]; then git rev-parse --short=12 HEAD; else cut -d ' ' -f 1 .commit; fi 2>/dev/null)
DATE := $(or $(shell if [ -e .git ]; then git log -1 --format=%cs; else cut -d ' ' -f 2 .commit; fi 2>/dev/null),$(shell sed -n 's/^\#\# [0-9.]* (\([0-9-]*\)).*/\1/p' CHANGELOG.md | head -1))
RAFT := $(if $(LIBRAFT),$(shell sed -n 's/^Version: //p' $(dir $(LIBRAFT))pkgconfig/raft.pc),$(shell pkg-config --modversion raft 2>/dev/null))
BUILD_FLAGS := $(if $(COMMIT),-DDIBS_COMMIT='" (commit $(COMMIT))"') $(if $(DATE),-DDIBS_DATE='"$(DATE)"') $(if $(RAFT),-DDIBS_RAFT='"$(RAFT)"')
$(call obj,src/cli/version.c): CPPFLAGS += $(BUILD_FLAGS)
$(call obj,src/cli/version.c): $(B)/build-flags
$(B)/build-flags: FORCE
	@mkdir -p $(@D)
	@echo "$(COMMIT) $(DATE) $(RAFT)" | cmp -s - $@ || echo "$(COMMIT) $(DATE) $(RAFT)" >$@

# The laboratory alone: no daemon, no client, so neither libuv nor libraft nor OpenSSL nor libmicrohttpd.
LAB_SPECIAL := $(patsubst %,src/cli/%.c,commands cmd_help man version complete cmd_demo)
LAB_SOURCES := src/cli/main.c $(LAB) $(PURE) $(wildcard src/model/*.c) $(patsubst %,src/member/%.c,promise next owner plan settings view) src/serve/page.c \
    $(filter-out $(LAB_SPECIAL) src/cli/lock_% src/cli/demo_service.c $(shell grep -lE '"(ask|lock|top)\.h"|"(soak|rights|wrap|tls)/|serve/conf' src/cli/*.c),$(CLI))
lab: $(B)/dibs-lab
$(B)/dibs-lab: $(call obj,$(sort $(LAB_SOURCES))) $(patsubst %.c,$(B)/lab-only/%.o,$(LAB_SPECIAL))
	$(CC) $(LDFLAGS) -o $@ $^ -lm
$(B)/lab-only/%.o: %.c $(B)/build-flags
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(BUILD_FLAGS) -DDIBS_LAB_ONLY $(CFLAGS) -pthread -MMD -MP -c -o $@ $<

# The laboratory for a web page: the pure part, the world, the checker and the simulator as one WebAssembly module, made by
# Debian's clang, lld and wasi-libc (./run page installs them), and the page itself, a single file with the module in it.
WASM := build/wasm
WASM_CC := clang --target=wasm32-wasi
WASM_CFLAGS := -std=c11 -O2 -g0 -D_WASI_EMULATED_SIGNAL $(WARN) \
    $(foreach name,parallel_search fingerprint_search progress_begin progress_set progress_end colour_of colour_end,-D$(name)=page_$(name)) \
    $(foreach name,read_file write_file check_output picture_format check_picture write_picture,-Dcli_$(name)=page_$(name))
page: build/release/dibs-lab.html
build/release/dibs-lab.html: $(WASM)/dibs.wasm $(PAGE_SOURCES)
	@mkdir -p $(@D)
	src/page/build $(WASM)/dibs.wasm $(VERSION) $@
$(WASM)/dibs.wasm: $(patsubst %.c,$(WASM)/%.o,$(PAGE))
	$(WASM_CC) -mexec-model=reactor -Wl,--strip-all,-z,stack-size=1048576 -o $@ $^ -lwasi-emulated-signal -lm
$(WASM)/%.o: %.c
	@mkdir -p $(@D)
	$(WASM_CC) $(CPPFLAGS) $(WASM_CFLAGS) -MMD -MP -c -o $@ $<

# ------------------------------------------------------------------------------------------------------------- tests

TEST_BINS := $(patsubst tests/%.c,$(B)/tests/%,$(TESTS) $(FUZZERS))
# Of the suites to run, those that have to be built: test_NAME and fuzz_NAME, or NAME for short.
SUITES :=
SUITE_BINS := $(if $(SUITES),$(filter $(foreach name,$(SUITES),$(addprefix $(B)/tests/,$(name) test_$(name) fuzz_$(name))),$(TEST_BINS)),$(TEST_BINS))
TEST_TOOLS := $(B)/bench/growth $(addprefix $(B)/tests/,cutter shorten_validity send_port idle_client chaos_client) # which the scripts start

# All but the pure part and main.c, as names of objects: a test is linked with what it needs of it. There are more than a hundred tests, so lld
# links them where it is installed.
$(B)/parts.a: $(call obj,$(sort $(LAB) $(NODE) $(SERVICE) $(CLI) $(CLIENT)))
	rm -f $@
	$(AR) rcsT $@ $^
QUICK := $(if $(shell command -v ld.lld),-fuse-ld=lld)

$(B)/tests/fuzz_%: $(B)/tests/fuzz_%.o $(B)/tests/fuzz_driver.o $(B)/parts.a $(B)/libdme.a
	$(CC) $(LDFLAGS) $(QUICK) -o $@ $^ $(LDLIBS)

$(B)/tests/%: $(B)/tests/%.o $(B)/parts.a $(B)/libdme.a
	$(CC) $(LDFLAGS) $(QUICK) -o $@ $^ $(LDLIBS) -lcmocka

test: all $(B)/parts.a $(SUITE_BINS) $(TEST_TOOLS)
	LDLIBS="$(LDLIBS)" tests/run $(MODE) $(SUITES)

.SECONDARY: # keep the objects of tests

# The same fuzz targets under libFuzzer, which follows coverage: build/fuzz/fuzz_wire -max_total_time=60. No target reaches the folders that are
# left out.
FUZZ := -std=c11 -gline-tables-only -O1 -fsanitize=address,undefined -fno-sanitize-recover=all $(WARN)
FUZZED := $(filter-out $(patsubst %,src/%/%,check model paper sim soak wrap),$(sort $(PURE) $(LAB) $(NODE) $(SERVICE) $(CLIENT)))
fuzz: $(patsubst tests/%.c,build/fuzz/%,$(FUZZERS))
build/fuzz/parts.a: $(patsubst %.c,build/fuzz/%.o,$(FUZZED))
	rm -f $@
	$(AR) rcsT $@ $^
build/fuzz/fuzz_%: build/fuzz/tests/fuzz_%.o build/fuzz/parts.a
	clang $(FUZZ) -fsanitize=fuzzer $(QUICK) -o $@ $^ $(LDLIBS)
build/fuzz/%.o: %.c
	@mkdir -p $(@D)
	clang $(CPPFLAGS) $(FUZZ) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

# What clang warns of in the files that tests/extra does not compile by it anyway, in the fuzzers and in the laboratory.
CLANG_REST := $(filter-out $(FUZZED) $(LAB_SOURCES),$(sort src/cli/main.c src/cli/late_math.c $(CLI) $(LAB) $(NODE) $(SERVICE) $(CLIENT)))
clang: $(patsubst %.c,build/clang/%.ok,$(CLANG_REST))
build/clang/%.ok: %.c
	@mkdir -p $(@D)
	clang $(CPPFLAGS) $(BUILD_FLAGS) -std=c11 $(WARN) -fsyntax-only -MMD -MP -MF $(@:.ok=.d) -MT $@ $<
	@touch $@

# What CI looks at beside the tests: clang, thread sanitizer, libFuzzer, the benches.
extra:
	tests/extra

# What takes too long for every change.
nightly: all $(B)/parts.a $(TEST_BINS) $(TEST_TOOLS)
	LDLIBS="$(LDLIBS)" tests/nightly $(SUITES)

# How much of the service its tests run, as a table; and docs/coverage.md, which also has the branches of the algorithms that
# no checked run takes.
coverage:
	tests/coverage
docs/coverage.md: FORCE
	docs/make-coverage >$@.new
	mv $@.new $@
FORCE:

# How fast the checker, the simulator and the service are on this machine, and how much the service remembers; the
# service also beside others of its kind.
$(B)/bench/memory $(B)/bench/growth $(B)/bench/crowd: $(B)/bench/%: $(B)/bench/%.o $(call obj,$(LAB) $(NODE) $(CLIENT)) $(B)/libdme.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The service without its drivers: bench/calls counts its functions.
STEP := $(BASE) $(wildcard $(patsubst %,src/%/*.c,link member lock protocol rights node command step))
$(B)/bench/calls: $(B)/bench/calls.o $(call obj,$(STEP)) $(B)/libdme.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

MAKERS := $(call obj,$(wildcard bench/maker*.c)) $(B)/libdibs.a
RIVALS := $(patsubst %,$(B)/bench/%,contend death spawn pipeline bare)
$(RIVALS): $(B)/bench/%: $(B)/bench/%.o $(MAKERS)
	$(CC) $(LDFLAGS) -o $@ $^ -lpq
$(B)/bench/maker_postgres.o: CPPFLAGS += -I/usr/include/postgresql

bench: $(B)/dibs $(B)/bench/memory $(B)/bench/growth $(B)/bench/crowd $(RIVALS)
	tests/bench $(B)/dibs
	bench/check $(B)/dibs
	bench/threads $(B)/dibs
	bench/sim $(B)/dibs
	$(B)/bench/memory 100000
	$(B)/bench/growth
	$(B)/bench/crowd
	bench/service $(B)/dibs
	bench/calls
	$(B)/dibs soak --members 5 --seeds 50 --seconds 60
	bench/views $(B)/dibs
	bench/failures $(B)/dibs
	bench/restart $(B)/dibs
	bench/agents $(B)/dibs
	bench/peers $(B)

# Every bench for a moment, so that none of them rots. SPIN, SimGrid and the peers are not needed for that.
bench-short: $(B)/dibs $(B)/bench/memory $(RIVALS)
	SHORT=1 tests/bench $(B)/dibs
	command -v spin >/dev/null && SHORT=1 bench/check $(B)/dibs || echo "bench/check: SPIN is not installed: left out"
	SHORT=1 bench/threads $(B)/dibs
	SHORT=1 bench/sim $(B)/dibs
	$(B)/bench/memory 2000
	SHORT=1 bench/service $(B)/dibs
	bench/calls
	bench/views $(B)/dibs 2000
	bench/compare 1 $(B) $(B)
	KILLS=1 CUTS=1 bench/failures $(B)/dibs
	bench/restart $(B)/dibs 1
	SHORT=1 bench/agents $(B)/dibs 3
	SHORT=1 bench/peers $(B)

# The pure library may call nothing but these, and may own no variable.
purity: $(B)/libdme.a
	tests/purity $(B)/libdme.a

fmt:
	clang-format -i $(shell git ls-files '*.c' '*.h')

# ----------------------------------------------------------------------------------------------------------- installing

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
SYSCONFDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),,$(PREFIX))/etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
D = $(DESTDIR)$(PREFIX)
ifneq ($(words $(D)),1)
$(error DESTDIR and PREFIX have no spaces: "$(D)")
endif

# The parts are those of the Debian packages: program, service, library, and what programs are compiled with. install-lab installs the
# laboratory alone, under the same name: all documents say "dibs check", and the whole program has all of it.
install: install-program install-service install-library install-dev

install-program: PROGRAM := dibs
install-program: all
install-lab: PROGRAM := dibs-lab
install-lab: lab
install-program install-lab:
	install -D -m 755 $(B)/$(PROGRAM) $(D)/bin/dibs
	[ ! -e $(B)/dibs-lab.html ] || install -D -m 644 $(B)/dibs-lab.html $(D)/share/dibs/dibs-lab.html
	pages=$$(mktemp -d) && docs/make-man "$(CURDIR)/$(B)/$(PROGRAM)" "$$pages" && for section in 1 5 7; do \
	    for page in "$$pages"/*.$$section; do [ ! -e "$$page" ] || install -D -m 644 -t $(D)/share/man/man$$section "$$page" || exit 1; done; \
	done && rm -rf "$$pages"
	mkdir -p $(D)/share/bash-completion/completions $(DESTDIR)$(ZSHDIR) $(D)/share/fish/vendor_completions.d
	$(B)/$(PROGRAM) completion bash >$(D)/share/bash-completion/completions/dibs
	$(B)/$(PROGRAM) completion zsh >$(DESTDIR)$(ZSHDIR)/_dibs
	$(B)/$(PROGRAM) completion fish >$(D)/share/fish/vendor_completions.d/dibs.fish
	install -D -m 644 -t $(D)/share/doc/$(PROGRAM)/examples/scenario tests/scenario/*.txt
	[ $(PROGRAM) = dibs-lab ] || install -D -m 644 -t $(D)/share/doc/dibs/examples examples/dibs.conf examples/dibs.rules.yml examples/grafana.json
	[ $(PROGRAM) = dibs-lab ] || install -D -m 644 -t $(D)/share/dibs/schemas docs/schemas/*.json
	install -D -m 644 -t $(D)/share/doc/$(PROGRAM)/docs docs/*.md
	install -D -m 644 -t $(D)/share/doc/$(PROGRAM) README.md SECURITY.md CHANGELOG.md

install-service:
	mkdir -p $(DESTDIR)$(UNITDIR)
	sed 's|@BINDIR@|$(PREFIX)/bin|; s|@SYSCONFDIR@|$(SYSCONFDIR)|' packaging/dibs.service.in >$(DESTDIR)$(UNITDIR)/dibs.service
	install -D -m 644 packaging/dibs.sysusers $(D)/lib/sysusers.d/dibs.conf
	install -D -m 644 packaging/dibs.tmpfiles $(D)/lib/tmpfiles.d/dibs.conf
	[ -e $(DESTDIR)$(SYSCONFDIR)/dibs/dibs.conf ] || install -D -m 644 packaging/dibs.conf $(DESTDIR)$(SYSCONFDIR)/dibs/dibs.conf

install-library: all
	install -D -m 755 $(B)/libdibs.so.$(ABI) $(DESTDIR)$(LIBDIR)/libdibs.so.$(VERSION)
	ln -sf libdibs.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libdibs.so.$(ABI)
	@# Without this, programs do not find a library that is new in /usr/local/lib.
	[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || PATH="$$PATH:/usr/sbin:/sbin" ldconfig

install-dev: all
	install -D -m 644 include/dibs.h $(D)/include/dibs.h
	install -D -m 644 $(B)/libdibs.a $(DESTDIR)$(LIBDIR)/libdibs.a
	ln -sf libdibs.so.$(ABI) $(DESTDIR)$(LIBDIR)/libdibs.so
	mkdir -p $(DESTDIR)$(LIBDIR)/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' src/client/dibs.pc.in \
	    >$(DESTDIR)$(LIBDIR)/pkgconfig/dibs.pc
	pages=$$(mktemp -d) && docs/make-man "$(CURDIR)/$(B)/dibs" "$$pages" && install -D -m 644 -t $(D)/share/man/man3 "$$pages/libdibs.3" && rm -rf "$$pages"
	install -D -m 644 -t $(D)/share/doc/libdibs-dev/examples examples/counter.c examples/loop.c examples/fenced.c

# Removes what "make install" with the same variables installs, and leaves a configuration that was changed.
uninstall: all
	files=$$(mktemp -d) && $(MAKE) -s --no-print-directory install DESTDIR="$$files" && (cd "$$files" && find . ! -type d ! -path '.$(SYSCONFDIR)/*') | \
	    while read -r file; do rm -f "$(DESTDIR)$${file#.}"; done && rm -rf "$$files"
	rm -rf $(D)/share/dibs $(D)/share/doc/dibs $(D)/share/doc/libdibs-dev
	config=$(DESTDIR)$(SYSCONFDIR)/dibs/dibs.conf; [ ! -e "$$config" ] || if cmp -s "$$config" packaging/dibs.conf; then \
	    rm "$$config" && rmdir --ignore-fail-on-non-empty "$${config%/*}"; else echo "$$config is left, since it was changed" >&2; fi

clean:
	rm -rf build

-include $(shell find $(B) build/fuzz build/clang $(WASM) -name '*.d' 2>/dev/null)
