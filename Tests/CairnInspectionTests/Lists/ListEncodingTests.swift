// Lists in other encodings than UTF-8.

import Testing

@testable import CairnInspection

@Suite("The encoding of a list")
struct ListEncodingTests {
    private static let text = "name,city\nZoë,“Łódź”\n😀,Köln\n"

    private func options(_ encoding: ListEncoding) -> ListOptions {
        var options = ListOptions()
        options.encoding = encoding
        return options
    }

    private func bytes(_ text: String, isLittle: Bool, mark: Bool) -> [UInt8] {
        (Array((mark ? "\u{FEFF}" : "").utf16) + Array(text.utf16)).flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isLittle ? [low, high] : [high, low]
        }
    }

    @Test("UTF-16 is read in either order, and found by its mark", arguments: [true, false])
    func utf16(isLittle: Bool) throws {
        let expected = try records(list(Self.text))
        let marked = bytes(Self.text, isLittle: isLittle, mark: true)
        let plain = bytes(Self.text, isLittle: isLittle, mark: false)
        #expect(try records(ListSource(marked, name: "list")) == expected)
        #expect(try records(ListSource(marked, name: "list", options: options(.utf16))) == expected)
        #expect(try records(ListSource(plain, name: "list", options: options(.utf16))) == expected)
        let named: ListEncoding = isLittle ? .utf16LittleEndian : .utf16BigEndian
        #expect(try records(ListSource(plain, name: "list", options: options(named))) == expected)
        let json = bytes("[{\"a\":\"é😀\"}]", isLittle: isLittle, mark: true)
        #expect(try records(ListSource(json, name: "list")) == [["a=string:é😀"]])
    }

    @Test("every byte of Latin 1 and Windows 1252 is the character of its table")
    func oneByte() throws {
        let latin = (0xA0...0xFF).map { UInt8($0) }
        let characters = latin.map { Character(Unicode.Scalar($0)) }
        for encoding in [ListEncoding.latin1, .windows1252] {
            let source = ListSource(
                Array("a\n".utf8) + latin, name: "list", options: options(encoding))
            #expect(try records(source) == [["a=text:\(String(characters))"]])
        }
        let windows = ListSource(
            Array("a\n".utf8) + [0x80, 0x93, 0x94, 0x9F, 0x8E], name: "list",
            options: options(.windows1252))
        #expect(try records(windows) == [["a=text:€“”ŸŽ"]])
    }

    @Test("bytes that mean nothing are an error with their line, and the option is named")
    func broken() throws {
        let undefined = ListSource(
            Array("a\n1\n".utf8) + [0x81], name: "list", options: options(.windows1252))
        let error = try #require(try problem(undefined))
        #expect(error.line == 3 && error.message.contains("81"))
        #expect(error.message.contains("--encoding"))
        let cut = ListSource([0xFF, 0xFE, 0x61, 0, 0x0A], name: "list")
        #expect(try #require(try problem(cut)).message.contains("inside a character"))
        let half = ListSource([0xFF, 0xFE, 0x61, 0, 0x0A, 0, 0, 0xDC], name: "list")
        #expect(try #require(try problem(half)).message.contains("surrogate"))
        let latin = ListSource(Array("a\nK".utf8) + [0xF6], name: "list")
        #expect(try #require(try problem(latin)).message.contains("--encoding"))
    }

    @Test("a list longer than every window is decoded whole")
    func windows() throws {
        let rows = (0..<40_000).map { "é\($0),😀\n" }
        let text = "a,b\n" + rows.joined()
        let source = ListSource(bytes(text, isLittle: true, mark: true), name: "list")
        #expect(try records(source) == records(list(text)))
    }
}
