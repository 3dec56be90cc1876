// The form of a list, detected by its name and its content.
//
//   1. Content that begins like JSON is JSON, independent of its name; other content is CSV, unless the name
//      implies JSON, which is an error then. A list with a specified delimiter is CSV.
//   2. `[` is an array. `{` is read to the end of the object: if another object follows, these are JSON
//      lines; otherwise the object must contain exactly one list, or be a GeoJSON feature collection.
//
// A single object without a list is JSON lines with one line, unless its name implies a list.

/// The form of a list.
package enum ListForm: Sendable, Hashable {
    /// A JSON array of objects.
    case array
    /// A JSON object that contains one array of objects, with this key.
    case member([UInt8])
    /// JSON objects, one per line.
    case lines
    /// A GeoJSON feature collection.
    case features(FeatureNames)
    /// Comma-separated values with a header.
    case csv

    /// The name of the form for users.
    package var title: String {
        switch self {
        case .array: "JSON array"
        case .member(let key): "JSON object with the list \(String(decoding: key, as: UTF8.self))"
        case .lines: "JSON lines"
        case .features: "GeoJSON features"
        case .csv: "CSV"
        }
    }

    /// Whether the records are GeoJSON features.
    package var isFeatures: Bool {
        if case .features = self { true } else { false }
    }

    /// Detects the form of a list.
    ///
    /// - Throws: `ListError` if it has none of them.
    /// - Complexity: O(length of the first JSON value), O(1) for arrays and CSV.
    package init(of source: ListSource) throws(ListError) {
        do throws(ListError) {
            self = try Self.find(source)
        } catch {
            throw error.naming(source)
        }
    }

    private static func find(_ source: ListSource) throws(ListError) -> ListForm {
        guard source.byteCount > 0 else { throw ListError("it is empty") }
        let start = try source.start(FileSignature.length)
        if let kind = FileSignature.of(start, ending: source.ending) {
            throw ListError("it is \(kind.name): \(kind.listAdvice)")
        }
        if FileSignature.tag(start).hasPrefix("<?xml") {
            throw ListError("it is XML: a list is JSON or CSV")
        }
        let isNamedJSON = ["json", "geojson", "jsonl", "ndjson"].contains(source.ending)
        if source.options.delimiter != nil {
            guard !isNamedJSON else {
                throw ListError("its name says JSON, but --delimiter is for CSV: omit it")
            }
            return .csv
        }
        var bytes = ListBytes(source.open(), capacity: 4096)
        try bytes.takeByteOrderMark()
        let isNamedLines = ["jsonl", "ndjson"].contains(source.ending)
        let first = try bytes.peekBehindSpace()
        guard let first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            guard !isNamedJSON else {
                throw bytes.error("its name says JSON, but it begins with neither [ nor {")
            }
            return .csv
        }
        bytes.advance()
        let second = try bytes.peekBehindSpace()
        if source.ending == "csv", !Self.continuesJSON(first, second) { return .csv }
        if first == UInt8(ascii: "[") { return .array }
        if isNamedLines { return .lines }
        return try ObjectProbe(source).form(mustHoldList: isNamedJSON)
    }

    /// Returns whether the byte after a bracket continues JSON and not, perhaps, a CSV header such as
    /// `[id],[name]`.
    private static func continuesJSON(_ first: UInt8, _ second: UInt8?) -> Bool {
        guard let second else { return true }
        if first == UInt8(ascii: "{") {
            return second == UInt8(ascii: "\"") || second == UInt8(ascii: "}")
        }
        return [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "]")].contains(second)
    }
}

extension ListError {
    /// Returns the same error with the name of the list.
    package func naming(_ source: ListSource) -> ListError { naming(source.name) }

    /// Returns the same error with the name of the list.
    func naming(_ name: String) -> ListError {
        var error = self
        error.source = error.source ?? name
        return error
    }
}

extension ListSource {
    /// Creates a reader for the records, in a form that was detected before.
    package func makeReader(_ form: ListForm, plan: any FieldPlan) throws(ListError)
        -> any ListReader
    {
        let fields = FieldTable(plan: plan)
        let nulls = options.nulls
        switch form {
        case .csv:
            return CSVListReader(
                open(), fields: fields, delimiter: delimiter,
                isDelimiterSaid: options.delimiter != nil, nulls: nulls)
        case .array:
            return try JSONListReader(open(), layout: .array, fields: fields, nulls: nulls)
        case .lines:
            return try JSONListReader(open(), layout: .lines, fields: fields, nulls: nulls)
        case .member(let key):
            return try JSONListReader(
                open(), layout: .member(key), fields: fields, nulls: nulls)
        case .features(let names):
            return try JSONListReader(
                open(), layout: .member(FeatureNames.features), features: names, fields: fields,
                nulls: nulls)
        }
    }
}
