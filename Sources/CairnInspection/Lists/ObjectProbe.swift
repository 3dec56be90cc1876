// Reads a JSON object once to find the list in it.
//
//   1. Records the kind of every member, and for every array the kind of its first element; for an array
//      `features` also the names of properties and members that could clash with a feature's own fields.
//   2. The text after the object distinguishes JSON lines from an object that contains a list.

/// Detects the content of the first object of a text.
struct ObjectProbe: ~Copyable {
    private struct Candidate {
        let key: [UInt8]
        /// The kind of its first element; nil if it is empty.
        let first: JSONScanner.Kind?
    }

    private var scanner: JSONScanner
    private var candidates: [Candidate] = []
    private var isCollection = false
    private var properties: Set<[UInt8]> = []
    private var members: Set<[UInt8]> = []

    init(_ source: ListSource) throws(ListError) {
        scanner = try JSONScanner(source.open())
    }

    /// Returns the form of the text.
    consuming func form(mustHoldList: Bool) throws(ListError) -> ListForm {
        try readObject()
        if try scanner.peek() != nil { return .lines }
        if isCollection, candidates.contains(where: { $0.key == FeatureNames.features }) {
            return .features(FeatureNames(properties: properties, members: members))
        }
        let lists = candidates.filter { $0.first == .object }
        if lists.count == 1 { return .member(lists[0].key) }
        guard lists.isEmpty else {
            throw ListError("the object contains several lists: \(Self.names(lists))")
        }
        if candidates.count == 1 {
            switch candidates[0].first {
            case nil: return .member(candidates[0].key)
            case .array:
                throw ListError(
                    "the records of \(Self.names(candidates)) are arrays: their values have no names."
                        + " Each record must be an object")
            default: break
            }
        }
        guard mustHoldList else { return .lines }
        throw ListError(
            candidates.isEmpty
                ? "the object contains no list"
                : "the object contains no list of objects, only \(Self.names(candidates))")
    }

    private static func names(_ candidates: [Candidate]) -> String {
        candidates.map { String(decoding: $0.key, as: UTF8.self) }.joined(separator: ", ")
    }

    private mutating func readObject() throws(ListError) {
        try scanner.enterObject()
        var key: [UInt8] = []
        var keys: Set<[UInt8]> = []
        var isFirst = true
        while try scanner.nextKey(into: &key, isFirst: &isFirst) {
            guard keys.insert(key).inserted else { throw scanner.duplicate(key) }
            switch try scanner.kind() {
            case .array: try readArray(key)
            case .string where key == FeatureNames.type:
                var type: [UInt8] = []
                try scanner.takeString(into: &type)
                isCollection = type == FeatureNames.collection
            default: try scanner.skipValue()
            }
        }
    }

    private mutating func readArray(_ key: [UInt8]) throws(ListError) {
        try scanner.enterArray()
        var isFirst = true
        var first: JSONScanner.Kind?
        while try scanner.nextElement(isFirst: &isFirst) {
            let kind = try scanner.kind()
            if first == nil { first = kind }
            if key == FeatureNames.features, kind == .object {
                try readFeature()
            } else {
                try scanner.skipValue()
            }
        }
        candidates.append(Candidate(key: key, first: first))
    }

    /// Records the names in a feature.
    private mutating func readFeature() throws(ListError) {
        try scanner.enterObject()
        var key: [UInt8] = []
        var isFirst = true
        while try scanner.nextKey(into: &key, isFirst: &isFirst) {
            guard key == FeatureNames.properties, try scanner.kind() == .object else {
                if !FeatureNames.standard.contains(key), !members.contains(key) {
                    members.insert(key)
                }
                try scanner.skipValue()
                continue
            }
            try scanner.enterObject()
            var isFirstProperty = true
            while try scanner.nextKey(into: &key, isFirst: &isFirstProperty) {
                if !properties.contains(key) { properties.insert(key) }
                try scanner.skipValue()
            }
        }
    }
}
