// Archives of objects as NSKeyedArchiver writes them: binary property lists in which objects name each other.

/// A value of a property list to be written.
package indirect enum ListNode: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case data([UInt8])
    case reference(Int)
    case array([ListNode])
    /// An array that has one value so many times: it is written once.
    case repeated(ListNode, Int)
    case dictionary([(String, ListNode)])
}

/// Writes binary property lists.
package struct ListWriter {
    private var objects: [[UInt8]] = []

    /// The bytes of a list.
    package static func bytes(_ node: ListNode) -> [UInt8] {
        var writer = ListWriter()
        let top = writer.add(node)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in writer.objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += number(offset, 4) }
        return bytes + [0, 0, 0, 0, 0, 0, 4, 2] + number(offsets.count, 8) + number(top, 8)
            + number(table, 8)
    }

    private static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15
            ? [kind << 4 | UInt8(count)] : [kind << 4 | 15, 0x12] + number(count, 4)
    }

    private mutating func add(_ node: ListNode) -> Int {
        let bytes: [UInt8]
        switch node {
        case .null: bytes = [0]
        case .boolean(let truth): bytes = [truth ? 9 : 8]
        case .integer(let number): bytes = [0x13] + Self.number(Int(number), 8)
        case .real(let number):
            bytes = [0x23] + Self.number(Int(truncatingIfNeeded: number.bitPattern), 8)
        case .text(let text):
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                bytes = Self.head(5, text.utf8.count) + Array(text.utf8)
            } else {
                bytes =
                    Self.head(6, text.utf16.count) + text.utf16.flatMap { Self.number(Int($0), 2) }
            }
        case .data(let data): bytes = Self.head(4, data.count) + data
        case .reference(let index): bytes = [0x81] + Self.number(index, 2)
        case .array(let nodes):
            let indexes = nodes.map { add($0) }
            bytes = Self.head(0xA, nodes.count) + indexes.flatMap { Self.number($0, 2) }
        case .repeated(let node, let count):
            let index = add(node)
            bytes =
                Self.head(0xA, count)
                + (0..<count).flatMap { _ in Self.number(index, 2) }
        case .dictionary(let members):
            let keys = members.map { add(.text($0.0)) }
            let values = members.map { add($0.1) }
            bytes =
                Self.head(0xD, members.count) + (keys + values).flatMap { Self.number($0, 2) }
        }
        objects.append(bytes)
        return objects.count - 1
    }
}

/// Archives objects as NSKeyedArchiver does.
package struct ArchiveWriter {
    private var objects: [ListNode] = [.text("$null")]
    private var classes: [String: Int] = [:]

    package init() {}

    /// Adds an object, and gives what names it.
    package mutating func object(_ type: String, _ members: [(String, ListNode)]) -> ListNode {
        let description = type_(type)
        objects.append(.dictionary(members + [("$class", .reference(description))]))
        return .reference(objects.count - 1)
    }

    /// Room for an object that others name before it is there.
    package mutating func room() -> Int {
        objects.append(.null)
        return objects.count - 1
    }

    package mutating func fill(_ place: Int, _ type: String, _ members: [(String, ListNode)]) {
        let description = type_(type)
        objects[place] = .dictionary(members + [("$class", .reference(description))])
    }

    private mutating func type_(_ name: String) -> Int {
        if let known = classes[name] { return known }
        objects.append(
            .dictionary([
                ("$classname", .text(name)),
                ("$classes", .array([.text(name), .text("NSObject")])),
            ]))
        classes[name] = objects.count - 1
        return objects.count - 1
    }

    /// A text as an object.
    package mutating func text(_ text: String) -> ListNode {
        objects.append(.text(text))
        return .reference(objects.count - 1)
    }

    package mutating func array(_ nodes: [ListNode]) -> ListNode {
        object("NSArray", [("NS.objects", .array(nodes))])
    }

    package mutating func dictionary(_ members: [(String, ListNode)]) -> ListNode {
        let keys = members.map { text($0.0) }
        return object(
            "NSMutableDictionary",
            [("NS.keys", .array(keys)), ("NS.objects", .array(members.map(\.1)))])
    }

    /// The bytes of the archive of an object.
    ///
    /// - Parameter more: what else the archive has beside its root.
    package func bytes(of root: ListNode, _ more: [(String, ListNode)] = []) -> [UInt8] {
        ListWriter.bytes(
            .dictionary([
                ("$version", .integer(100_000)), ("$archiver", .text("NSKeyedArchiver")),
                ("$top", .dictionary([("root", root)] + more)), ("$objects", .array(objects)),
            ]))
    }
}
