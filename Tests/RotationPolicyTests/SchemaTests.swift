import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightTestSupport

/// Compares the published schemas with the decoders.
@Suite("JSON Schema") struct SchemaTests {
  private static func schema(_ name: String) throws -> JSONSchema {
    try JSONSchema(text: #require(PublishedSchema.named(name)).json.pretty)
  }

  @Test("The schemas policy, events, report and plan exist, with a version and draft 2020-12")
  func published() throws {
    #expect(PublishedSchema.all.map(\.name) == ["policy", "events", "report", "plan", "check"])
    for schema in PublishedSchema.all {
      #expect(schema.json["$id"] == .string("urn:upright:schema:\(schema.name):1"))
      #expect(schema.json["$schema"] == "https://json-schema.org/draft/2020-12/schema")
      #expect(try JSONValue(parsing: schema.json.pretty.utf8)["title"] == schema.json["title"])
    }
    #expect(PublishedSchema.named("polcy") == nil)
  }

  @Test("Every key of the decoders is in the schema") func keys() throws {
    let policy = try #require(PublishedSchema.named("policy")).json
    let controller = policy["$defs"]?["controller"]?["properties"]
    for key in [
      "kind", "authority", "children", "selected", "shouldAutorotate", "supported", "preferred",
      "ignoresRotationWhileInactive", "captureEnabledIn", "accepts",
    ] { #expect(controller?[key] != nil, "\(key)") }
  }

  @Test("Every policy in Samples and its events are valid", .long, arguments: SamplePolicies.all)
  func samples(name: String) throws {
    let text = try String(decoding: SamplePolicies.bytes("\(name).json"), as: UTF8.self)
    #expect(try Self.schema("policy").fault(in: plain(JSONValue(parsing: text.utf8))) == nil)
    guard SamplePolicies.withEvents.contains(name) else { return }
    let events = try Self.schema("events")
    for line in try SamplePolicies.bytes("\(name).jsonl").split(separator: 0x0A) {
      #expect(try events.fault(in: plain(JSONValue(parsing: line))) == nil)
    }
    let report = try Self.schema("report")
    #expect(try report.fault(in: plain(SamplePolicies.plan(name).json)) == nil)
  }

  @Test("Every built-in policy is valid", arguments: PolicyDocument.builtInNames)
  func builtIns(name: String) throws {
    let text = try #require(PolicyDocument.builtInJSON(name))
    #expect(try Self.schema("policy").fault(in: plain(JSONValue(parsing: text.utf8))) == nil)
  }

  /// The errors that only the decoder can find, because they concern several values.
  private static let betweenValues = [
    "{'root': 'lst', 'controllers': {'list': {}}}", "{'root': 'list'}",
  ]

  @Test("Invalid policies are rejected", .long, arguments: BadInput.documents.map(\.text))
  func badPolicies(text: String) throws {
    let isBetween = Self.betweenValues.contains(text)
    let fault = try Self.schema("policy").fault(in: plain(JSONValue(parsing: json(text))))
    #expect((fault == nil) == isBetween, "\(text): \(fault ?? "valid")")
  }

  @Test(
    "Errors across values are valid by the schema",
    arguments: [
      // A cycle; a missing child, root or selected tab; two parents; an encoded size larger than the capture size.
      "{'root': 'a', 'controllers': {'a': {}, 'b': {'kind': 'navigation', 'children': ['b']}}}",
      "{'controllers': {'a': {'kind': 'tab', 'children': ['b']}}}",
      "{'root': 'b', 'controllers': {'a': {}}}",
      "{'root': 'a', 'controllers': {'a': {'kind': 'tab', 'children': ['b'], 'selected': 'c'}, 'b': {}, 'c': {}}}",
      "{'root': 't', 'controllers': {'t': {'kind': 'tab', 'children': ['n', 'a']}, 'n': {'kind': 'navigation', 'children': ['a']}, 'a': {}}}",
      "{'stream': {'size': '720x1280', 'captureSize': '360x640'}}",
    ])
  func decoderOnly(text: String) throws {
    #expect(try Self.schema("policy").fault(in: plain(JSONValue(parsing: json(text)))) == nil)
    #expect(throws: PolicyError.self) { try document(text) }
  }

  @Test("Invalid events are rejected", arguments: BadInput.events.map(\.text))
  func badEvents(text: String) throws {
    // Text that is not JSON can't be validated by a schema.
    guard let value = try? JSONValue(parsing: json(text)) else { return }
    #expect(try Self.schema("events").fault(in: plain(value)) != nil, "\(text)")
  }

  @Test("The pattern of sizes matches the parser of sizes") func sizes() throws {
    let schema = try Self.schema("policy")
    var texts = ["", "x", "720", "720x", "x720", "720x1280x2", "720X1280", " 720x1280", "-2x2"]
    for side in Array(0...40) + Array(9990...10010) + Array(15980...16400) + [99998, 1_000_000] {
      texts += ["\(side)x2", "2x\(side)", "0\(side)x720"]
    }
    for text in texts {
      let decodes = (try? StreamSize.parse(text, at: "size")) != nil
      let value: JSONValue = ["stream": ["size": .string(text)]]
      #expect((schema.fault(in: plain(value)) == nil) == decodes, "\(text)")
    }
  }

  @Test("Random policies, intact and damaged, are valid if and only if they decode", .long)
  func randomPolicies() throws {
    let schema = try Self.schema("policy")
    var dice = SeededGenerator()
    var (decoded, refused) = (0, 0)
    for round in 0..<4000 {
      var value = dice.document(transition: Transition(style: .spin, duration: 0.5)).json
      for _ in 0..<Int.random(in: 0...2, using: &dice) { dice.damage(&value) }
      let note: Comment = "round \(round), seed \(PropertyTests.seed): \(value.compact)"
      let fault = schema.fault(in: plain(value))
      do throws(PolicyError) {
        _ = try PolicyDocument(value)
        decoded += 1
        if let fault { Issue.record("it decodes, but \(fault): \(note)") }
      } catch {
        refused += 1
        // Only the decoder finds errors across values.
        let isBetween = [.controller, .size].contains(error.code)
        if fault == nil, !isBetween { Issue.record("valid, but \(error): \(note)") }
      }
    }
    #expect(decoded > 400 && refused > 400)
  }

  @Test("Random events, intact and damaged, are valid if and only if they decode")
  func randomEvents() throws {
    let schema = try Self.schema("events")
    var dice = SeededGenerator()
    var (decoded, refused) = (0, 0)
    for round in 0..<6000 {
      var value = RotationEvent(at: Double(round) / 8, dice.action(5)).json
      for _ in 0..<Int.random(in: 0...2, using: &dice) { dice.damage(&value) }
      let note: Comment = "round \(round), seed \(PropertyTests.seed): \(value.compact)"
      let fault = schema.fault(in: plain(value))
      do throws(PolicyError) {
        _ = try RotationEvent(value)
        decoded += 1
        if let fault { Issue.record("it decodes, but \(fault): \(note)") }
      } catch {
        refused += 1
        if fault == nil { Issue.record("valid, but \(error): \(note)") }
      }
    }
    #expect(decoded > 400 && refused > 400)
  }

  @Test("Random runs: the output of explain is valid by the report schema") func reports() throws {
    let schema = try Self.schema("report")
    var dice = SeededGenerator()
    for round in 0..<300 {
      guard let plan = dice.run() else { continue }
      let fault = schema.fault(in: plain(plan.json))
      #expect(fault == nil, "round \(round), seed \(PropertyTests.seed)")
    }
  }
}

/// Returns the value as a type of the validator.
func plain(_ value: JSONValue) -> JSON {
  switch value {
  case .null: .null
  case .bool(let flag): .bool(flag)
  case .integer(let number): .number(Double(number))
  case .number(let number): .number(number)
  case .string(let text): .string(text)
  case .array(let values): .array(values.map(plain))
  case .object(let members):
    .object(Dictionary(members.map { ($0.key, plain($0.value)) }) { $1 })
  }
}

extension SeededGenerator {
  /// Changes one place of `value`: another value, an extra, missing or misspelled key, or other case.
  mutating func damage(_ value: inout JSONValue) {
    switch value {
    case .object(var members) where !members.isEmpty && chance(85):
      let index = Int.random(in: 0..<members.count, using: &self)
      switch Int.random(in: 0..<10, using: &self) {
      case 0: members.remove(at: index)
      case 1:
        let key = pick(["kind", "supported", "at", "root", "selected", "children", "stranger"])
        if !members.contains(where: { $0.key == key }) { members.append(.init(key, stranger())) }
      case 2:
        let key = members[index].key + "s"
        if !members.contains(where: { $0.key == key }) { members[index].key = key }
      default: damage(&members[index].value)
      }
      value = .object(members)
    case .array(var values) where !values.isEmpty && chance(85):
      let index = Int.random(in: 0..<values.count, using: &self)
      switch Int.random(in: 0..<4, using: &self) {
      case 0: values.remove(at: index)
      case 1: values.append(chance(50) ? values[index] : stranger())
      default: damage(&values[index])
      }
      value = .array(values)
    case .string(let text) where chance(50): value = .string(text.uppercased())
    default: value = stranger()
    }
  }

  private mutating func stranger() -> JSONValue {
    pick([
      .null, .bool(true), .bool(false), .number(0), .number(-1), .number(2.5), .number(1e10), "",
      "portrait", "LANDSCAPE", "all", "c1", "application", "unknown", "manual", "tab", "720x1280",
      [], ["portrait"], [1], [["all"]], [:], ["kind": "tab"], ["c1": [:]],
    ])
  }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  /// A number, for the lists above.
  public init(integerLiteral value: Int) { self = .number(Double(value)) }
}
