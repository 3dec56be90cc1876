// Where the work of a context is done: a queue of its own, the main queue, or wherever its maker is.
//
// A context and those that work on it share objects' values, so a tree of contexts works in one place: the queue of its root, or
// the main queue if one of them is of the main queue. A context that gets a parent goes over to its place; what had been asked
// for before goes along.
//
// Work inside work of the same place runs at once instead of waiting for itself: see `HeldPlaces`.
//
// Invariant: going over never leads back: a place that another one was left for is never left for that again.
// Threads: any.

import Dispatch
import Foundation
import Synchronization

/// Runs what is to be done in a context.
final class ContextQueue: Sendable {
    /// The main queue.
    static let main: ContextQueue = {
        DispatchQueue.main.setSpecific(key: mainMark, value: ())
        return ContextQueue(.main)
    }()
    private static let mainMark = DispatchSpecificKey<Void>()

    /// Nil: on the thread of whoever asks.
    private let queue: DispatchQueue?
    /// Where the work is done instead.
    private let successor = Mutex<ContextQueue?>(nil)

    private init(_ queue: DispatchQueue?) { self.queue = queue }

    /// The place for a new context.
    static func make(_ type: NSManagedObjectContextConcurrencyType) -> ContextQueue {
        switch type {
        case .mainQueueConcurrencyType: return main
        case .confinementConcurrencyType: return ContextQueue(nil)
        case .privateQueueConcurrencyType:
            return ContextQueue(DispatchQueue(label: "NSManagedObjectContext"))
        }
    }

    /// Where the work is done now.
    private var place: ContextQueue {
        var place = self
        while let next = place.successor.withLock(\.self) { place = next }
        return place
    }

    /// Whether the work is done on the main queue.
    var isMain: Bool { place === Self.main }

    /// Whether the caller is where the work is done.
    var isCurrent: Bool {
        let place = place
        if place.queue == nil || HeldPlaces.contain(place) { return true }
        return place === Self.main && Self.isOnMainQueue
    }

    /// Whether the caller is on the main queue, whoever has brought him there. That need not be the main thread: a program that has
    /// called `dispatchMain()`, as Swift does where `main` is asynchronous, runs the main queue on other threads.
    private static var isOnMainQueue: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mainMark) != nil
    }

    /// From now on the work is done in one place with that of another queue. Waits for what runs here.
    func join(_ other: ContextQueue) {
        let (mine, others) = (place, other.place)
        if mine === others { return }
        if mine === Self.main { return others.join(mine) }
        let goOver = { mine.successor.withLock { $0 = others } }
        if mine.isCurrent { goOver() } else { mine.queue?.sync(execute: goOver) }
    }

    /// Runs something later, after what was asked for before.
    func async(_ work: @escaping () -> Void) {
        let place = place
        guard let queue = place.queue else { return work() }
        let work = Handed(work)
        queue.async {
            // The place may have been left meanwhile.
            if place.successor.withLock({ $0 != nil }) { return place.async(work.value) }
            HeldPlaces.holding(place, for: nil, work.value)
        }
    }

    /// Runs something and waits for it; at once if the caller is where it is done.
    func sync<R, E: Error>(_ work: () throws(E) -> R) throws(E) -> R {
        if isCurrent { return try work() }
        guard !HeldPlaces.contain(Self.main), Self.isOnMainQueue else {
            return try wait(for: work)
        }
        // The main queue's marks are not to be seen from another queue.
        return try HeldPlaces.holding(Self.main, for: HeldPlaces.current) { () throws(E) in
            try wait(for: work)
        }
    }

    private func wait<R, E: Error>(for work: () throws(E) -> R) throws(E) -> R {
        let waiting = HeldPlaces.current
        while true {
            let place = place
            guard let queue = place.queue, !place.isCurrent else { return try work() }
            let result = queue.sync { () -> Result<R, E>? in
                guard place.successor.withLock({ $0 == nil }) else { return nil }
                return Result { () throws(E) in
                    try HeldPlaces.holding(place, for: waiting, work)
                }
            }
            if let result { return try result.get() }
        }
    }
}

/// A value that goes from one thread to another.
struct Handed<Value>: @unchecked Sendable {
    // Whoever hands it over does not touch it again until it has run: the program's promise, as in Core Data.
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// Where the work of a context is done.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// Where its maker is. Core Data has given that up.
    case confinementConcurrencyType = 0
    /// On a queue of its own.
    case privateQueueConcurrencyType = 1
    /// On the main queue, which somebody has to run: `dispatchMain()`, a run loop, or an asynchronous `main`.
    case mainQueueConcurrencyType = 2
}
