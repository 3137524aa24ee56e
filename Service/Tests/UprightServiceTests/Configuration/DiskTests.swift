import Foundation
import Testing
import UprightServiceTestSupport

/// A preloaded library simulates a full disk, because tests must not fill the disk of the machine.
///
/// Takes about eight seconds.
@Suite("A full disk", .enabled(if: FFmpegTool.isHere), .server)
struct DiskTests {
  private static let library = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stdlib.h>
    #include <sys/stat.h>
    #include <sys/statvfs.h>
    #include <unistd.h>

    static int is_full(void) { return access(FLAG, F_OK) == 0; }

    ssize_t write(int fd, const void *bytes, size_t count) {
      ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
      struct stat file;
      if (is_full() && fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) {
        errno = ENOSPC;
        return -1;
      }
      return next(fd, bytes, count);
    }

    int statvfs(const char *path, struct statvfs *disk) {
      int (*next)(const char *, struct statvfs *) = dlsym(RTLD_NEXT, "statvfs");
      int result = next(path, disk);
      disk->f_bavail = is_full() ? 0 : 1 << 30;
      return result;
    }
    """

  @Test(
    "Outputs are tried again with a reason, others continue, /readyz gives 503; then all recover")
  func full() async throws {
    let scratch = try Scratch()
    let (source, library, flag) = (
      scratch.path("full.c"), scratch.path("full.so"), scratch.path("flag")
    )
    try Data(Self.library.utf8).write(to: URL(fileURLWithPath: source))
    _ = try ExternalTool("clang").run([
      "-shared", "-fPIC", "-DFLAG=\"\(flag)\"", source, "-o", library,
    ])
    let data = scratch.path("data")
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=160x90:r=15:d=60 -c:v libx264 -preset ultrafast -g 15",
      ["\(data)/clip.mp4"])
    let receiver = try Loopback.freePort()
    func session(_ name: String, _ output: String) -> String {
      """
      {"name": "\(name)", "input": {"url": "file:clip.mp4"}, "outputs": [\(output)],
       "options": {"speed": "ultrafast", "segment": 1}}
      """
    }
    let service = try await ServiceProcess(
      scratch,
      sessions: [
        session("disk", "{\"type\": \"hls\"}"),
        session(
          "wire",
          "{\"type\": \"udp\", \"url\": \"udp://127.0.0.1:\(receiver)\"}, {\"type\": \"file\", \"name\": \"take.mp4\"}"
        ),
      ], environment: ["LD_PRELOAD": library])
    func frames(_ name: String) async throws -> Int {
      try await service.session(name)["counters"]["framesOut"].int ?? 0
    }
    func take(_ name: String) async throws -> JSON {
      try await service.ask("GET", "/v1/recordings/wire~\(name)").json
    }
    #expect(
      try await waitUntil { try await service.ask("GET", "/live/disk/index.m3u8").status == 200 })
    #expect(try await waitUntil { try await take("take.mp4")["size"].int ?? 0 > 0 })

    try Data().write(to: URL(fileURLWithPath: flag))
    func hls() async throws -> JSON {
      try await service.ask("GET", "/v1/sessions/disk/outputs/hls").json
    }
    // It is open again from time to time, until it has to write.
    #expect(
      try await waitUntil {
        let output = try await hls()
        let problem = output["problem"].string ?? ""
        return output["state"].string == "reconnecting"
          && problem.contains("No space left on device") && !problem.contains(scratch.path(""))
      })
    let ready = try await service.ask("GET", "/readyz")
    #expect(ready.status == 503 && ready.text.contains("the disk of the data folder is full"))
    let before = try await frames("wire")
    #expect(try await waitUntil { try await frames("wire") > before + 10 })
    // The recording is reported as failed, and is playable up to there.
    #expect(try await waitUntil { try await take("take.mp4")["state"].string == "failed" })
    let problem = try await take("take.mp4")["problem"].string ?? ""
    #expect(
      problem.contains("the disk is full") && !problem.contains(scratch.path("")), "\(problem)")
    #expect(
      try DecodedFrames(scratch.path("data/recordings/wire/take.mp4"), scratch).times.count > 0)

    try FileManager.default.removeItem(atPath: flag)
    #expect(try await service.ask("GET", "/readyz").status == 200)
    #expect(try await waitUntil { try await hls()["state"].string == "live" })
    // The playlist goes on, with a discontinuity.
    #expect(
      try await waitUntil {
        let list = try await service.ask("GET", "/live/disk/index.m3u8").text
        return list.contains("#EXT-X-DISCONTINUITY\n") && !list.contains("#EXT-X-ENDLIST")
      })
    for name in ["disk", "wire"] {
      #expect(try await service.session(name)["state"].string == "live")
    }
    // The files that were begun meanwhile had nothing in them, and were removed.
    #expect(
      try await waitUntil {
        let second = try await take("take-2.mp4")
        return second["state"].string == "recording" && second["size"].int ?? 0 > 0
      })
    #expect(try await take("take.mp4")["state"].string == "failed")
  }
}
