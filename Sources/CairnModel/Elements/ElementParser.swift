// Parses the XML of a model file into a tree of elements with their line numbers.
//
//   1. The text is brought to UTF-8; a text that is not valid in its encoding is refused as a whole.
//   2. Tags are read one after the other; a stack holds the elements that are open, and one that closes
//      is added to the one around it. The first is the root.
//   3. Declarations, comments and instructions are passed over, and so is the text between elements, unless it is
//      asked for: a model file keeps everything in attributes, a mapping model in elements.
//
// Foundation's parser is not used: it traps on a tag that is not valid UTF-8, and it would bring all of
// Foundation into this module. A document type with declarations of its own is refused, so no entity can
// grow.
//
// Invariants: `position` never passes the end; the stack is never deeper than its limit.
// Threads: a parser lives in one call.

import FoundationEssentials

/// Parses the subset of XML that model files use.
struct ElementParser {
    /// Model files are four deep. The limit keeps a hostile file from filling the stack.
    private static let depthLimit = 64

    private let bytes: [UInt8]
    private let file: String?
    private let keepsText: Bool
    private var position = 0
    private var line = 1
    private var open: [ModelElement] = []
    /// The texts of the elements that are open.
    private var texts: [[UInt8]] = []
    private var root: ModelElement?

    /// The root element of a text.
    ///
    /// - Parameter keepsText: whether elements that have no others inside them have their text.
    static func parse(_ xml: Data, file: String?, keepsText: Bool = false) throws(ModelError)
        -> ModelElement
    {
        var parser = ElementParser(
            bytes: try utf8(xml, file: file), file: file, keepsText: keepsText)
        return try parser.document()
    }

    private init(bytes: [UInt8], file: String?, keepsText: Bool) {
        self.bytes = bytes
        self.file = file
        self.keepsText = keepsText
    }

    private func error(_ reason: String, line: Int? = nil) -> ModelError {
        ModelError(.malformed, "the XML is broken: \(reason)", file: file, line: line ?? self.line)
    }

    // MARK: Encoding

    /// The text as UTF-8 without a byte order mark.
    private static func utf8(_ xml: Data, file: String?) throws(ModelError) -> [UInt8] {
        let bytes = [UInt8](xml)
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            let isLittle = bytes[0] == 0xFF
            let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
                let (one, two) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                return isLittle ? two << 8 | one : one << 8 | two
            }
            guard bytes.count % 2 == 0, let text = String(validating: units, as: UTF16.self) else {
                throw ModelError(
                    .malformed, "the XML is broken: it is not valid UTF-16", file: file, line: 1)
            }
            return Array(text.utf8)
        }
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = Array(bytes[start...])
        guard String(validating: text, as: UTF8.self) != nil else {
            let line = firstInvalidLine(of: text)
            throw ModelError(
                .malformed, "the XML is broken: a character is not valid UTF-8", file: file,
                line: line)
        }
        return text
    }

    private static func firstInvalidLine(of bytes: [UInt8]) -> Int {
        var line = 1
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if String(validating: part, as: UTF8.self) == nil { break }
            line += 1
        }
        return line
    }

    // MARK: Document

    private mutating func document() throws(ModelError) -> ModelElement {
        while position < bytes.count {
            if peek() != UInt8(ascii: "<") {
                guard !open.isEmpty || isBlank(bytes[position]) else {
                    throw error(
                        root == nil
                            ? "it does not start with an element"
                            : "there is content after the root element")
                }
                if open.isEmpty { advance() } else { try text() }
            } else if starts("<!--") {
                try skip(past: "-->", "a comment")
            } else if starts("<?") {
                try skipInstruction()
            } else if starts("<![CDATA[") {
                guard !open.isEmpty else { throw error("there is text outside the elements") }
                let start = position + 9
                try skip(past: "]]>", "a CDATA section")
                if keepsText { texts[texts.count - 1] += bytes[start..<position - 3] }
            } else if starts("<!") {
                try skipDocumentType()
            } else if starts("</") {
                try closingTag()
            } else {
                try openingTag()
            }
        }
        guard open.isEmpty else { throw error("it ends before all elements are closed") }
        guard let root else { throw error("it has no element") }
        return root
    }

    private mutating func openingTag() throws(ModelError) {
        let start = line
        guard root == nil else { throw error("it has more than one root element") }
        guard open.count < Self.depthLimit else {
            throw error("elements are nested more than \(Self.depthLimit) deep")
        }
        advance()
        let name = try name()
        var marks: [String: String] = [:]
        while true {
            let hasBlank = skipBlanks()
            if starts("/>") || starts(">") { break }
            guard position < bytes.count else {
                throw error("it ends inside the tag \(name)")
            }
            guard hasBlank else { throw error("a space is missing in the tag \(name)") }
            let mark = try self.name()
            skipBlanks()
            guard take("=") else { throw error("the attribute \(mark) has no value") }
            skipBlanks()
            let value = try quoted(mark)
            guard marks.updateValue(value, forKey: mark) == nil else {
                throw error("the tag \(name) has the attribute \(mark) twice")
            }
        }
        let element = ModelElement(name: name, marks: marks, line: start)
        if take("/>") {
            close(element)
        } else {
            advance()
            open.append(element)
            texts.append([])
        }
    }

    private mutating func closingTag() throws(ModelError) {
        advance(2)
        let name = try name()
        skipBlanks()
        guard take(">") else { throw error("the closing tag \(name) does not end") }
        guard var element = open.popLast(), let text = texts.popLast() else {
            throw error("the closing tag \(name) has no opening tag")
        }
        if element.children.isEmpty { element.text = String(decoding: text, as: UTF8.self) }
        guard element.name == name else {
            throw error(
                "the closing tag \(name) does not match \(element.name), opened on line \(element.line)"
            )
        }
        close(element)
    }

    private mutating func close(_ element: ModelElement) {
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    /// Text inside an element, up to the next tag. References are understood only where the text is kept.
    private mutating func text() throws(ModelError) {
        let start = position
        while let byte = peek(), byte != UInt8(ascii: "<") {
            if keepsText, byte == UInt8(ascii: "&") { break }
            advance()
        }
        guard keepsText else { return }
        texts[texts.count - 1] += bytes[start..<position]
        if peek() == UInt8(ascii: "&") { texts[texts.count - 1] += try reference().utf8 }
    }

    // MARK: What is passed over

    private mutating func skip(past end: String, _ what: String) throws(ModelError) {
        let start = line
        while !starts(end) {
            guard position < bytes.count else { throw error("\(what) does not end", line: start) }
            advance()
        }
        advance(end.utf8.count)
    }

    /// An instruction. The declaration at the beginning names the encoding.
    private mutating func skipInstruction() throws(ModelError) {
        let start = position
        try skip(past: "?>", "an instruction")
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        let parts = text.split(
            separator: "encoding", maxSplits: 1, omittingEmptySubsequences: false)
        guard start == 0, text.hasPrefix("<?xml"), parts.count == 2 else { return }
        let name = parts[1].drop { $0 == "=" || $0 == "\"" || $0 == "'" || $0 == " " }
            .prefix { $0 != "\"" && $0 != "'" }
        guard ["utf-8", "utf8", "us-ascii", "ascii", "utf-16"].contains(name.lowercased()) else {
            throw error("the encoding \(name) is not supported: save the file as UTF-8", line: 1)
        }
    }

    private mutating func skipDocumentType() throws(ModelError) {
        let start = line
        while peek() != UInt8(ascii: ">") {
            guard position < bytes.count else {
                throw error("the document type does not end", line: start)
            }
            guard peek() != UInt8(ascii: "[") else {
                throw error("declarations inside a document type are not supported")
            }
            advance()
        }
        advance()
    }

    // MARK: Names and values

    private mutating func name() throws(ModelError) -> String {
        let start = position
        while let byte = peek(), Self.isName(byte) { advance() }
        guard start < position, !(48...57).contains(bytes[start]) else {
            throw error("a name is expected")
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, 0x80...: true
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: false
        }
    }

    private mutating func quoted(_ mark: String) throws(ModelError) -> String {
        let start = line
        guard let quote = peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw error("the value of \(mark) is not in quotation marks")
        }
        advance()
        var value: [UInt8] = []
        while let byte = peek() {
            switch byte {
            case quote:
                advance()
                return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "<"):
                throw error("the value of \(mark) is not closed by a quotation mark", line: start)
            case UInt8(ascii: "&"):
                value += try reference().utf8
            case UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                // A blank written as such is a space; one that counts is written as a reference.
                value.append(UInt8(ascii: " "))
                advance()
            default:
                value.append(byte)
                advance()
            }
        }
        throw error("the value of \(mark) is not closed by a quotation mark", line: start)
    }

    private mutating func reference() throws(ModelError) -> String {
        let start = position
        while let byte = peek(), byte != UInt8(ascii: ";"), position - start < 12 { advance() }
        let name = String(decoding: bytes[start + 1..<max(position, start + 1)], as: UTF8.self)
        guard take(";") else { throw error("the character & is not written as &amp;") }
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let code =
                name.hasPrefix("#x")
                ? UInt32(name.dropFirst(2), radix: 16)
                : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
            guard let code, code != 0, let scalar = Unicode.Scalar(code) else {
                throw error("&\(name); is not a known character")
            }
            return String(Character(scalar))
        }
    }

    // MARK: Bytes

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private func starts(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private mutating func take(_ text: String) -> Bool {
        guard starts(text) else { return false }
        advance(text.utf8.count)
        return true
    }

    @discardableResult
    private mutating func skipBlanks() -> Bool {
        let start = position
        while let byte = peek(), isBlank(byte) { advance() }
        return position > start
    }

    private func isBlank(_ byte: UInt8) -> Bool {
        byte == 32 || byte == 9 || byte == 10 || byte == 13
    }
}
