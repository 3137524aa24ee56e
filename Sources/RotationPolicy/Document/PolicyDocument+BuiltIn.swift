extension PolicyDocument {
  /// The built-in policies' names, the default first.
  public static let builtInNames = builtIns.map(\.name)

  /// What a built-in policy is for, in a few words; `nil` if there is none of that name.
  public static func builtInPurpose(_ name: String) -> String? {
    builtIns.first { $0.name == name.lowercased() }?.purpose
  }

  /// The JSON of a built-in policy as `upright policies NAME` prints it, without a line break at
  /// the end; nil where there is none of that name.
  public static func builtInJSON(_ name: String) -> String? {
    builtIns.first { $0.name == name.lowercased() }?.json
  }

  /// A built-in policy; nil where there is none of that name.
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
      "an app that stays portrait",
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
      "an app that stays landscape, either way round",
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
      "a portrait list that presents a player, which turns",
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
      "an app that turns only when it is told to",
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
