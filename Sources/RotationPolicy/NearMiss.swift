/// Returns the candidate that `word` was probably meant to be: one that differs only in case, or by a
/// small edit distance. Returns `nil` if no candidate is close enough.
///
/// Both words are cut to 48 bytes and at most 512 candidates are compared, so that a hostile document can't
/// make an error message expensive.
func nearMiss(of word: String, among candidates: some Sequence<String>) -> String? {
  let asked = Array(word.lowercased().utf8.prefix(48))
  var best: (word: String, distance: Int)?
  for candidate in candidates.prefix(512) where candidate != word {
    let known = Array(candidate.lowercased().utf8.prefix(48))
    let distance = editDistance(asked, known)
    // A third of the word may be wrong, and at most three letters. Beyond that, a suggestion is a guess.
    guard distance <= min(3, max(1, known.count / 3)) else { continue }
    if distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.word
}

/// Returns the optimal string alignment distance: insertions, deletions, substitutions and swaps of two
/// adjacent bytes cost one each. O(a.count * b.count).
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
  var beforeLast = [Int](repeating: 0, count: b.count + 1)
  var last = Array(0...b.count)
  var row = last
  for i in 1...a.count {
    row[0] = i
    for j in 1...b.count {
      let substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
      row[j] = min(substitution, last[j] + 1, row[j - 1] + 1)
      if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
        row[j] = min(row[j], beforeLast[j - 2] + 1)
      }
    }
    (beforeLast, last, row) = (last, row, beforeLast)
  }
  return last[b.count]
}
