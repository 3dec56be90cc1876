// Names that mean something already where generated classes stand.
//
//   needed    types that the classes, or what the macros make of them, speak of: no class can be called so
//   familiar  types of Swift, Foundation and Cairn that a class hides in its module: it can, but should not unasked
//   members   what every object has: no property can be called so

/// Names that are taken.
enum KnownNames {
    /// Types without which generated code means something else, or nothing.
    static let needed: Set<String> = [
        "Any", "AnyKeyPath", "AnyObject", "Bool", "Cairn", "Columns", "Data", "Date", "Decimal",
        "Double", "Float", "Foundation", "Hashable", "Int", "Int16", "Int32", "Int64",
        "ManagedObject", "ObjectID", "PartialKeyPath", "Protocol", "Self", "Sendable", "Set",
        "String", "Swift", "Type", "URL", "UUID",
    ]

    /// Whose a familiar type is; nil for a name that is nobody's.
    static func owner(ofType name: String) -> String? {
        if swift.contains(name) { return "Swift" }
        if foundation.contains(name) { return "Foundation" }
        return cairn.contains(name) ? "Cairn" : nil
    }

    private static let swift: Set<String> = [
        "Actor", "AnyHashable", "AnyIterator", "AnySequence", "Array", "ArraySlice",
        "AsyncSequence", "AsyncStream", "BidirectionalCollection", "BinaryInteger", "CaseIterable",
        "Character", "Clock", "ClosedRange", "Codable", "CodingKey", "Collection",
        "CollectionDifference", "Comparable", "ContiguousArray", "ContinuousClock", "Decodable",
        "Decoder", "Dictionary", "Duration", "Encodable", "Encoder", "Equatable", "Error",
        "Executor", "Hasher", "Identifiable", "Int8", "Int128", "KeyPath", "KeyValuePairs",
        "MainActor", "Mirror", "MutableCollection", "Never", "ObjectIdentifier", "OpaquePointer",
        "Optional", "OptionSet", "Range", "RawRepresentable", "Regex", "Result", "Sequence",
        "SetAlgebra", "Slice", "StaticString", "Strideable", "Substring", "Task", "TaskGroup",
        "TaskLocal", "TaskPriority", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Unicode",
        "Unmanaged", "Void", "Zip2Sequence",
    ]

    private static let foundation: Set<String> = [
        "AttributedString", "Bundle", "ByteCountFormatter", "CachedURLResponse", "Calendar",
        "CharacterSet", "DateComponents", "DateFormatter", "DateInterval", "Dimension",
        "Expression", "FileHandle", "FileManager", "Formatter", "Host", "HTTPCookie",
        "HTTPURLResponse", "IndexPath", "IndexSet", "InputStream", "ISO8601DateFormatter",
        "JSONDecoder", "JSONEncoder", "JSONSerialization", "LengthFormatter", "Locale",
        "Measurement", "Morphology", "Notification", "NotificationCenter", "NumberFormatter",
        "Operation", "OperationQueue", "OutputStream", "PersonNameComponents", "Pipe", "Port",
        "Predicate", "Process", "ProcessInfo", "Progress", "PropertyListDecoder",
        "PropertyListEncoder", "RunLoop", "Scanner", "SortDescriptor", "SortOrder", "Stream",
        "Thread", "TimeInterval", "TimeZone", "Timer", "UndoManager", "Unit", "URLComponents",
        "URLQueryItem", "URLRequest", "URLResponse", "URLSession", "UserDefaults", "XMLParser",
    ]

    private static let cairn: Set<String> = [
        "AttributeDescription", "AttributeOption", "AttributeType", "BackgroundContext",
        "BatchDeleteRequest", "BatchInsertRequest", "BatchUpdateRequest", "Column", "DeleteRule",
        "DictionaryResult",
        "EntityDescription", "FetchRequest", "IndexElement", "Instrument", "LogStore",
        "ManagedObjectContext", "ManagedObjectModel", "MergeConflict", "ObjectClasses",
        "PersistentContainer", "PersistentEntity", "PersistentStore", "RelationshipDescription",
        "Row", "RowWriter", "SaveConflict", "Schema", "SchemaEntity", "SortKey", "StoreError",
        "StoreEvent", "Value",
    ]

    /// What every object has, or the macros give it.
    static let members: Set<String> = [
        "absorbedInto", "description", "entity", "hasChanges", "hasPersistentChangedValues",
        "hashValue", "isDeleted", "isFault", "isInserted", "isUpdated", "managedObjectContext",
        "objectID",
        // What generated code calls by these names, where a property's would stand before it.
        "_Parent", "_base", "_count", "_entity", "_parent", "_paths", "_property", "_read",
        "_typedEntity",
        "_validate", "_write",
        // An object's own, whatever stands around it.
        "self",
    ]

    /// What a composite struct cannot have as an element.
    static let compositeMembers: Set<String> = [
        "_compositeName", "_elements", "_key", "_paths", "_write", "hashValue", "self",
    ]
}
