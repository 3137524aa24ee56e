import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("The confinement of workers", .enabled(if: ExternalTool("cc").isHere))
struct ConfinementTests {
  /// What a program does that is confined as a worker is: each line is a try and its result.
  private static let program = #"""
    #define _GNU_SOURCE
    #include <errno.h>
    #include <fcntl.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/ptrace.h>
    #include <sys/resource.h>
    #include <sys/syscall.h>
    #include <sys/uio.h>
    #include <unistd.h>
    #include "CUprightWorker.h"

    static void say(const char *what, long result) {
      printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    }
    static void *thread(void *argument) {
      char path[64];
      snprintf(path, sizeof path, "/proc/%ld/stat", syscall(SYS_gettid));
      say("read a thread's state", open(path, O_RDONLY));
      return argument;
    }

    int main(int count, char **words) {
      setvbuf(stdout, NULL, _IONBF, 0);
      char path[4096];
      int rules = upright_worker_rules();
      if (rules >= 0) {
        upright_worker_allow(rules, words[1], true);
        upright_worker_allow(rules, "/proc/self", true);
        upright_worker_allow(rules, "/proc", false);
      }
      say("enforce", upright_worker_enforce(rules));
      say("filter", upright_worker_filter());
      say("limit", upright_worker_limit(1ull << 30));
      say("landlock", rules);
      int lowered = upright_worker_yield(9);
      printf("yield: %d\n", lowered < 0 ? lowered : getpriority(PRIO_PROCESS, 0));
      snprintf(path, sizeof path, "%s/own", words[1]);
      say("write its own file", open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600));
      char other[4096];
      snprintf(other, sizeof other, "%s/renamed", words[1]);
      say("rename its own file", rename(path, other));
      say("read another's key", open(words[2], O_RDONLY));
      say("write another's file", open(words[2], O_WRONLY));
      snprintf(path, sizeof path, "%s/link", words[1]);
      say("link to another's key", link(words[2], path));
      say("open a file outside", open("/etc/passwd", O_RDONLY));
      snprintf(path, sizeof path, "/proc/%d/environ", getppid());
      say("read its parent's environment", open(path, O_RDONLY));
      snprintf(path, sizeof path, "/proc/%d/mem", getppid());
      say("read its parent's memory", open(path, O_RDONLY));
      struct iovec piece = {path, 1};
      say("read its parent's memory by a call", process_vm_readv(getppid(), &piece, 1, &piece, 1, 0));
      say("trace its parent", ptrace(PTRACE_ATTACH, getppid(), 0, 0));
      say("signal its parent", kill(getppid(), 0));
      say("start a program", execl("/bin/true", "true", NULL));
      say("fork", fork());
      say("gain a user", setuid(0));
      pthread_t number;
      errno = pthread_create(&number, NULL, thread, NULL);
      say("start a thread", errno ? -1 : pthread_join(number, NULL));
      say("map 2 GiB", mmap(NULL, 2ul << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
      return 0;
    }
    """#

  @Test("A table by experiment")
  func table() throws {
    let scratch = try Scratch()
    let own = scratch.path("own")
    try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
    let key = scratch.path("key")
    try Data("secret".utf8).write(to: URL(fileURLWithPath: key))
    try Data(Self.program.utf8).write(to: URL(fileURLWithPath: scratch.path("probe.c")))
    let sources = Fixtures.packageRoot.appendingPathComponent("Service/Sources/CUprightWorker").path
    let probe = scratch.path("probe")
    try ExternalTool("cc").run([
      "-D_Nonnull=", "-D_Nullable=", "-I", "\(sources)/include", scratch.path("probe.c"),
      "\(sources)/confinement.c", "-o", probe, "-lpthread",
    ])
    let text = try ExternalTool(probe).run([own, key]).text
    print(text)
    let lines = text.split(separator: "\n").map { $0.split(separator: ":").map(String.init) }
    let results = Dictionary(lines.map { ($0[0], $0[1].dropFirst()) }) { $1 }
    for what in [
      "enforce", "filter", "limit", "write its own file", "rename its own file", "start a thread",
      "read a thread's state",
    ] { #expect(results[what] == "done", "\(what)") }
    #expect(results["yield"] == "9")
    for what in [
      "read its parent's memory by a call", "trace its parent", "signal its parent",
      "start a program", "fork", "gain a user", "map 2 GiB",
    ] { #expect(results[what] ?? "done" != "done", "\(what)") }
    guard results["landlock"] == "done" else { return }
    for what in [
      "read another's key", "write another's file", "link to another's key", "open a file outside",
      "read its parent's environment", "read its parent's memory",
    ] { #expect(results[what] ?? "done" != "done", "\(what)") }
  }

  /// What a session gets that encodes so many pixels.
  private static let sizes: [(pixels: Double, addressSpace: UInt64, niceness: CInt)] = [
    (0, 8_589_934_592, 4), (921_600, 4_530_896_896, 4), (3_686_400, 5_238_685_696, 10),
    (1e12, 8_589_934_592, 16),
  ]

  @Test("The more pixels a session encodes, the more memory it has, and the lower its priority")
  func size() {
    for size in Self.sizes {
      #expect(Confinement.addressSpace(size.pixels) == size.addressSpace)
      #expect(Confinement.niceness(size.pixels) == size.niceness)
    }
  }

  @Test(
    "A session with a low priority drops frames first, whatever its size, and one with a high one last"
  )
  func priority() {
    let pixels = [0, 921_600, 3_686_400.0]
    for (priority, niceness) in [
      (SessionPriority.high, [1, 1, 7] as [CInt]), (.normal, [4, 4, 10]), (.low, [13, 13, 19]),
    ] {
      #expect(pixels.map { Confinement.niceness($0, priority) } == niceness, "\(priority)")
    }
    #expect(Confinement.niceness(1e12, .low) == 19)
  }
}
