// The policy alone: which way an app's interface turns while its phone is turned, and in which format its
// stream is encoded. No video, no FFmpeg.
import UprightPolicy

// An app that allows every orientation but upside down. `PolicyDocument(json:)` reads one of your own.
guard let policy = PolicyDocument.builtIn("phone") else { fatalError("no such policy") }
var plan = try OrientationPlan(policy)

let events: [RotationEvent] = [
  RotationEvent(at: 3.2, .device(.landscapeLeft)),
  RotationEvent(at: 5, .device(.portraitUpsideDown)),
  RotationEvent(at: 7.5, .lock(true)),
  RotationEvent(at: 8, .device(.portrait)),
]
for event in events { try plan.push(event) }
plan.finish()

for decision in plan.takeEntries() {
  print("\(decision.at) s: \(decision.outcome), the app is in \(decision.to.name)")
}
for change in plan.formats {
  print("from \(change.from) s: encode \(change.format.encodeResolution)")
}
