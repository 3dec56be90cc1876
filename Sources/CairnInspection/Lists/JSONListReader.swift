// Reads the records of a JSON list: an array, an array inside an object, or JSON lines.
//
//   1. Everything before the list is skipped, but checked.
//   2. Each record is one object. Its members become cells; the reader descends into a member that the plan
//      wants in parts, skips one that is dropped, and keeps any other object or array as text.
//   3. Everything after the list is checked up to the end: a truncated list is an error.
//
// Threads: one reader.

/// Reads JSON lists.
package final class JSONListReader: ListReader {
    /// The layout of the records in the text.
    package enum Layout: Sendable, Hashable {
        /// As elements of an array.
        case array
        /// As elements of an array that is a member of an object, with this key.
        case member([UInt8])
        /// One per line.
        case lines
    }
    private enum Position { case start, inside, end }

    package let fields: FieldTable
    private let layout: Layout
    private let features: FeatureNames?
    private let nulls: [[UInt8]]
    private let hasNulls: Bool
    private var scanner: JSONScanner
    private var position = Position.start
    private var isFirst = true
    private var isFirstMember = true
    private var lastLine = 0
    private var key: [UInt8] = []

    /// Reads a list from its beginning; with `features` its records are GeoJSON features, and `nulls` are the
    /// strings that mean nil.
    package init(
        _ stream: any ByteStream, layout: Layout, features: FeatureNames? = nil,
        fields: FieldTable, nulls: [[UInt8]] = [], capacity: Int = ListBytes.usualCapacity
    ) throws(ListError) {
        scanner = try JSONScanner(stream, capacity: capacity)
        self.layout = layout
        self.features = features
        self.nulls = nulls
        hasNulls = !nulls.isEmpty
        self.fields = fields
    }

    package var byteCount: Int { scanner.bytes.count }

    package func next(_ record: inout ListRecord) throws(ListError) -> Bool {
        if position == .start { try begin() }
        guard position == .inside else { return false }
        if layout == .lines {
            guard try scanner.peek() != nil else { return false }
            guard scanner.bytes.line > lastLine else {
                throw scanner.error("each record must begin on a line of its own")
            }
        } else {
            guard try scanner.nextElement(isFirst: &isFirst) else {
                try end()
                return false
            }
        }
        let kind = try scanner.kind()
        record.begin(line: scanner.bytes.line)
        switch kind {
        case .object: break
        case .array:
            throw scanner.error(
                "the record is an array: its values have no names. Each record must be an object")
        default: throw scanner.error("each record must be an object")
        }
        if let features {
            try readFeature(features, into: &record)
        } else {
            try readObject(parent: nil, into: &record)
        }
        lastLine = scanner.bytes.line
        return true
    }

    private func begin() throws(ListError) {
        position = .inside
        switch layout {
        case .lines: return
        case .array: break
        case .member(let wanted):
            try scanner.enterObject()
            while true {
                guard try scanner.nextKey(into: &key, isFirst: &isFirstMember) else {
                    throw scanner.error(
                        "the object has no list under \(String(decoding: wanted, as: UTF8.self))")
                }
                if key == wanted { break }
                try scanner.skipValue()
            }
        }
        try scanner.enterArray()
    }

    private func end() throws(ListError) {
        position = .end
        if case .member(let wanted) = layout {
            while try scanner.nextKey(into: &key, isFirst: &isFirstMember) {
                guard key != wanted else { throw scanner.duplicate(key) }
                try scanner.skipValue()
            }
        }
        guard try scanner.peek() == nil else {
            throw scanner.error("there is something after the end of the list")
        }
    }

    // MARK: Objects

    private func readObject(parent: Int?, into record: inout ListRecord) throws(ListError) {
        try scanner.enterObject()
        var isFirst = true
        var previous: Int?
        while try scanner.nextKey(into: &key, isFirst: &isFirst) {
            guard !key.isEmpty else { throw scanner.error("a key is empty: a field needs a name") }
            let field = fields.index(key, parent: parent, after: previous)
            guard fields.enter(field, record: record.number) else { throw scanner.duplicate(key) }
            previous = field
            try readValue(of: field, into: &record)
        }
    }

    private func readValue(of field: Int, into record: inout ListRecord) throws(ListError) {
        let use = fields.uses[field]
        if use == .dropped { return try scanner.skipValue() }
        let start = record.bytes.count
        let kind = try scanner.kind()
        let line = scanner.bytes.line
        switch kind {
        case .null:
            try scanner.takeNull()
            record.add(field, .null, from: start, line: line)
        case .boolean:
            record.add(field, try scanner.takeBoolean() ? .yes : .no, from: start, line: line)
        case .number:
            try scanner.takeNumber(into: &record.bytes)
            add(field, .number, from: start, line: line, to: &record)
        case .string:
            try scanner.takeString(into: &record.bytes)
            add(field, .string, from: start, line: line, to: &record)
        case .object where use == .parts: try readObject(parent: field, into: &record)
        case .object, .array:
            try scanner.takeCompact(into: &record.bytes)
            record.add(field, .nested, from: start, line: line)
        }
    }

    // MARK: Features

    private func readFeature(_ names: FeatureNames, into record: inout ListRecord)
        throws(ListError)
    {
        try scanner.enterObject()
        var isFirst = true
        var previous: Int?
        var seen: Set<[UInt8]> = []
        while try scanner.nextKey(into: &key, isFirst: &isFirst) {
            guard seen.insert(key).inserted else { throw scanner.duplicate(key) }
            switch key {
            case FeatureNames.type:
                var type: [UInt8] = []
                guard try scanner.kind() == .string else {
                    throw scanner.error("a feature's type must be \"Feature\"")
                }
                try scanner.takeString(into: &type)
                guard type == FeatureNames.feature else {
                    throw scanner.error(
                        "expected a feature, not a \(String(decoding: type, as: UTF8.self))"
                    )
                }
            // It adds nothing to the coordinates.
            case FeatureNames.boundingBox: try scanner.skipValue()
            case FeatureNames.properties:
                switch try scanner.kind() {
                case .null: try scanner.takeNull()
                case .object: try readObject(parent: nil, into: &record)
                default: throw scanner.error("a feature's properties must be an object or null")
                }
            case FeatureNames.geometry: try readGeometry(names, into: &record)
            default:
                guard !key.isEmpty else {
                    throw scanner.error("a key is empty: a field needs a name")
                }
                let name = names.name(ofMember: key)
                let field = fields.index(name, parent: nil, after: previous)
                guard fields.enter(field, record: record.number) else {
                    throw scanner.duplicate(name)
                }
                previous = field
                try readValue(of: field, into: &record)
            }
        }
    }

    private func readGeometry(_ names: FeatureNames, into record: inout ListRecord)
        throws(ListError)
    {
        let line = scanner.bytes.line
        if try scanner.kind() == .null { return try scanner.takeNull() }
        // Small for points, which nearly all feeds contain; others are kept as text anyway.
        var text: [UInt8] = []
        let place = scanner.error("")
        try scanner.takeCompact(into: &text)
        do throws(ListError) {
            if let point = try PointGeometry(json: text) {
                let parts = [names.longitude, names.latitude, names.altitude]
                for (name, number) in zip(parts, point.coordinates) {
                    try add(name, .number, number, line: line, to: &record)
                }
            } else {
                try add(names.geometry, .nested, text, line: line, to: &record)
            }
        } catch {
            throw ListError(error.message, line: place.line, column: place.column)
        }
    }

    private func add(
        _ name: [UInt8], _ kind: ListRecord.Kind, _ text: [UInt8], line: Int,
        to record: inout ListRecord
    ) throws(ListError) {
        let field = fields.index(name, parent: nil, after: nil)
        guard fields.enter(field, record: record.number) else { throw scanner.duplicate(name) }
        guard fields.uses[field] != .dropped else { return }
        let start = record.bytes.count
        record.bytes.append(contentsOf: text)
        add(field, kind, from: start, line: line, to: &record)
    }

    private func add(
        _ field: Int, _ kind: ListRecord.Kind, from start: Int, line: Int,
        to record: inout ListRecord
    ) {
        if hasNulls, kind != .nested {
            record.add(field, kind, from: start, line: line, nulls: nulls)
        } else {
            record.add(field, kind, from: start, line: line)
        }
    }
}
