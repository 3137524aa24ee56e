import Foundation
import Testing
import UprightTestSupport

@testable import UprightMedia

@Suite struct FilePathTests {
  @Test(
    "A path's folder, name, stem and extension",
    arguments: [
      ("take.mov", ".", "take.mov", "take", "mov"), ("a/take.mov", "a", "take.mov", "take", "mov"),
      ("./a//b.tar.gz", "./a", "b.tar.gz", "b.tar", "gz"), ("/x.mp4", "/", "x.mp4", "x", "mp4"),
      ("dir/", ".", "dir", "dir", ""), ("x.m3u8//", ".", "x.m3u8", "x", "m3u8"),
      (".hidden", ".", ".hidden", ".hidden", ""), ("a.", ".", "a.", "a.", ""),
      ("a/.b.mp4", "a", ".b.mp4", ".b", "mp4"), ("..mp4", ".", "..mp4", "..mp4", ""),
      ("x.mp 4", ".", "x.mp 4", "x", ""), ("ä%20?.mp4", ".", "ä%20?.mp4", "ä%20?", "mp4"),
      ("/", "/", "/", "/", ""),
    ])
  func parts(_ text: String, _ folder: String, _ name: String, _ stem: String, _ ending: String) {
    let path = FilePath(text)
    #expect(path.folder.path == folder && path.name == name)
    #expect(path.stem == stem && path.fileExtension == ending)
    let url = URL(fileURLWithPath: text)
    #expect(url.lastPathComponent == name && url.pathExtension == ending)
    #expect(url.deletingPathExtension().lastPathComponent == stem)
    #expect(url.deletingLastPathComponent().path == path.absolute.folder.path)
    #expect(url.standardizedFileURL.path == path.standardized.path)
  }

  @Test("Files are joined to their folder, and `..` at the start is resolved")
  func joined() {
    #expect(
      FilePath("a/").appending("b").path == "a/b" && FilePath("/").appending("b").path == "/b")
    let current = FilePath(FileManager.default.currentDirectoryPath)
    #expect(FilePath("../x/../y").absolute == current.folder.appending("x/../y"))
    #expect(FilePath("./x/../y").standardized == current.appending("y"))
    #expect(FilePath("..").absolute == current.folder && FilePath(".").absolute == current)
  }

  @Test("Folders are made with those that they are in, read, and links are followed")
  func folders() throws {
    let scratch = try Scratch()
    let folder = FilePath(scratch.path("a/b/c"))
    #expect(!folder.exists && folder.names == nil)
    #expect(folder.makeFolder() && folder.makeFolder() && folder.isFolder)
    let file = folder.appending("file")
    #expect(file.contents == nil)
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: file.path))
    #expect(file.contents == [1, 2, 3] && file.exists && !file.isFolder)
    #expect(!file.appending("x").makeFolder())
    #expect(folder.names == ["file"])
    let link = FilePath(scratch.path("link"))
    try FileManager.default.createSymbolicLink(
      atPath: link.path, withDestinationPath: folder.path)
    #expect(link.link == folder.path && folder.link.isEmpty)
    #expect(link.appending("file").resolved == folder.resolved.appending("file"))
    #expect(link.appending("new").resolved == folder.resolved.appending("new"))
    #expect(throws: (any Error).self) { try FileReader(folder.path)?.read(10) }
  }
}

@Suite struct CalendarTimeTests {
  @Test(
    "The text of a time is that of ISO 8601, and is read again",
    arguments: [
      0, 1.9996, 951_782_399.5, 951_782_400, 1_732_637_666.9999, 1_732_637_666.123_456_7,
      4_107_542_400, 100_000_000_000, -1.5,
    ])
  func text(_ seconds: Double) throws {
    let time = CalendarTime(seconds: seconds)
    let date = Date(timeIntervalSince1970: seconds)
    #expect(time.text == date.formatted(.iso8601))
    let text = time.millisecondText
    let rounded = Date(timeIntervalSince1970: (seconds * 1000).rounded() / 1000 + 1e-5)
    #expect(text == rounded.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    let read = try #require(CalendarTime(text))
    #expect(abs(read.seconds - seconds) < 0.000_51)
  }

  @Test(
    "Other texts are no times",
    arguments: [
      "", "2024-11-26T16:14:26Z", "2024-11-26T16:14:26.Z", "2024-13-26T16:14:26.123Z",
      "2024-11-26 16:14:26.123Z", "2024-11-26T24:14:26.123Z", "2024-11-26T16:14:26.1x3Z",
      "2024-11-26T16:14:26.123+01:00", "-024-11-26T16:14:26.123Z",
    ])
  func refused(_ text: String) { #expect(CalendarTime(text) == nil) }

  @Test("The present time is the system's")
  func now() { #expect(abs(CalendarTime.now.seconds - Date().timeIntervalSince1970) < 60) }
}

@Suite struct Base64Tests {
  @Test("Base64 is read as Foundation reads it")
  func decoded() {
    var generator = SeededGenerator(seed: 3)
    for count in 0..<70 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      #expect(Base64.decode(Data(bytes).base64EncodedString()) == bytes)
    }
    for wrong in ["A", "AB", "YW I=", "YWI=YWI=", "AB-_", "YWI=\n", "A===", "===="] {
      #expect(Base64.decode(wrong) == nil, "\(wrong)")
    }
  }

  @Test("White space around a text is left out, but not line breaks")
  func trimmed() {
    for text in [" a ", "\t a b\u{a0}", "\u{3000}a\u{2003}", "", "  ", "\ra\r"] {
      #expect(text.trimmed == text.trimmingCharacters(in: .whitespaces))
    }
  }
}
