// Whether a text has one of some words: what decides whether a file is parsed at all.

/// Searches for words in one pass over a text.
struct WordSearch: Sendable {
    /// The words by their first byte.
    private var words: [[[UInt8]]]

    init(_ words: some Sequence<String>) {
        self.words = Array(repeating: [], count: 256)
        for word in words {
            let bytes = Array(word.utf8)
            if let first = bytes.first { self.words[Int(first)].append(bytes) }
        }
    }

    /// Whether one of the words is in the text, also as a part of another word.
    func finds(in text: some StringProtocol) -> Bool {
        let found = text.utf8.withContiguousStorageIfAvailable(finds)
        return found ?? Array(text.utf8).withUnsafeBufferPointer(finds)
    }

    private func finds(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in bytes.indices {
            for word in words[Int(bytes[index])]
            where bytes.count - index >= word.count
                && word.indices.allSatisfy({ bytes[index + $0] == word[$0] })
            {
                return true
            }
        }
        return false
    }
}
