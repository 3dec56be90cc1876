// Where sentences for developers go, as Core Data's do.

import Foundation

/// The standard error stream.
enum StandardError {
    /// Writes a sentence.
    static func write(_ sentence: String) {
        FileHandle.standardError.write(Data("\(sentence)\n".utf8))
    }
}
