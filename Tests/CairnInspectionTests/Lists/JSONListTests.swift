// Lists in JSON: what their records are, and what is wrong with them.

import CairnTestSupport
import Testing

@testable import CairnInspection

@Suite("JSON lists")
struct JSONListTests {
    @Test("an array gives its objects, whatever the size of the window")
    func array() throws {
        let text = #"[{"a":1,"b":"zwei"}, {"b":null,"a":true},{}]"#
        let expected = [["a=number:1", "b=string:zwei"], ["b=null:null", "a=yes:true"], []]
        #expect(try records(list(text)) == expected)
        for capacity in 1...20 {
            let fields = FieldTable(plan: TakeAll())
            let reader = try JSONListReader(
                MemoryByteStream(Array(text.utf8)), layout: .array, fields: fields,
                capacity: capacity)
            var record = ListRecord()
            var found: [[String]] = []
            while try reader.next(&record) {
                found.append(
                    record.cells.map {
                        "\(fields.fields[$0.field].name)=\($0.kind):\(record.text($0))"
                    })
            }
            #expect(found == expected)
        }
    }

    @Test("an object that holds one list gives the list's objects, wherever it stands")
    func member() throws {
        let text = #"{"count":1,"bounds":[1,2],"items":[{"a":1}],"more":{"x":[{}]}}"#
        #expect(try ListForm(of: list(text)) == .member(Array("items".utf8)))
        #expect(try records(list(text)) == [["a=number:1"]])
    }

    @Test("a table whose header begins like JSON is one if its name says so")
    func bracketedHeader() throws {
        #expect(try ListForm(of: list("[id],[name]\n1,2\n", ending: "csv")) == .csv)
        #expect(try ListForm(of: list("[{\"a\":1}]", ending: "csv")) == .array)
        #expect(throws: ListError.self) { try ListForm(of: list("a,b\n1,2\n", ending: "json")) }
    }

    @Test("an empty list is a list")
    func empty() throws {
        for text in ["[]", #"{"items":[]}"#, "[ ]\n"] {
            #expect(try records(list(text)).isEmpty)
        }
    }

    @Test("JSON lines give an object a line, empty lines passed over")
    func lines() throws {
        let text = "{\"a\":1}\n\n{\"a\":2}\r\n{\"a\":3}"
        #expect(try ListForm(of: list(text)) == .lines)
        #expect(try records(list(text)) == [["a=number:1"], ["a=number:2"], ["a=number:3"]])
        #expect(try records(list(#"{"a":1,"tags":[1,2]}"#)).count == 1)
    }

    @Test("a member with a list is only looked for where no other object follows")
    func linesWithLists() throws {
        let text = "{\"a\":[{\"b\":1}]}\n{\"a\":[]}"
        #expect(try ListForm(of: list(text)) == .lines)
        #expect(try records(list(text)) == [["a=nested:[{\"b\":1}]"], ["a=nested:[]"]])
        #expect(try ListForm(of: list(#"{"a":[{"b":1}]}"#, ending: "jsonl")) == .lines)
    }

    @Test("numbers keep their text")
    func numbers() throws {
        let numbers = ["0", "-0", "12345678901234567890123", "1.50", "1E+400", "-2.5e-3"]
        let text = "[" + numbers.map { "{\"a\":\($0)}" }.joined(separator: ",") + "]"
        #expect(try records(list(text)) == numbers.map { ["a=number:\($0)"] })
    }

    @Test(
        "escapes mean what they mean",
        arguments: [
            (#"\u00e9\u0041"#, "éA"), (#"\ud83d\ude00"#, "😀"),
            (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
            ("é漢😀", "é漢😀"), (#"\uD834\uDD1E"#, "𝄞"), (#"\u0000"#, "\0"),
        ])
    func escapes(escaped: String, text: String) throws {
        #expect(try records(list("[{\"a\":\"\(escaped)\"}]")) == [["a=string:\(text)"]])
    }

    @Test("objects and arrays inside a record become compact text, or fields of their own")
    func nested() throws {
        let text = #"[{"a":{"x": 1, "y":[true, null,"\n\u0001"]},"b":2}]"#
        #expect(
            try records(list(text))
                == [[#"a=nested:{"x":1,"y":[true,null,"\n\u0001"]}"#, "b=number:2"]])
        #expect(
            try records(list(text), plan: TakeAll(parts: ["a"]))
                == [["a.x=number:1", #"a.y=nested:[true,null,"\n\u0001"]"#, "b=number:2"]])
        #expect(try records(list(text), plan: TakeAll(dropped: ["a"])) == [["b=number:2"]])
    }

    @Test("fields in another order are the same fields")
    func order() throws {
        let text = #"[{"a":1,"b":2},{"b":3,"a":4},{"b":5},{"a":6,"b":7}]"#
        #expect(
            try records(list(text)) == [
                ["a=number:1", "b=number:2"], ["b=number:3", "a=number:4"], ["b=number:5"],
                ["a=number:6", "b=number:7"],
            ])
    }

    @Test(
        "what is no list says where and why",
        arguments: [
            ("", nil, nil, "empty"),
            ("[{\"a\":1}", 1, 9, "the text ends where a comma or ] should be"),
            ("[{\"a\":1},]", 1, 10, "a comma before ]: remove it"),
            ("[{\"a\":1,}]", 1, 9, "a comma before }: remove it"),
            ("[{\"a\" 1}]", 1, 7, "expected a colon, but found 1"),
            ("[{\"a\":1}\n{\"a\":2}]", 2, 1, "a comma or ]"),
            ("[{\"a\":1}] x", 1, 11, "after the end of the list"),
            ("[{\"a\":01}]", 1, 8, "begin with a zero"), ("[{\"a\":1.}]", 1, 9, "a digit"),
            ("[{\"a\":-}]", 1, 8, "a digit"), ("[{\"a\":1e}]", 1, 9, "a digit"),
            ("[{\"a\":+1}]", 1, 7, "a value"), ("[{\"a\":nul}]", 1, 7, "null"),
            ("[{\"a\":\"x}]", 1, 11, "inside a string"),
            ("[{\"a\":\"x\n\"}]", 1, 9, "control character"),
            ("[{\"a\":\"\\x\"}]", 1, 8, "escape"), ("[{\"a\":\"\\u12\"}]", 1, 12, "hexadecimal"),
            ("[{\"a\":\"\\ud800\"}]", 1, 8, "surrogate"),
            ("[{\"a\":\"\\ud800\\u0041\"}]", 1, 8, "surrogate"),
            ("[{\"a\":\"\\udc00\"}]", 1, 8, "surrogate"),
            ("[{\"a\":1,\n \"a\":2}]", 2, 6, "the key a twice"),
            ("[{\"a\":{\"b\":1,\"\\u0062\":2}}]", 1, 23, "the key b twice"),
            ("[1]", 1, 2, "must be an object"), ("[[1],[2]]", 1, 2, "the record is an array"),
            ("[{\"a\":1},\n 5]", 2, 2, "must be an object"),
            ("{\"a\":[{}],\"b\":[{}]}", nil, nil, "several lists: a, b"),
            ("{\"a\":[[1,2]]}", nil, nil, "the records of a are arrays"),
            ("{\"a\":1}{\"a\":2}", 1, 8, "a line of its own"),
            ("{\"a\":[{}]", 1, 10, "a comma or }"), ("{\"a\":1}\n[2]", 2, 1, "is an array"),
        ] as [(String, Int?, Int?, String)])
    func malformed(text: String, line: Int?, column: Int?, message: String) throws {
        let error = try #require(try problem(list(text)))
        #expect(error.description.contains(message), "\(error)")
        #expect(error.line == line)
        #expect(error.column == column)
        #expect(error.source == "list" || error.source == nil)
    }

    @Test(
        "bytes that are no UTF-8 are an error with their place",
        arguments: [
            [0x80], [0xC0, 0xAF], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
            [0xF5, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82],
        ] as [[UInt8]])
    func encoding(bytes: [UInt8]) throws {
        let text = Array("[{\"a\":\"x".utf8) + bytes + Array("\"}]".utf8)
        let error = try #require(try problem(ListSource(text, name: "list")))
        #expect(error.message.contains("UTF-8"))
        #expect(error.column == 9)
        let table = Array("a,b\nx".utf8) + bytes + Array(",2\n".utf8)
        let second = try #require(try problem(ListSource(table, name: "list")))
        #expect(second.message.contains("UTF-8"))
        #expect(second.line == 2 && second.column == 2)
    }

    @Test("a byte order mark is left out, and half a character of UTF-16 is named")
    func byteOrderMark() throws {
        #expect(try records(list("\u{FEFF}[{\"a\":1}]")) == [["a=number:1"]])
        #expect(try records(list("\u{FEFF}a\n1\n")) == [["a=text:1"]])
        var options = ListOptions()
        options.encoding = .utf8
        let utf16 = ListSource([0xFF, 0xFE, 0x5B, 0], name: "list", options: options)
        #expect(try #require(try problem(utf16)).message.contains("UTF-16"))
        let gzip = ListSource([0x1F, 0x8B, 8, 0], name: "list")
        #expect(try #require(try problem(gzip)).message.contains("gunzip"))
    }

    @Test("nesting has a limit, and only the limit refuses")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            "[{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                + "}]"
        }
        #expect(try problem(list(nested(126))) == nil)
        #expect(try #require(try problem(list(nested(127)))).message.contains("128"))
    }

    @Test("cutting a list short at any byte is an error, never a shorter list")
    func cut() throws {
        let text = #"{"n":[1],"items":[{"a":"é😀","b":[{"c":-1.5e3}]},{"a":null}],"z":true}"#
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count {
            let source = ListSource(Array(bytes[..<length]), name: "list", ending: "json")
            #expect(try problem(source) != nil, "\(length)")
        }
        #expect(try problem(ListSource(bytes, name: "list", ending: "json")) == nil)
    }

    @Test("any changed byte gives records or an error, never a trap")
    func changed() throws {
        var random = RandomSource()
        let text = #"[{"a":"é😀\u00e9","b":[{"c":-1.5e3}],"d":{"e":null}},{"a":true}]"#
        for _ in 0..<3000 {
            var bytes = Array(text.utf8)
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                in: 0...255, using: &random)
            _ = try problem(ListSource(bytes, name: "list"))
        }
    }
}
