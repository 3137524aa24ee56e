internal import CUprightFFmpeg
package import UprightOrientation

/// How audio samples are stored: the rate, the channels and the type of a sample.
package struct AudioFormat: Sendable {
  /// Samples per second.
  package let rate: Int
  let layout: ChannelLayout
  package var channels: Int { layout.count }
  let sample: AVSampleFormat

  init(_ context: UnsafePointer<AVCodecContext>) {
    rate = Int(context.pointee.sample_rate)
    layout = ChannelLayout(context.pointee.ch_layout)
    sample = context.pointee.sample_fmt
  }
}

/// Audio samples in memory, the sole owner of their `AVFrame`.
///
/// Sendable because it is the only reference: it is moved between threads, never shared.
package struct AudioFrame: ~Copyable, @unchecked Sendable {
  let raw: UnsafeMutablePointer<AVFrame>

  /// A frame of `count` samples, which aren't initialized.
  init(_ format: AudioFormat, count: Int = 0) throws(UprightError) {
    var made = av_frame_alloc()
    guard let raw = made else { throw outOfMemory("audio") }
    raw.pointee.format = format.sample.rawValue
    raw.pointee.sample_rate = CInt(clamping: format.rate)
    format.layout.set(&raw.pointee.ch_layout)
    raw.pointee.nb_samples = CInt(clamping: count)
    guard count == 0 || av_frame_get_buffer(raw, 0) >= 0 else {
      av_frame_free(&made)
      throw outOfMemory("audio")
    }
    self.raw = raw
  }

  /// Returns `count` samples of silence.
  static func silence(_ count: Int, _ format: AudioFormat) throws(UprightError) -> AudioFrame {
    let frame = try AudioFrame(format, count: count)
    av_samples_set_silence(
      frame.raw.pointee.extended_data, 0, frame.raw.pointee.nb_samples,
      frame.raw.pointee.ch_layout.nb_channels, format.sample)
    return frame
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVFrame>? = raw
    av_frame_free(&pointer)
  }

  /// The position of the first sample, in samples. `nil` if unknown.
  package var pts: Int64? {
    get { raw.pointee.pts == noTimestamp ? nil : raw.pointee.pts }
    set { raw.pointee.pts = newValue ?? noTimestamp }
  }

  /// The number of samples in each channel.
  package var count: Int { Int(raw.pointee.nb_samples) }

  /// The start of each channel, or of all of them if the format interleaves them.
  var planes: UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
    UnsafeMutableRawPointer(raw.pointee.extended_data)?
      .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  }

  /// Returns a copy of the samples and their position.
  package func copy() throws(UprightError) -> AudioFrame {
    let copy = AudioFrame(av_frame_clone(raw))
    guard let copy, av_frame_make_writable(copy.raw) >= 0 else { throw outOfMemory("audio") }
    return copy
  }

  private init?(_ raw: UnsafeMutablePointer<AVFrame>?) {
    guard let raw else { return nil }
    self.raw = raw
  }

  /// Removes the first `count` samples, or all if there are fewer.
  package mutating func removeFirst(_ count: Int64) {
    let removed = CInt(clamping: min(count, Int64(raw.pointee.nb_samples)))
    raw.pointee.nb_samples -= removed
    av_samples_copy(
      raw.pointee.extended_data, raw.pointee.extended_data, 0, removed, raw.pointee.nb_samples,
      raw.pointee.ch_layout.nb_channels, AVSampleFormat(raw.pointee.format))
  }
}

/// Samples of one format that wait to be encoded, in order.
struct AudioBuffer: ~Copyable {
  private let fifo: OpaquePointer
  private let format: AudioFormat

  init(_ format: AudioFormat) throws(UprightError) {
    guard let fifo = av_audio_fifo_alloc(format.sample, CInt(clamping: format.channels), 4096)
    else { throw outOfMemory("audio") }
    self.fifo = fifo
    self.format = format
  }

  deinit { av_audio_fifo_free(fifo) }

  /// The number of samples in each channel.
  var count: Int { Int(av_audio_fifo_size(fifo)) }

  func append(_ frame: borrowing AudioFrame) throws(UprightError) {
    guard frame.count > 0 else { return }
    try check(av_audio_fifo_write(fifo, frame.planes, CInt(frame.count))) { _ in
      outOfMemory("audio")
    }
  }

  /// Removes the first `count` samples and returns them. The buffer must have as many.
  func removeFirst(_ count: Int) throws(UprightError) -> AudioFrame {
    let frame = try AudioFrame(format, count: count)
    av_audio_fifo_read(fifo, frame.planes, CInt(count))
    return frame
  }
}
