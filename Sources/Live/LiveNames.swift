package import UprightOrientation
internal import UprightMediaIO
internal import UprightMedia

extension LiveInput {
  /// The input of a name: a URL, or the path of a file.
  package init(named name: String) {
    self = InputTrust.scheme(of: name) == nil ? .file(path: name) : .pull(url: name)
  }
}

extension LiveOutput {
  /// The output of a name: a URL, a folder of HLS (`FOLDER/`, or its `index.m3u8`), or a file.
  ///
  /// - Throws: `usage` for a playlist of another name.
  package init(named name: String) throws(UprightError) {
    if InputTrust.scheme(of: name) != nil {
      self = .push(url: name)
      return
    }
    let file = FilePath(name)
    if name.hasSuffix("/") || file.isFolder {
      self = .hls(folder: file.path)
    } else if file.fileExtension.lowercased() != "m3u8" {
      self = .file(path: name)
    } else {
      guard file.name == "index.m3u8" else {
        throw UprightError(
          .usage, "a live playlist is named index.m3u8", at: name,
          remedy: "name its folder, with a / at the end")
      }
      self = .hls(folder: file.folder.path)
    }
  }
}
