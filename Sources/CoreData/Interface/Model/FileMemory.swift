// What has been read of files that seldom change, such as the resources of a program, so that it is read once.
//
// Invariant: what is remembered was read from the file as it is. A file is known by its number, its size and the time of its last
// change.
// Threads: any.

import Foundation
import Synchronization

/// What has been read of files.
final class FileMemory<Value: Sendable>: Sendable {
    private struct State: Equatable {
        let number: Int?
        let size: Int?
        let changed: Date?

        init?(_ path: String) {
            // Of a link that is what the link is.
            let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            guard let file = try? FileManager.default.attributesOfItem(atPath: path) else {
                return nil
            }
            number = (file[.systemFileNumber] as? NSNumber)?.intValue
            size = (file[.size] as? NSNumber)?.intValue
            changed = file[.modificationDate] as? Date
        }
    }

    private let known = Mutex<[String: (state: State, value: Value)]>([:])
    /// No program has as many models as that: one that makes them anew forgets the old ones.
    private static var limit: Int { 1_000 }

    /// What a file says, read if it is not known; nil if that fails.
    func value(ofFileAt path: String, _ read: () -> Value?) -> Value? {
        guard let state = State(path) else { return nil }
        if let known = known.withLock({ $0[path] }), known.state == state { return known.value }
        guard let value = read() else { return nil }
        known.withLock { known in
            if known.count >= Self.limit { known = [:] }
            known[path] = (state, value)
        }
        return value
    }
}
