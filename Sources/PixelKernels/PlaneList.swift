/// Up to four values, one for each plane of a frame. They are stored inline, because frames are processed
/// dozens of times per second without heap allocations.
package struct PlaneList<Element>: RandomAccessCollection {
  private var slots: InlineArray<4, Element?> = InlineArray(repeating: nil)
  package private(set) var endIndex = 0

  package init() {}

  package var startIndex: Int { 0 }

  package subscript(index: Int) -> Element {
    // An index past the end traps as an array does.
    guard index < endIndex, let element = slots[index] else { return [Element]()[index] }
    return element
  }

  /// Appends a value. There must be fewer than four.
  package mutating func append(_ element: Element) {
    slots[endIndex] = element
    endIndex += 1
  }
}
