internal import Orientation

/// An iOS 5 policy as iOS 6 asks its questions, and what could not be kept.
public struct PolicyMigration: Sendable {
  /// The iOS 6 document.
  public let document: PolicyDocument
  /// Where it may decide otherwise than the iOS 5 document; empty: nowhere.
  public let warnings: [String]

  /// Migrates `old`; spec 2, "iOS 5". A document that is iOS 6 already is returned as it is, with a
  /// warning. Throws where `old` cannot start.
  ///
  /// The same holds for the same events, with one exception: an event that sets `accepts` has to set
  /// `supported` from now on.
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
  /// Where the iOS 5 app starts.
  let start: InterfaceOrientation
  var document: PolicyDocument
  var warnings: [String] = []

  init(old: PolicyDocument, start: InterfaceOrientation) {
    self.old = old
    self.start = start
    document = old
    document.semantics = .ios6
    if document.controllers.isEmpty {
      // The one that stands for none accepts portrait only: it needs a name to say so.
      document.controllers = [.init(name: ControllerTree.onlyName)]
      document.root = ControllerTree.onlyName
    }
  }

  /// What all controllers together accept. A container's own answer is never asked for.
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
      // None of these was asked before; now each would be.
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

  /// A controller that accepts nothing stays in whatever orientation it is shown in. iOS 6 has no such
  /// answer; the start's orientation is the same only where the app is never in another.
  private mutating func warnIfTurned(_ name: String) {
    guard !accepted.subtracting(InterfaceOrientationMask(start)).isEmpty else { return }
    warnings.append(
      "\(quoted(name)) accepts no orientation and kept whichever it was shown in:"
        + " now it supports \(start.name) and turns to it")
  }

  /// Nothing that a controller accepts may fail on the application's mask, which iOS 5 did not ask.
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
        + " the application's mask has to allow what the controllers accept")
  }
}
