// A change of a source text: a range of bytes and what replaces it.
//
// Rules change bytes rather than syntax trees, so that whatever they do not mean to change stays as it was written.

/// A change of a text.
struct SourceEdit {
    /// The bytes that go, as offsets in UTF-8.
    let range: Range<Int>
    /// What comes in their place.
    let text: String

    init(_ range: Range<Int>, _ text: String) {
        self.range = range
        self.text = text
    }

    /// A text that is added.
    static func insertion(_ text: String, at offset: Int) -> SourceEdit {
        SourceEdit(offset..<offset, text)
    }

    /// A text that is removed.
    static func removal(_ range: Range<Int>) -> SourceEdit { SourceEdit(range, "") }

    /// Applies edits to a text. An edit that overlaps one before it has to wait for the next pass.
    static func apply(_ edits: [SourceEdit], to text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = 0
        // Where two begin at the same place, the insertion comes first, and insertions in their order.
        let ordered = edits.enumerated().sorted {
            ($0.element.range.lowerBound, $0.element.range.upperBound, $0.offset)
                < ($1.element.range.lowerBound, $1.element.range.upperBound, $1.offset)
        }
        for (_, edit) in ordered where edit.range.lowerBound >= position {
            result += bytes[position..<edit.range.lowerBound]
            result += edit.text.utf8
            position = edit.range.upperBound
        }
        result += bytes[position...]
        return String(decoding: result, as: UTF8.self)
    }
}
