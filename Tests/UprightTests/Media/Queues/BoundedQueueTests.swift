import Foundation
import Synchronization
import Testing

@testable import UprightMedia

@Suite struct BoundedQueueTests {
  private struct Item: ~Copyable, Sendable { let number: Int }

  @Test(
    "All items are received in order, and the producer is limited to the capacity",
    arguments: [0, 1, 3])
  func inOrder(_ capacity: Int) {
    let queue = BoundedQueue<Item>(capacity: capacity)
    let ahead = Atomic<Int>(0)
    let highest = Atomic<Int>(0)
    let producer = WorkThread(name: "producer") { () -> Bool in
      var isAllTaken = true
      for number in 0..<2000 {
        isAllTaken = queue.put(Item(number: number)) && isAllTaken
        let (_, now) = ahead.add(1, ordering: .relaxed)
        highest.max(now, ordering: .relaxed)
      }
      queue.close()
      return isAllTaken
    }
    var numbers: [Int] = []
    while let item = queue.take() {
      numbers.append(item.number)
      ahead.subtract(1, ordering: .relaxed)
    }
    #expect(producer.join() == true)
    #expect(numbers == Array(0..<2000))
    // The queued items, one that is counted late, and one that was just taken.
    #expect(highest.load(ordering: .relaxed) <= capacity + 2)
  }

  @Test("With capacity 0, no item is produced before it is requested")
  func turns() {
    let queue = BoundedQueue<Item>(capacity: 0)
    let made = Atomic<Int>(0)
    let producer = WorkThread(name: "producer") { () -> Bool in
      for number in 0..<3 {
        queue.waitForRoom()
        made.add(1, ordering: .sequentiallyConsistent)
        _ = queue.put(Item(number: number))
      }
      queue.close()
      return true
    }
    for asked in 0..<3 {
      usleep(50_000)
      #expect(made.load(ordering: .sequentiallyConsistent) == asked)
      var number = -1
      if let item = queue.take() { number = item.number }
      #expect(number == asked)
    }
    let last = queue.take() == nil
    #expect(last && producer.join() == true)
  }

  @Test("With capacity 0, closing wakes the other side")
  func closedWithoutCapacity() {
    let queue = BoundedQueue<Item>(capacity: 0)
    let producer = WorkThread(name: "producer") { () -> Bool in queue.put(Item(number: 0)) }
    usleep(20_000)
    queue.close()
    #expect(producer.join() == false)
    let other = BoundedQueue<Item>(capacity: 0)
    let consumer = WorkThread(name: "consumer") { () -> Bool in other.take() == nil }
    usleep(20_000)
    other.close()
    #expect(consumer.join() == true)
  }

  @Test("Closing by the consumer wakes a waiting producer")
  func closedByConsumer() {
    let queue = BoundedQueue<Item>(capacity: 1)
    let producer = WorkThread(name: "producer") { () -> Int in
      var put = 0
      while queue.put(Item(number: put)) { put += 1 }
      return put
    }
    var first = -1
    if let item = queue.take() { first = item.number }
    #expect(first == 0)
    queue.close()
    let count = producer.join() ?? -1
    #expect(count >= 1 && count <= 3)
    // Queued items can still be taken.
    var left = 0
    while let item = queue.take() { left += item.number >= 0 ? 1 : 0 }
    #expect(left <= 1)
    let isTaken = queue.put(Item(number: 9))
    #expect(!isTaken)
  }

  @Test("Closing by the producer wakes a waiting consumer")
  func closedByProducer() {
    let queue = BoundedQueue<Item>(capacity: 4)
    let consumer = WorkThread(name: "consumer") { () -> [Int] in
      var numbers: [Int] = []
      while let item = queue.take() { numbers.append(item.number) }
      return numbers
    }
    _ = queue.put(Item(number: 1))
    _ = queue.put(Item(number: 2))
    queue.close()
    queue.close()
    #expect(consumer.join() == [1, 2])
  }
}
