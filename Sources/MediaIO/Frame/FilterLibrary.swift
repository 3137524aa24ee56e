internal import CUprightFFmpeg
internal import Glibc

/// libavfilter, loaded when it is first needed (interlaced or HDR frames, text). It loads thirty other
/// libraries that nothing else here needs, which would take a fifth of the start-up time.
///
/// Each property is one function, as libavfilter declares it.
struct FilterLibrary {
  typealias Graph = UnsafeMutablePointer<AVFilterGraph>
  typealias Context = UnsafeMutablePointer<AVFilterContext>
  typealias Frame = UnsafeMutablePointer<AVFrame>

  let allocateGraph: @convention(c) () -> Graph?
  let freeGraph: @convention(c) (UnsafeMutablePointer<Graph?>) -> Void
  let filter: @convention(c) (UnsafePointer<CChar>) -> UnsafePointer<AVFilter>?
  let add:
    @convention(c) (
      UnsafeMutablePointer<Context?>, UnsafePointer<AVFilter>, UnsafePointer<CChar>,
      UnsafePointer<CChar>?, UnsafeMutableRawPointer?, Graph
    ) -> CInt
  let link: @convention(c) (Context, CUnsignedInt, Context, CUnsignedInt) -> CInt
  let configure: @convention(c) (Graph, UnsafeMutableRawPointer?) -> CInt
  let send: @convention(c) (Context, Frame?, CInt) -> CInt
  let receive: @convention(c) (Context, Frame) -> CInt

  /// The library whose headers this was built with. `nil` if it isn't installed.
  static let opened = FilterLibrary()

  #if LINKED_FILTERS
  /// The one that the program is linked with, as all of FFmpeg: see Scripts/build.sh.
  private init?() {
    allocateGraph = { avfilter_graph_alloc() }
    freeGraph = { avfilter_graph_free($0) }
    filter = { avfilter_get_by_name($0) }
    add = { avfilter_graph_create_filter($0, $1, $2, $3, $4, $5) }
    link = { avfilter_link($0, $1, $2, $3) }
    configure = { avfilter_graph_config($0, $1) }
    send = { av_buffersrc_add_frame_flags($0, $1, $2) }
    receive = { av_buffersink_get_frame($0, $1) }
  }
  #else
  private struct Missing: Error {}

  private init?() {
    let name = "libavfilter.so.\(LIBAVFILTER_VERSION_MAJOR)"
    guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
    func function<Type>(_ name: String) throws(Missing) -> Type {
      guard let address = dlsym(library, name) else { throw Missing() }
      return unsafeBitCast(address, to: Type.self)
    }
    do throws(Missing) {
      allocateGraph = try function("avfilter_graph_alloc")
      freeGraph = try function("avfilter_graph_free")
      filter = try function("avfilter_get_by_name")
      add = try function("avfilter_graph_create_filter")
      link = try function("avfilter_link")
      configure = try function("avfilter_graph_config")
      send = try function("av_buffersrc_add_frame_flags")
      receive = try function("av_buffersink_get_frame")
    } catch {
      dlclose(library)
      return nil
    }
  }
  #endif
}
