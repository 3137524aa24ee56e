/// Up to four values, one for each plane of a picture. They lie in the list itself: pictures come dozens
/// of times a second, and none of them should ask for memory.
package struct PlaneList<Element>: RandomAccessCollection {
  private var slots: InlineArray<4, Element?> = InlineArray(repeating: nil)
  package private(set) var endIndex = 0

  package init() {}

  package var startIndex: Int { 0 }

  package subscript(index: Int) -> Element {
    // Beyond the end it traps as an array does.
    guard index < endIndex, let element = slots[index] else { return [Element]()[index] }
    return element
  }

  /// Adds a value behind the others; there must be fewer than four.
  package mutating func append(_ element: Element) {
    slots[endIndex] = element
    endIndex += 1
  }
}
