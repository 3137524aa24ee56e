import Testing

// How Scripts/run_tests.py runs a suite: it reads these tags in the list of tests.
extension Tag {
  /// A suite that mostly waits: it needs a fifth of a core, and starts first. Suites of the service do without the tag.
  @Tag package static var waits: Self
  /// A suite that measures real time: it runs after those that wait, and the others get what it leaves. Its tests run in
  /// a process each, three at a time.
  @Tag package static var timed: Self
  /// A `timed` suite of which five tests can run at a time, as none has a browser.
  @Tag package static var light: Self
  /// A test of a `timed` suite beside which no other of these runs.
  @Tag package static var alone: Self
  /// A suite whose tests run in a process each: in one process it would take as long as all others of live sessions.
  @Tag package static var divided: Self
  /// A suite that takes 20 seconds or more: it starts early in a fresh clone. Later the last durations are known.
  @Tag package static var lengthy: Self
}
