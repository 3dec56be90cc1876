// Strings that compare like keys in a store: by their bytes. In Swift, é equals é, however many scalars it
// has.

import CairnModel

/// A string that is equal only to one with the same bytes.
struct ByteText: Hashable, Comparable {
    let text: String

    static func == (one: ByteText, other: ByteText) -> Bool {
        one.text.hasSameBytes(as: other.text)
    }

    static func < (one: ByteText, other: ByteText) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
