internal import CUprightConsole
internal import Foundation
internal import Synchronization
internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// The process of a `LibraryProcess`: divides one file into segments, or describes files. It can read nothing else.
package final class LibraryWorker: Sendable {
  /// The argument with which the program becomes one.
  package static let option = "--library-worker"

  /// The largest segment, in bytes.
  private static let longest: rlim_t = 256 << 20

  private let control: WorkerChannel
  private let source = Mutex<SegmentSource?>(nil)
  /// The calls whose answer nobody waits for any more.
  private let cancelled = Mutex<Set<Int>>([])

  /// Works until the service ends, or has no use for it any more.
  package static func run() -> Never {
    Worker.begin(descriptors: 1)
    let control = WorkerChannel(ChildProcess.firstDescriptor, passesDescriptors: true)
    let worker = LibraryWorker(control)
    worker.rehearse()
    guard let message = control.receive() else { _exit(0) }
    switch try? message.value(LibraryOrder.self) {
    case .divide(let version)?:
      let path = path(of: message.descriptor)
      Confinement(reading: [path]).enforce()
      // It writes into files that it is given; longer ones are an error of its decoder.
      var limit = rlimit(rlim_cur: Self.longest, rlim_max: Self.longest)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      Thread.detachNewThread { worker.divide(path, version) }
      worker.work(path)
    case .describe(let folder)?:
      Confinement(reading: [folder]).enforce()
      worker.work(nil)
    default: _exit(70)
    }
  }

  private init(_ control: WorkerChannel) { self.control = control }

  /// Does what is slow at its first use, while there is no order yet: divides the console's sample, and a segment of it.
  private func rehearse() {
    let text = WorkerChannel.json(LibraryOrder.divide(version: ""))
    _ = text.flatMap { try? JSONDecoder().decode(LibraryOrder.self, from: Data($0)) }
    var bytes = unsafe Array(upright_sample_portrait.content)
    // Encoded at first, then copied.
    for size in [SizeRule.pair(PixelSize(180, 320)), .source] where !control.hasMessage {
      guard let file = unsafe tmpfile() else { return }
      defer { unsafe fclose(file) }
      let descriptor = unsafe fileno(file)
      var options = TranscodeOptions()
      options.size = size
      guard CachedFile.write(bytes, to: descriptor),
        let source = try? SegmentSource(input: Self.path(of: descriptor), options: options),
        let first = try? source.segmentWithInit(0, while: { !control.hasMessage })
      else { return }
      bytes = first.initSegment + first.segment
    }
  }

  /// The name of an open file that libavformat can open again, whatever the file is called by now.
  private static func path(of descriptor: CInt) -> String { "/proc/self/fd/\(descriptor)" }

  private func work(_ path: String?) -> Never {
    while let message = control.receive() {
      switch try? message.value(LibraryOrder.self) {
      case .call(let number, let call)?:
        let descriptor = message.descriptor
        Thread.detachNewThread { [self] in
          perform(number, call, path ?? Self.path(of: descriptor), descriptor)
          if descriptor >= 0 { close(descriptor) }
        }
      case .cancel(let number)?: cancelled.withLock { _ = $0.insert(number) }
      case .end?: _exit(0)
      default: _exit(70)
      }
    }
    _exit(0)
  }

  private func answer(_ number: Int, _ answer: LibraryAnswer, _ bytes: [UInt8] = []) {
    cancelled.withLock { _ = $0.remove(number) }
    control.send(LibraryReport(call: number, answer: answer), bytes: bytes)
  }

  private func divide(_ path: String, _ version: String) {
    do throws(UprightError) {
      var options = TranscodeOptions()
      let known = LibraryVersion(version[...])
      options.codec = known?.coding.map { $0 == .hdr ? .hevc : .h264 }
      if let size = known?.size, size != LibraryVersion.automatic {
        // Without the bit rate of the preset: one quality for all sizes.
        options.size = StreamPreset.named(size).map { .pair($0.size) } ?? .source
      }
      let source = try SegmentSource(input: path, options: options)
      self.source.withLock { $0 = source }
      var formats: [Int] = []
      for (index, segment) in source.segments.enumerated() where segment.format == formats.count {
        formats.append(index)
      }
      let divided = DividedFile(
        playlist: source.playlist(in: version), count: source.segments.count,
        formats: formats)
      answer(0, .divided(divided))
    } catch { answer(0, .failed(error)) }
  }

  /// - Parameter descriptor: The file that came along.
  private func perform(_ number: Int, _ call: LibraryCall, _ path: String, _ descriptor: CInt) {
    do throws(UprightError) {
      switch call {
      case .segment(let index, let content):
        let (initial, segment) = try divided().segmentWithInit(index, of: content) { [self] in
          isWanted(number)
        }
        let isWritten = CachedFile.write(segment, to: descriptor)
        answer(
          number, .segment(initial: initial.count, isWritten: isWritten),
          isWritten ? initial : initial + segment)
      case .file(let file):
        let bytes = try divided().bytes(of: file) { [self] in isWanted(number) }
        answer(number, .file, bytes)
      case .sprites(let folder):
        answer(number, .file, Array(try divided().sprites(in: folder).utf8))
      case .variant: answer(number, .variant(try divided().variant()))
      case .poster(let seconds): answer(number, .file, try Self.poster(of: path, at: seconds))
      case .description:
        answer(number, .description(try LibraryDescription(Probe(input: path))))
      }
    } catch { answer(number, .failed(error)) }
  }

  /// Whether anybody waits for the answer to a call.
  private func isWanted(_ number: Int) -> Bool { !cancelled.withLock { $0.contains(number) } }

  /// - Throws: `fault` if the file isn't divided.
  private func divided() throws(UprightError) -> SegmentSource {
    guard let source = source.withLock({ $0 }) else {
      throw UprightError(.fault, "the file isn't divided")
    }
    return source
  }

  /// Returns the upright frame that is shown at a time, as a JPEG.
  private static func poster(of path: String, at seconds: Double) throws(UprightError) -> [UInt8] {
    let reader = try UprightReader(path)
    defer { reader.close() }
    try reader.seek(to: seconds)
    guard let frame = try reader.next() else {
      throw UprightError(
        .usage, "the video has no frame at \(seconds) s", remedy: "ask for an earlier one")
    }
    return try frame.picture().jpeg()
  }
}
