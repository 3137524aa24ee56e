internal import CUprightConsole
internal import Foundation
internal import Hummingbird
internal import UprightPolicy

/// `POST /v1/sample`: a session that needs no camera. Its input is a file of a phone that turns, again and again.
struct SampleRoutes: Sendable {
  let sessions: Sessions
  /// The data folder, which gets the file.
  let folder: String

  static let name = "sample"
  private static let file = "sample.mp4"

  func add(to router: Router<ServiceContext>) {
    router.post("/v1/sample") { _, context in
      let running = (try? sessions.find(Self.name)).flatMap { $0.hasEnded ? nil : $0 }
      let hosted = if let running { running } else { try await create() }
      hosted.turnBySample()
      return Response(
        running == nil ? .created : .ok, json: hosted.json(sessions.secrets, at: context.address))
    }
  }

  private func create() async throws -> HostedSession {
    if sessions.isDraining { throw Problem.draining() }
    try write()
    return try await sessions.create(
      SessionRequest(
        [
          "name": .string(Self.name),
          "input": ["url": .string("file:\(Self.file)"), "repeat": .bool(true)],
          "latency": "low",
          "options": [
            "frames": "sensor", "size": "360x640", "segment": .integer(1), "speed": "veryfast",
          ],
        ], rules: sessions.rules))
  }

  private func write() throws(Problem) {
    let url = URL(fileURLWithPath: folder).appendingPathComponent(Self.file)
    let content = Data(unsafe upright_sample_clip.content)
    guard (try? Data(contentsOf: url)) != content else { return }
    do { try content.write(to: url, options: .atomic) } catch {
      throw .unready("the sample can't be stored in the data folder")
    }
  }
}
