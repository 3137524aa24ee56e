internal import UprightOrientation

/// The migration of an iOS 5 policy to iOS 6 semantics.
public struct PolicyMigration: Sendable {
  /// The iOS 6 document.
  public let document: PolicyDocument
  /// The cases in which it may decide differently from the iOS 5 document. Empty if there are none.
  public let warnings: [String]

  /// Migrates `old`. A document with iOS 6 semantics is kept unchanged, with a warning.
  ///
  /// The migrated document gives the same results for the same events, except for the cases in `warnings`.
  /// Events that set `accepts` must set `supported` instead.
  ///
  /// - Throws: The errors of `RotationReducer.init` for `old` and for the migrated document.
  public init(_ old: PolicyDocument) throws(PolicyError) {
    guard old.semantics == .ios5 else {
      document = old
      warnings = ["the policy has iOS 6 semantics already: nothing is migrated"]
      return
    }
    let start = try RotationReducer(old).state.appOrientation
    var migration = Migrator(old: old, start: start)
    migration.controllers()
    migration.application()
    try migration.compareStart()
    document = migration.document
    warnings = migration.warnings
  }
}

/// The steps of a migration.
private struct Migrator {
  let old: PolicyDocument
  /// The orientation in which the iOS 5 app starts.
  let start: InterfaceOrientation
  var document: PolicyDocument
  var warnings: [String] = []

  init(old: PolicyDocument, start: InterfaceOrientation) {
    self.old = old
    self.start = start
    document = old
    document.semantics = .ios6
    if document.controllers.isEmpty {
      // The implicit controller accepts only portrait. Make it explicit, so that this can be written.
      document.controllers = [.init(name: ControllerTree.onlyName)]
      document.root = ControllerTree.onlyName
    }
  }

  /// The union of the orientations that the content controllers accept. Under iOS 5 semantics, containers are
  /// not asked for an answer.
  private var accepted: InterfaceOrientationMask {
    old.controllers.isEmpty
      ? .portrait
      : old.controllers.filter { $0.kind == .content }
        .reduce(into: []) { $0.formUnion($1.accepts ?? .portrait) }
  }

  mutating func controllers() {
    for index in document.controllers.indices {
      var controller = document.controllers[index]
      let accepts = controller.accepts ?? .portrait
      // iOS 5 ignores these answers, but iOS 6 would use them.
      controller.accepts = nil
      controller.supported = nil
      controller.preferred = nil
      controller.shouldAutorotate = .yes
      if controller.kind != .content {
        controller.authority = .visibleChild
      } else if accepts.isEmpty {
        controller.supported = InterfaceOrientationMask(start)
        controller.shouldAutorotate = .no
        warnIfTurned(controller.name)
      } else {
        controller.supported = accepts
      }
      document.controllers[index] = controller
    }
  }

  /// Warns about a controller that accepts no orientation. Under iOS 5 it stays in the orientation in which
  /// it is shown. iOS 6 has no such answer. The orientation at the start is equivalent only if the app is
  /// never in another one.
  private mutating func warnIfTurned(_ name: String) {
    guard !accepted.subtracting(InterfaceOrientationMask(start)).isEmpty else { return }
    warnings.append(
      "\(quoted(name)) accepts no orientation and kept the one it was shown in:"
        + " now it supports \(start.name) and rotates to it")
  }

  /// Extends the application's mask by what the controllers accept. iOS 5 did not use the application's mask.
  mutating func application() {
    let mask = old.application.mask(on: old.device.idiom)
    guard !accepted.isSubset(of: mask) else { return }
    document.application.delegate = mask.union(accepted)
  }

  mutating func compareStart() throws(PolicyError) {
    let now = try RotationReducer(document).state.appOrientation
    guard now != start else { return }
    warnings.append(
      "the app started in \(start.name), now it starts in \(now.name):"
        + " the application's mask must allow what the controllers accept")
  }
}
