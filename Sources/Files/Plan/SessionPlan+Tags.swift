internal import UprightMedia
internal import UprightMediaIO

extension SessionPlan {
  /// The title, creation time and other tags, as the output stores them.
  var tags: PlacedTags {
    container.place(Self.kept(demuxer.container.metadata, location: options.keepsLocation))
  }

  /// Returns the tags of a container that are kept.
  static func kept(_ tags: [String: String], location: Bool) -> [String: String] {
    tags.filter { key, _ in
      !technical.contains(key.lowercased()) && (location || !isLocation(key))
    }
  }

  /// Returns everything that the output lacks of the input, as texts for the user.
  ///
  /// - Parameter frameMetadata: Names of the metadata of frames that isn't kept.
  func allDropped(frameMetadata: Set<String> = []) -> [String] {
    var dropped = droppedParts + lostTimecodes + lostBoxes + frameMetadata.sorted()
    if dropsLocation {
      dropped.append(
        "GPS position tags" + (container.hasTags ? " (--keep-location keeps them)" : ""))
    }
    let names = tags.withoutPlace
    if !names.isEmpty {
      dropped.append(
        "tags that \(container.rawValue) cannot store: " + names.joined(separator: ", "))
    }
    return dropped
  }

  /// Whether GPS positions were found and left out.
  var dropsLocation: Bool {
    !options.keepsLocation
      && demuxer.container.metadata.keys.contains { Self.isLocation($0) }
  }

  /// Returns whether a tag with that name, in any case, contains the location of a recording.
  static func isLocation(_ key: String) -> Bool {
    let key = key.lowercased()
    return key == "location" || key.hasPrefix("location-") || key.contains("location.iso6709")
      || key.hasPrefix("com.apple.quicktime.location") || key == "gps" || key == "xyz"
  }

  /// Tags that describe the old container, or an orientation that was applied to the pixels.
  private static let technical: Set<String> = [
    "major_brand", "minor_version", "timecode", "compatible_brands", "encoder", "rotate",
    "duration",
    "com.apple.quicktime.video-orientation", "orientation", "rotation",
  ]
}
