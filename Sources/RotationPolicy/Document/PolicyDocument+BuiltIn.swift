extension PolicyDocument {
  /// The names of the built-in policies, starting with the default.
  public static let builtInNames = builtIns.map(\.name)

  /// Returns the purpose of the built-in policy `name`, in a few words, or `nil` if there is none.
  package static func builtInPurpose(_ name: String) -> String? {
    builtIns.first { $0.name == name.lowercased() }?.purpose
  }

  /// Returns the JSON of the built-in policy `name`, as printed by `upright policies NAME`, without a line
  /// break at the end. Returns `nil` if there is none.
  public static func builtInJSON(_ name: String) -> String? {
    builtIns.first { $0.name == name.lowercased() }?.json
  }

  /// Returns the built-in policy `name`, or `nil` if there is none.
  public static func builtIn(_ name: String) -> PolicyDocument? {
    guard let json = builtInJSON(name) else { return nil }
    return try? PolicyDocument(json: json.utf8)
  }

  private static let builtIns: [(name: String, purpose: String, json: String)] = [
    (
      "phone",
      "an iPhone app: every orientation but upside down",
      """
      {
        "device": { "idiom": "phone" },
        "root": "main",
        "controllers": {
          "main": { "shouldAutorotate": true, "supported": ["allButUpsideDown"] }
        }
      }
      """
    ),
    (
      "pad",
      "an iPad app: all four orientations",
      """
      {
        "device": { "idiom": "pad" },
        "root": "main",
        "controllers": {
          "main": { "shouldAutorotate": true, "supported": ["all"] }
        }
      }
      """
    ),
    (
      "portrait",
      "an app that stays in portrait",
      """
      {
        "application": { "infoPlist": ["portrait"] },
        "root": "main",
        "controllers": {
          "main": { "shouldAutorotate": true, "supported": ["portrait"] }
        }
      }
      """
    ),
    (
      "landscape",
      "an app that stays in either landscape orientation",
      """
      {
        "application": { "infoPlist": ["landscape"] },
        "root": "main",
        "controllers": {
          "main": { "shouldAutorotate": true, "supported": ["landscape"] }
        }
      }
      """
    ),
    (
      "fullscreen-player",
      "a portrait list that presents a player that rotates",
      """
      {
        "application": { "infoPlist": ["allButUpsideDown"] },
        "root": "main",
        "controllers": {
          "main": { "kind": "navigation", "children": ["list"], "authority": "visibleChild" },
          "list": { "shouldAutorotate": false, "supported": ["portrait"], "preferred": "portrait" },
          "player": { "shouldAutorotate": true, "supported": ["allButUpsideDown"] }
        }
      }
      """
    ),
    (
      "manual",
      "an app that rotates only on its own request",
      """
      {
        "application": { "infoPlist": ["allButUpsideDown"] },
        "root": "main",
        "controllers": {
          "main": { "shouldAutorotate": "manual", "supported": ["allButUpsideDown"] }
        }
      }
      """
    ),
  ]
}
