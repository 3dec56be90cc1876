// Which places a thread works in: that of the context whose block runs, those of the contexts whose blocks wait for it, and so on.
//
// A block of one context may wait for a block of another one, and that for one of the first. The first one's place is taken, but by
// somebody who waits for just this work: it runs at once. So does what the main queue runs for somebody who waits for it elsewhere.
// Dispatch's own marks do not say this: they are those of the innermost queue.
//
// It also says whose block runs: the place may be that of many contexts.
//
// It is a list on the stacks of those who wait.
//
// Threads: each has its own.

import Glibc

/// The places of a thread, the last one first.
struct HeldPlaces {
    /// Nil for a block that runs where the thread works already.
    private let place: ContextQueue?
    /// Whose block runs; nil for the work of a queue itself.
    private let context: NSManagedObjectContext?
    private let outer: UnsafePointer<HeldPlaces>?

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        guard pthread_key_create(&key, nil) == 0 else { fatalError("no thread key is left") }
        return key
    }()

    /// Those of this thread; nil if it works in none.
    static var current: UnsafePointer<HeldPlaces>? {
        pthread_getspecific(key).map { UnsafePointer($0.assumingMemoryBound(to: Self.self)) }
    }

    /// Whether this thread, or who waits for it, works in a place.
    static func contain(_ place: ContextQueue) -> Bool {
        var next = current
        while let held = next {
            if held.pointee.place === place { return true }
            next = held.pointee.outer
        }
        return false
    }

    /// The context whose block runs; nil outside any.
    static var context: NSManagedObjectContext? {
        var next = current
        while let held = next {
            if let context = held.pointee.context { return context }
            next = held.pointee.outer
        }
        return nil
    }

    /// Runs a block of a context, where that works.
    static func running<R, E: Error>(
        _ context: NSManagedObjectContext, _ work: () throws(E) -> R
    ) throws(E) -> R {
        try HeldPlaces(place: nil, context: context, outer: current).during(work)
    }

    /// Works in a place, which is free.
    ///
    /// - Parameter waiting: the places of who waits for it.
    static func holding<R, E: Error>(
        _ place: ContextQueue, for waiting: UnsafePointer<HeldPlaces>?, _ work: () throws(E) -> R
    ) throws(E) -> R {
        try HeldPlaces(place: place, context: nil, outer: waiting).during(work)
    }

    /// Has it be that of the thread while something runs.
    private func during<R, E: Error>(_ work: () throws(E) -> R) throws(E) -> R {
        let before = pthread_getspecific(Self.key)
        defer { pthread_setspecific(Self.key, before) }
        // It lies on the stack, for the time of the work.
        var held = self
        return try withUnsafeMutablePointer(to: &held) { (pointer) throws(E) in
            pthread_setspecific(Self.key, pointer)
            return try work()
        }
    }
}
