// Lists in CSV: what their records are, and what is wrong with them.

import Testing

@testable import CairnInspection

@Suite("CSV lists")
struct CSVListTests {
    @Test("a row gives a cell for each field, empty cells are null")
    func rows() throws {
        #expect(
            try records(list("a,b,c\n1,,x y\n\"\",\" q\",z\n")) == [
                ["a=text:1", "b=null:null", "c=text:x y"],
                ["a=null:null", "b=text: q", "c=text:z"],
            ])
    }

    @Test("quoted cells hold commas, quotes and line ends as they are")
    func quotes() throws {
        #expect(
            try records(list("a,\"b,c\"\r\n\"x,\"\"y\"\"\",\"1\r\n2\n3\"\r\n")) == [
                ["a=text:x,\"y\"", "b,c=text:1\r\n2\n3"]
            ])
    }

    @Test("the last line may lack its end, and lines without anything are passed over")
    func lineEnds() throws {
        #expect(
            try records(list("a,b\n1,2\n\n3,4")) == [
                ["a=text:1", "b=text:2"], ["a=text:3", "b=text:4"],
            ])
        #expect(try records(list("a\r\n1\r\n\r\n")) == [["a=text:1"]])
        #expect(try records(list("a,b\n")).isEmpty)
    }

    @Test("every window size gives the same records")
    func windows() throws {
        let text = "a,b\r\n\"x\"\"\r\ny\",é😀\r\nz,\r\n"
        for capacity in 1...16 {
            let fields = FieldTable(plan: TakeAll())
            let reader = CSVListReader(
                MemoryByteStream(Array(text.utf8)), fields: fields, capacity: capacity)
            var record = ListRecord()
            #expect(try reader.next(&record))
            #expect(record.cells.map { record.text($0) } == ["x\"\r\ny", "é😀"])
            #expect(record.line == 2)
            #expect(try reader.next(&record))
            #expect(record.line == 4)
            #expect(try !reader.next(&record))
        }
    }

    @Test("a dropped field leaves the others in place")
    func dropped() throws {
        #expect(
            try records(list("a,b,c\n1,2,3\n"), plan: TakeAll(dropped: ["b"])) == [
                ["a=text:1", "c=text:3"]
            ])
    }

    @Test(
        "what is no table says where and why",
        arguments: [
            ("a,b\n1\n", 2, nil, "1 cells, but the header has 2"),
            ("a,b\n1,2\n1,2,3\n", 3, nil, "3 cells"), ("a,a\n", 1, 3, "contains a twice"),
            ("a,,b\n", 1, 3, "field 2 of the header has no name"),
            ("a,b\n1,\"2\n", 2, 3, "never closed"), ("a,b\n1,x\"2\n", 2, 4, "a quote inside"),
            ("a,b\n\"1\"x,2\n", 2, 4, "a comma or the end"),
            ("a,b\n1,\"2\"x\n", 2, 6, "a comma or the end"),
            ("a,b\n1,2\r3,4\n", 2, 5, "carriage return"),
            ("a;b\n1;2\n", 1, nil, "--delimiter semicolon"),
            ("a\tb\n", 1, nil, "--delimiter tab"), ("a|b\n", 1, nil, "--delimiter pipe"),
            ("\"a\"x,b\n1,2\n", 1, 4, "a comma or the end"),
            ("a,b\n1,2\r", 2, 5, "carriage return"),
        ] as [(String, Int, Int?, String)])
    func malformed(text: String, line: Int, column: Int?, message: String) throws {
        let error = try #require(try problem(list(text)))
        #expect(error.description.contains(message), "\(error)")
        #expect(error.line == line)
        #expect(error.column == column)
    }

    private func options(_ delimiter: String?, nulls: String...) throws -> ListOptions {
        var options = ListOptions()
        options.delimiter = try delimiter.map { try #require(ListOptions.delimiter(named: $0)) }
        options.nulls = nulls.map { Array($0.utf8) }
        return options
    }

    @Test(
        "another delimiter takes the place of the comma everywhere",
        arguments: [
            (";", ";"), ("semicolon", ";"), ("\t", "\t"), ("\\t", "\t"), ("Tab", "\t"), ("|", "|"),
            ("pipe", "|"), ("space", " "), ("x", "x"),
        ])
    func delimiter(name: String, character: String) throws {
        let text = "a,\(character)\"b\(character)1\"\n1,5\(character)\"x\(character)\"\n"
        let source = ListSource(
            Array(text.utf8), name: "list", options: try options(name))
        #expect(
            try records(source) == [["a,=text:1,5", "b\(character)1=text:x\(character)"]])
        let broken = ListSource(
            Array("a\(character)b\n\"1\"2\n".utf8), name: "list", options: try options(name))
        #expect(try #require(try problem(broken)).message.contains("delimiter"))
    }

    @Test(
        "a delimiter makes the list CSV, and a file of tabs needs none", arguments: ["tsv", "tab"])
    func form(ending: String) throws {
        let json = ListSource(
            Array("[a];[b]\n1;2\n".utf8), name: "list", options: try options(";"))
        #expect(try records(json) == [["[a]=text:1", "[b]=text:2"]])
        let tabs = ListSource(Array("a\tb\n1,5\t2\n".utf8), name: "list", ending: ending)
        #expect(try records(tabs) == [["a=text:1,5", "b=text:2"]])
        let commas = ListSource(
            Array("a,b\n1,2\n".utf8), name: "list", ending: ending, options: try options(","))
        #expect(try records(commas) == [["a=text:1", "b=text:2"]])
        let one = ListSource(
            Array("a;b\n1;2\n".utf8), name: "list", options: try options("comma"))
        #expect(try records(one) == [["a;b=text:1;2"]])
        #expect(try records(list("\"a,b\"\n1\n")) == [["a,b=text:1"]])
    }

    @Test("a quote, a line end and more than one character are no delimiter")
    func noDelimiter() {
        for name in ["\"", "\n", "\r", "", ";;", "é", "\u{7F}"] {
            #expect(ListOptions.delimiter(named: name) == nil, "\(name)")
        }
    }

    @Test("texts that mean nil are nil, in CSV and JSON, whole and alone")
    func nulls() throws {
        let options = try options(nil, nulls: "NA", "-999", "n/a")
        let table = ListSource(
            Array("a,b,c\nNA,\"NA\",-999\nNAN,na, NA\nn/a,,x\n".utf8), name: "list",
            options: options)
        #expect(
            try records(table) == [
                ["a=null:null", "b=null:null", "c=null:null"],
                ["a=text:NAN", "b=text:na", "c=text: NA"],
                ["a=null:null", "b=null:null", "c=text:x"],
            ])
        let json = #"[{"a":"NA","b":-999,"c":"-999"},{"a":"NAN","b":-999.0,"c":["NA"]}]"#
        #expect(
            try records(ListSource(Array(json.utf8), name: "list", options: options)) == [
                ["a=null:null", "b=null:null", "c=null:null"],
                ["a=string:NAN", "b=number:-999.0", "c=nested:[\"NA\"]"],
            ])
        let features =
            #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"NA","properties":{"m":-999},"geometry":{"type":"Point","coordinates":[1,2,-999]}}]}"#
        #expect(
            try records(ListSource(Array(features.utf8), name: "list", options: options)) == [
                [
                    "id=null:null", "m=null:null", "longitude=number:1", "latitude=number:2",
                    "altitude=null:null",
                ]
            ])
    }
}
