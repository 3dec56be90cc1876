// What was found out about key paths, so that it need not be found out again.
//
// The paths that a program writes are few. But a path that captures a value, as `\Product.parts[number].name`, is another one
// for each value: when there are too many, all are forgotten, and those that are asked for are found again.
//
// Threads: any.

import Synchronization

/// Answers to questions about key paths.
package final class KnownPaths<Answer: Sendable>: Sendable {
    /// The most that are kept.
    static var room: Int { 1024 }

    private let answers = Mutex<[KnownPath: Answer]>([:])

    package init() {}

    /// How many are kept.
    var count: Int { answers.withLock { $0.count } }

    /// What is known of a path, or is found now.
    package func answer(for path: AnyKeyPath, orFind find: () -> Answer) -> Answer {
        let path = KnownPath(path: path)
        if let known = answers.withLock({ $0[path] }) { return known }
        let answer = find()
        answers.withLock { answers in
            if answers.count >= Self.room { answers.removeAll(keepingCapacity: true) }
            answers[path] = answer
        }
        return answer
    }
}

/// A key path as something to be compared, and looked for, by any thread.
struct KnownPath: Hashable, @unchecked Sendable {
    // Key paths are immutable; those that a macro or a literal makes capture nothing but Sendable values.
    let path: AnyKeyPath
}
