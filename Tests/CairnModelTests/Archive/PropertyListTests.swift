// Property lists from nowhere: how deep they may be, and how much may become of them.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnModel

@Suite("Property lists")
struct PropertyListTests {
    private static func xml(_ body: String) -> PropertyList? {
        PropertyList(Array("<?xml version=\"1.0\"?><plist version=\"1.0\">\(body)</plist>".utf8))
    }

    private static func nested(_ levels: Int) -> String {
        String(repeating: "<array>", count: levels) + String(repeating: "</array>", count: levels)
    }

    @Test("An XML list that is very deep is none, and fills no stack")
    func depth() {
        #expect(Self.xml(Self.nested(3)) == .array([.array([.array([])])]))
        #expect(Self.xml(Self.nested(50)) != nil)
        #expect(Self.xml(Self.nested(20_000)) == nil)
        let dictionaries = String(repeating: "<dict><key>a</key>", count: 20_000)
        #expect(Self.xml(dictionaries) == nil)
        // The form of old is no XML, and can be deep as well.
        #expect(PropertyList(Array(String(repeating: "(", count: 20_000).utf8)) == nil)
    }

    @Test("Each element of an XML list is a value, or the list is none")
    func elements() throws {
        #expect(Self.xml("<string> a&amp;b<![CDATA[<]]> </string>") == .text(" a&b< "))
        #expect(Self.xml("<string/>") == .text(""))
        #expect(Self.xml("<integer> -9223372036854775808\n</integer>") == .integer(.min))
        #expect(Self.xml("<integer>18446744073709551615</integer>") == .real(0x1p64))
        #expect(Self.xml("<real>2.0</real>") == .real(2))
        #expect(Self.xml("<real>-infinity</real>") == .real(-.infinity))
        #expect(Self.xml("<data>\n\tAAEC\n\tAw==\n</data>") == .data([0, 1, 2, 3]))
        #expect(
            Self.xml("<date>2001-01-01T00:00:09Z</date>")
                == .date(Date(timeIntervalSinceReferenceDate: 9)))
        #expect(
            Self.xml("<dict><key>a</key><false/></dict>") == .dictionary(["a": .boolean(false)]))
        for bad in [
            "", "<true/><true/>", "<integer>x</integer>", "<data>*</data>", "<date>soon</date>",
            "<dict><key>a</key></dict>", "<dict><string>a</string><true/></dict>", "<other/>",
            "<string><true/></string>", "<array><other/></array>",
        ] {
            #expect(Self.xml(bad) == nil, "\(bad)")
        }
    }

    @Test("An archive of objects is binary: references of XML are none")
    func archives() {
        let archive = ArchivedNode.itself.archive
        #expect(KeyedArchive(archive)?.top?.type == "NSSelfExpression")
        let xml = """
            <plist version="1.0"><dict><key>$archiver</key><string>NSKeyedArchiver</string>\
            <key>$objects</key><array><string>$null</string></array>\
            <key>$top</key><dict><key>root</key><string>$null</string></dict></dict></plist>
            """
        #expect(PropertyList(Array(xml.utf8)) != nil)
        #expect(KeyedArchive(Array(xml.utf8)) == nil)
    }

    @Test(
        "Bytes and texts that are shared count each time, by their length",
        arguments: [
            ListNode.data([UInt8](repeating: 7, count: 3_200)),
            .text(String(repeating: "x", count: 3_200)),
            .text(String(repeating: "é", count: 1_600)),
        ])
    func shared(_ node: ListNode) {
        let bytes = ListWriter.bytes(.repeated(node, 9))
        // The array, and nine times a value and a hundred for what it takes.
        var left = 1 + 9 * 101
        #expect(PropertyList(binary: bytes, &left)?.array?.count == 9)
        #expect(left == 0)
        left = 9 * 101
        #expect(PropertyList(binary: bytes, &left) == nil)
    }
}
