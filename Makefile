# The two commands: make demo, make test. Each does all of its own set-up.

.PHONY: demo build check test lint format bench bench-live samples schemas check-slow fuzz \
  check-debian13 check-newest-ffmpeg clean

export UPRIGHT_SHARED ?= $(abspath ../shared)

demo:
	@Scripts/setup.sh demo
	@$(MAKE) --no-print-directory build
	@Scripts/demo.sh

build:
	@Scripts/setup.sh --say build
	@Scripts/build.sh upright

# The loop of a working day: lint, and every test that needs no browser, no server and no real time.
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
	@swift format -i -r Package.swift Sources Tests Fuzz Benchmarks

bench: build
	@Scripts/setup.sh bench
	@Scripts/bench.sh

bench-live: build
	@Scripts/setup.sh test
	@Scripts/bench-live.sh

samples:
	@Scripts/setup.sh samples
	@Samples/make-samples.sh

schemas: build
	@for name in policy events report; do \
	  .build/release/upright schema $$name > Schemas/$$name.schema.json || exit; done

# Sanitizers, memory, long runs, fuzz. SHORT=1 is the form that CI runs.
check-slow: build
	@Scripts/setup.sh test
	@Scripts/check-slow.sh

# Every fuzz target for TIME seconds, 20 by default, two at a time; TARGET=rtp runs one. See Scripts/fuzz.sh.
fuzz:
	@Scripts/setup.sh build
	@TIME="$(TIME)" TARGET="$(TARGET)" Scripts/fuzz.sh

# The tests under Debian 13, whose FFmpeg is 7.1, in .debian/trixie: needs root. DEBIAN_SUITE names another suite.
check-debian13:
	@Scripts/check-debian13.sh

# Compiles what uses FFmpeg with the newest that Debian has (sid), by its headers.
check-newest-ffmpeg:
	@Scripts/check-newest-ffmpeg.sh

# .debian stays: it takes minutes to make, and belongs to root.
clean:
	@rm -rf .build .build-thread .build-address .build-fuzz demo bench Benchmarks/.build
