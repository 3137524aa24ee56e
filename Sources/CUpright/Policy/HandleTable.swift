#if canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif
package import UprightOrientation

/// What a C handle stands for.
package protocol HandleObject: AnyObject {
  /// The handle's type in C, for messages.
  static var name: String { get }
  /// Ends what is going on, so that calls that wait return soon. Called once, before the handle is freed, on
  /// any thread.
  func close()
}

extension HandleObject {
  package func close() {}
}

/// The part of a handle that a call uses alone.
package struct HandlePart: OptionSet {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// All that is called by one thread at a time; of a session, what sends.
  package static let main = HandlePart(rawValue: 1)
  /// What receives.
  package static let output = HandlePart(rawValue: 2)
  /// Nothing: the call is allowed from any thread.
  package static let none: HandlePart = []
}

/// The objects behind the handles of the process.
///
/// A handle is not an address, but the index of a slot with the number of its present use. So a handle that
/// was freed, and a value that isn't a handle, are recognised.
@safe package final class HandleTable: @unchecked Sendable {
  // Unchecked: everything below is accessed only while `mutex` is locked.
  package static let shared = HandleTable()

  private struct Slot {
    var object: (any HandleObject)?
    /// How often the slot has been used.
    var use: UInt = 1
    var calls = 0
    var busy = HandlePart.none
    var isClosing = false
    /// The thread that a callback of the handle is running on.
    var callback: pthread_t?
  }

  private var slots: [Slot] = []
  private var free: [Int] = []
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  private static let indexBits = 20
  /// In the lowest four bits: no allocator returns such an address.
  private static let tag: UInt = 5

  private init() {
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(changed, nil)
  }

  private func locked<Value>(_ body: () throws(UprightError) -> Value) throws(UprightError) -> Value
  {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body()
  }

  /// Makes a handle for `object`.
  ///
  /// - Throws: `usage` if there are a million handles.
  package func add(_ object: any HandleObject) throws(UprightError) -> OpaquePointer? {
    unsafe try locked { () throws(UprightError) in
      let index = free.popLast() ?? slots.count
      guard index < 1 << Self.indexBits else {
        throw UprightError(.usage, "there are \(index) handles", remedy: "free those not in use")
      }
      if index == slots.count { slots.append(Slot()) }
      slots[index].object = object
      let number = (slots[index].use << Self.indexBits | UInt(index)) << 4 | Self.tag
      return unsafe OpaquePointer(bitPattern: number)
    }
  }

  /// Returns the slot of a handle in use. Call with `mutex` locked.
  private func find<Object: HandleObject>(
    _ handle: OpaquePointer?, _ type: Object.Type
  ) throws(UprightError) -> (index: Int, object: Object) {
    guard let handle = unsafe handle else {
      throw UprightError(.misuse, "the handle is NULL", at: Object.name)
    }
    let number = UInt(bitPattern: handle)
    let index = Int(number >> 4 & (1 << UInt(Self.indexBits) - 1))
    guard number & 15 == Self.tag, index < slots.count,
      slots[index].use << Self.indexBits | UInt(index) == number >> 4,
      !slots[index].isClosing, let object = slots[index].object
    else {
      throw UprightError(.misuse, "the handle was freed, or is not a handle", at: Object.name)
    }
    guard let object = object as? Object else {
      throw UprightError(.misuse, "the handle has another type", at: Object.name)
    }
    return (index, object)
  }

  /// Calls `body` with the object of a handle, whose `part` is its own for that time.
  ///
  /// - Throws: `misuse` for a handle that isn't one of this type, `busy` if another call uses the part.
  package func use<Object: HandleObject, Value>(
    _ handle: OpaquePointer?, as type: Object.Type, _ part: HandlePart,
    _ body: (Object) throws(UprightError) -> Value
  ) throws(UprightError) -> Value {
    let (index, object) = try locked { () throws(UprightError) in
      let (index, object) = unsafe try find(handle, type)
      guard slots[index].busy.isDisjoint(with: part) else {
        throw UprightError(
          .busy, "another call is using the handle", at: Object.name,
          remedy: "use it on one thread at a time, and not in its own callback")
      }
      slots[index].busy.formUnion(part)
      slots[index].calls += 1
      return (index, object)
    }
    defer {
      unsafe pthread_mutex_lock(mutex)
      slots[index].busy.subtract(part)
      slots[index].calls -= 1
      if slots[index].isClosing { unsafe pthread_cond_broadcast(changed) }
      unsafe pthread_mutex_unlock(mutex)
    }
    return try body(object)
  }

  /// Calls `body`, a callback of a handle in use.
  package func callBack<Value>(of handle: OpaquePointer?, _ body: () -> Value) -> Value {
    let index = Int(UInt(bitPattern: handle) >> 4 & (1 << UInt(Self.indexBits) - 1))
    setCallback(index, pthread_self())
    defer { setCallback(index, nil) }
    return body()
  }

  private func setCallback(_ index: Int, _ thread: pthread_t?) {
    unsafe pthread_mutex_lock(mutex)
    slots[index].callback = thread
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Closes the object of a handle, waits for the calls that use it, and frees the handle.
  ///
  /// - Throws: `misuse` for a handle that isn't one of this type, `busy` in one of its callbacks.
  package func remove<Object: HandleObject>(
    _ handle: OpaquePointer?, as type: Object.Type
  ) throws(UprightError) {
    let (index, object) = try locked { () throws(UprightError) in
      let (index, object) = unsafe try find(handle, type)
      if let thread = slots[index].callback, pthread_equal(thread, pthread_self()) != 0 {
        throw UprightError(
          .busy, "a callback can't free its own handle", at: Object.name,
          remedy: "return something else than 0, and free it afterwards")
      }
      slots[index].isClosing = true
      return (index, object)
    }
    object.close()
    unsafe pthread_mutex_lock(mutex)
    while slots[index].calls > 0 { unsafe pthread_cond_wait(changed, mutex) }
    slots[index] = Slot(use: slots[index].use &+ 1)
    free.append(index)
    unsafe pthread_mutex_unlock(mutex)
  }
}
