import Foundation
import UprightServiceTestSupport
import Yams

extension JSON {
  /// Parses a YAML document whose values are those of JSON.
  ///
  /// - Throws: The error of Yams or Foundation if it isn't one.
  init(yaml text: String) throws {
    let value = try Yams.load(yaml: text) ?? NSNull()
    let data = try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
    self = try JSONDecoder().decode(JSON.self, from: data)
  }
}
