# The two main commands are `make demo` and `make test`. Both install what they need.

.PHONY: demo demo-webrtc pictures build engine libraries wheels check test lint format docs bench bench-live samples schemas \
  site tarball release check-release check-players check-slow fuzz check-arm check-debian13 check-newest-ffmpeg check-deb check-scale install uninstall deb clean \
  install-libraries

export UPRIGHT_SHARED ?= $(abspath ../shared)
export PREFIX ?= /usr/local
export SYSCONFDIR ?= /etc
export STATEDIR ?= /var/lib/upright
export LIBDIR ?= $(PREFIX)/lib
export DESTDIR

# The engine alone: neither the live service nor what it needs is compiled.
demo:
	@Scripts/setup.sh demo
	@echo "demo: building the engine: about 4 minutes on two cores, seconds if it is built"
	@Scripts/build.sh upright
	@Scripts/demo.sh

# A link that publishes from a phone's browser, through Janus. Ctrl-C ends it. See Samples/live/README.md.
demo-webrtc:
	@Scripts/setup.sh live
	@$(MAKE) --no-print-directory build
	@UPRIGHT=.build/release/upright Samples/live/webrtc/run.sh

# The README's pictures: the sheet and the console.
pictures:
	@Scripts/setup.sh test
	@$(MAKE) --no-print-directory build
	@Scripts/pictures.sh

# Both programs, in .build/release: upright, and beside it upright-serve, which `upright serve` becomes.
build: engine
	@Scripts/setup.sh --say service
	@Scripts/build.sh serve

# The program upright alone.
engine:
	@Scripts/setup.sh --say build
	@Scripts/build.sh upright

# libupright and libuprightpolicy with their header, in .build/release/lib. See Scripts/libraries.sh. With POLICY=1, the
# latter alone, which needs no FFmpeg.
libraries:
	@[ -n "$(POLICY)" ] || Scripts/setup.sh --say build
	@POLICY=$(POLICY) Scripts/libraries.sh

# Installs them, and nothing else: neither the command line nor the service is built.
install-libraries: libraries
	@Scripts/install.sh libraries

# The Python wheels, in .build/wheels. See Scripts/wheels.sh.
wheels:
	@Scripts/setup.sh --say build
	@Scripts/wheels.sh

# The development loop: lint, and all tests that need no browser, no server and no real time.
check:
	@Scripts/setup.sh --say check
	@Scripts/lint.sh
	@Scripts/test.sh check

test:
	@Scripts/setup.sh test
	@Scripts/test.sh test

lint:
	@Scripts/lint.sh

format:
	@swift format -i -r Package.swift Sources Tests Service Samples Fuzz Benchmarks/Package.swift Benchmarks/Sources

# The documentation of every product, with an article for each use. See Scripts/docs.sh.
docs:
	@Scripts/setup.sh --say build
	@Scripts/docs.sh

# The documents as a web site, in .build/site/html, with the reference from the programs; and a run of the commands on it.
site:
	@Scripts/setup.sh site
	@$(MAKE) --no-print-directory build
	@Scripts/site.sh

bench:
	@Scripts/setup.sh bench
	@$(MAKE) --no-print-directory engine
	@Scripts/bench.sh

bench-live:
	@Scripts/setup.sh test
	@$(MAKE) --no-print-directory build
	@Scripts/bench-live.sh

samples:
	@Scripts/setup.sh samples
	@Samples/make-samples.sh

schemas: engine
	@for name in policy events report plan check; do \
	  .build/release/upright schema $$name > Schemas/$$name.schema.json || exit; done

# Plays outputs and live streams that turn in VLC, mpv, ffplay, GStreamer, Chromium and Firefox, and prints tables. Takes 40
# minutes. See Tests/Players/matrix.py for parts of it.
check-players:
	@Scripts/setup.sh players
	@$(MAKE) --no-print-directory build
	@python3 Tests/Players/matrix.py --live --at-once 2
	@python3 Tests/Players/matrix.py --seeks 20 --at-once 3

# Sanitizers, memory, long runs, fuzzing. CI runs it with SHORT=1.
check-slow:
	@Scripts/setup.sh slow
	@$(MAKE) --no-print-directory build
	@Scripts/check-slow.sh

# Past one machine: chunks on Ray while nodes, processes and the store fail, and live sessions on three nodes that are
# killed, cut off and drained. SHORT=1 runs a shorter form, as CI does. See Scripts/check-scale.sh.
check-scale:
	@Scripts/setup.sh scale
	@$(MAKE) --no-print-directory build
	@Scripts/check-scale.sh

# Runs every fuzz target for TIME seconds (default 20), two at a time. TARGET=rtp runs one. See Scripts/fuzz.sh.
fuzz:
	@Scripts/setup.sh build
	@TIME="$(TIME)" TARGET="$(TARGET)" Scripts/fuzz.sh

# Checks the kernels for aarch64 in an emulator, against the reference and against this CPU. See
# Scripts/check-arm.sh.
check-arm:
	@Scripts/check-arm.sh

# Runs `make check` and the tests that decode and compare media under Debian 13, whose FFmpeg is 7.1, in .debian/trixie.
# Needs root.
check-debian13:
	@Scripts/check-debian.sh trixie make check
	@Scripts/check-debian.sh trixie

# Runs the tests that decode and compare media with the newest FFmpeg in Debian, in .debian/sid. Needs root.
check-newest-ffmpeg:
	@Scripts/check-debian.sh sid

# Installs what `make build` or `make engine` built, and the libraries of `make libraries` if they were built. PREFIX
# (/usr/local), DESTDIR, SYSCONFDIR, LIBDIR: see Scripts/install.sh.
install:
	@Scripts/install.sh

uninstall:
	@Scripts/install.sh --remove

# Makes Debian packages in .build/deb: the command line, the service, the C libraries and their header.
deb: build libraries
	@Scripts/setup.sh --say deb
	@Scripts/deb.sh

# Both programs with an FFmpeg of their own, as a tarball that runs with glibc 2.31 or later. FFmpeg takes minutes to build, once;
# KIND=lgpl leaves x264 out. See Scripts/static-ffmpeg.sh.
tarball:
	@Scripts/setup.sh --say tarball
	@Scripts/build.sh static $(KIND)
	@Scripts/tarball.sh $(KIND)

# All that users get, in .build/release-artifacts, packed twice to compare: tarballs, packages, wheels, images, SHA256SUMS. The
# image of Janus needs root.
release: deb
	@Scripts/setup.sh --say tarball
	@Scripts/build.sh static gpl
	@Scripts/build.sh static lgpl
	@Scripts/release.sh --twice

# From nothing to a turned clip with each of them, in clean Debian 11, 12 and 13. Needs root.
check-release:
	@Scripts/setup.sh --say release
	@Scripts/check-release.sh

# Installs, uses and purges the packages in a clean Debian 12, in .debian/clean-bookworm. Needs root. FROM is a folder of
# older packages: then it checks the upgrade from them.
check-deb: deb
	@Scripts/check-deb.sh $(if $(FROM),--from "$(FROM)")

# .debian is kept: creating it takes minutes, and it belongs to root.
clean:
	@rm -rf .build .build-thread .build-address .build-fuzz demo bench Benchmarks/.build
