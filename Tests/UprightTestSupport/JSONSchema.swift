import Foundation

/// A JSON Schema (draft 2020-12), limited to the keywords that Upright's schemas use. Any other keyword is
/// an error when the schema is read, so that no constraint is silently ignored.
public struct JSONSchema {
  /// The error for a schema that can't be used.
  public struct Unusable: Error, CustomStringConvertible {
    /// The part of the schema, and the reason.
    public let description: String
  }

  private let root: JSON
  private let patterns: [String: Regex<AnyRegexOutput>]

  private static let keywords: Set<String> = [
    "$schema", "$id", "$ref", "$defs", "title", "description", "type", "enum", "const", "anyOf",
    "oneOf", "not", "properties", "required", "additionalProperties", "propertyNames",
    "minProperties", "maxProperties", "items", "minItems", "maxItems", "uniqueItems", "minimum",
    "maximum", "minLength", "pattern", "format",
  ]

  /// Reads a schema. Throws `Unusable` if it contains an unknown keyword.
  public init(_ root: JSON) throws {
    var patterns: [String: Regex<AnyRegexOutput>] = [:]
    try Self.check(root, at: "#", &patterns)
    self.root = root
    self.patterns = patterns
  }

  /// Reads a schema from text.
  public init(text: some StringProtocol) throws {
    try self.init(JSONDecoder().decode(JSON.self, from: Data(text.utf8)))
  }

  /// Returns the first violation in `value`, with its path. Returns `nil` if `value` is valid.
  public func fault(in value: JSON) -> String? { fault(value, root, at: "$") }

  private static func check(
    _ schema: JSON, at path: String, _ patterns: inout [String: Regex<AnyRegexOutput>]
  ) throws {
    if schema.bool != nil { return }
    guard case .object(let members) = schema else {
      throw Unusable(description: "\(path) is not a schema")
    }
    for (key, value) in members {
      let here = "\(path)/\(key)"
      guard keywords.contains(key) else { throw Unusable(description: "\(here) is unknown") }
      switch key {
      case "anyOf", "oneOf":
        for (index, part) in value.array.enumerated() {
          try check(part, at: "\(here)/\(index)", &patterns)
        }
      case "properties", "$defs":
        for (name, part) in value.object { try check(part, at: "\(here)/\(name)", &patterns) }
      case "not", "items", "additionalProperties", "propertyNames":
        try check(value, at: here, &patterns)
      case "pattern":
        guard let text = value.string, text.hasPrefix("^"), text.hasSuffix("$") else {
          throw Unusable(description: "\(here) is not anchored")
        }
        patterns[text] = try Regex(String(text.dropFirst().dropLast()))
      case "format":
        guard ["date-time", "binary"].contains(value.string) else {
          throw Unusable(description: "\(here) is not supported")
        }
      default: break
      }
    }
  }

  private func fault(_ value: JSON, _ schema: JSON, at path: String) -> String? {
    if let flag = schema.bool { return flag ? nil : "\(path) is not allowed" }
    if let reference = schema["$ref"].string {
      let name = reference.split(separator: "/").last.map(String.init) ?? ""
      if let fault = fault(value, root["$defs"][name], at: path) { return fault }
    }
    return general(value, schema, at: path) ?? combined(value, schema, at: path)
      ?? specific(value, schema, at: path)
  }

  private func general(_ value: JSON, _ schema: JSON, at path: String) -> String? {
    if let type = schema["type"].string, !value.isOf(type) { return "\(path) is no \(type)" }
    if case .array(let choices) = schema["enum"], !choices.contains(value) {
      return "\(path) is not in the enum"
    }
    if let constant = schema.object["const"], constant != value {
      return "\(path) is not the const"
    }
    return nil
  }

  private func combined(_ value: JSON, _ schema: JSON, at path: String) -> String? {
    if case .array(let parts) = schema["anyOf"] {
      let faults = parts.map { fault(value, $0, at: path) }
      if !faults.contains(nil) {
        return "\(path) matches none: " + faults.compactMap { $0 }.joined(separator: "; ")
      }
    }
    if case .array(let parts) = schema["oneOf"] {
      let matches = parts.count { fault(value, $0, at: path) == nil }
      if matches != 1 { return "\(path) matches \(matches) of oneOf" }
    }
    if let not = schema.object["not"], fault(value, not, at: path) == nil {
      return "\(path) matches the schema in `not`"
    }
    return nil
  }

  private func specific(_ value: JSON, _ schema: JSON, at path: String) -> String? {
    switch value {
    case .object(let members): return fault(members, schema, at: path)
    case .array(let elements): return fault(elements, schema, at: path)
    case .string(let text):
      if let least = schema["minLength"].int, text.unicodeScalars.count < least {
        return "\(path) is too short"
      }
      if let pattern = schema["pattern"].string,
        let regex = patterns[pattern], (try? regex.wholeMatch(in: text)) == nil
      {
        return "\(path) does not match \(pattern)"
      }
      if schema["format"].string == "date-time",
        ![true, false].contains(where: {
          (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: $0)))
            != nil
        })
      {
        return "\(path) is no time"
      }
    case .number(let number):
      if let least = schema["minimum"].double, number < least { return "\(path) is too small" }
      if let most = schema["maximum"].double, number > most { return "\(path) is too large" }
    case .null, .bool: break
    }
    return nil
  }

  private func fault(_ members: [String: JSON], _ schema: JSON, at path: String) -> String? {
    for name in schema["required"].array.compactMap(\.string) where members[name] == nil {
      return "\(path) has no \(name)"
    }
    if let least = schema["minProperties"].int, members.count < least {
      return "\(path) is too small"
    }
    if let most = schema["maxProperties"].int, members.count > most { return "\(path) is too big" }
    let properties = schema["properties"].object
    for (name, member) in members {
      if let names = schema.object["propertyNames"],
        let fault = fault(.string(name), names, at: "the name \(path).\(name)")
      {
        return fault
      }
      guard let rule = properties[name] ?? schema.object["additionalProperties"] else { continue }
      if let fault = fault(member, rule, at: "\(path).\(name)") { return fault }
    }
    return nil
  }

  private func fault(_ elements: [JSON], _ schema: JSON, at path: String) -> String? {
    if let least = schema["minItems"].int, elements.count < least { return "\(path) is too short" }
    if let most = schema["maxItems"].int, elements.count > most { return "\(path) is too long" }
    if schema["uniqueItems"].bool == true, Set(elements).count < elements.count {
      return "\(path) repeats an element"
    }
    guard let items = schema.object["items"] else { return nil }
    for (index, element) in elements.enumerated() {
      if let fault = fault(element, items, at: "\(path)[\(index)]") { return fault }
    }
    return nil
  }
}

extension JSON {
  fileprivate func isOf(_ type: String) -> Bool {
    switch (type, self) {
    case ("null", .null), ("boolean", .bool), ("number", .number), ("string", .string),
      ("array", .array), ("object", .object):
      true
    case ("integer", .number(let number)): number == number.rounded()
    default: false
    }
  }
}
