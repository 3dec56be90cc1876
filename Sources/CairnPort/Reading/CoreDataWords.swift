// The words by which code that uses Core Data is known.

/// Words of Core Data.
enum CoreDataWords {
    /// What names of Core Data begin with.
    private static let own = [
        "import CoreData", "CoreData.", "NSManaged", "NSFetch", "NSPersistent", "NSEntity",
        "NSAttributeDescription", "NSRelationshipDescription", "NSPropertyDescription",
        "NSExpressionDescription", "NSDerivedAttribute", "NSCompositeAttribute", "NSBatch",
        "NSMergePolicy", "NSMergeConflict", "NSConstraintConflict", "NSMappingModel",
        "NSMigrationManager", "NSPropertyMapping", "NSStagedMigration", "NSLightweightMigration",
        "NSCustomMigration", "NSQueryGeneration", "NSAsynchronousFetch", "NSSaveChanges",
        "NSIncrementalStore", "NSAtomicStore", "NSCoreData", "NSSQLiteStoreType",
        "NSInMemoryStoreType", "NSInsertedObjects", "NSUpdatedObjects", "NSDeletedObjects",
    ]

    /// What files have that rules change.
    static let all = WordSearch(
        own + [
            "@objc", "#keyPath", "NSPredicate", "CVarArg", "NSComparisonPredicate",
            "NSCompoundPredicate", "NSExpression", "ValueTransformer", "UndoManager", "momd\"",
            "\"cdm\"",
        ])

    private static let anywhere = WordSearch(own)
    private static let inLines = WordSearch(own + ["@NSManaged", "#keyPath"])

    /// Whether a text uses Core Data, or extends a managed class.
    static func areIn(_ text: String, _ code: KnownCode) -> Bool {
        anywhere.finds(in: text) || code.extensionHeads.finds(in: text)
    }

    /// How many lines of a text name something of Core Data.
    static func lines(in text: String) -> Int {
        text.utf8.split(separator: UInt8(ascii: "\n")).count { inLines.finds(in: Substring($0)) }
    }
}
