// What an import brought over, and what it could not.

package import FoundationEssentials

/// What became of a store of Core Data.
package struct CoreDataImportReport: Sendable {
    /// Where the model came from.
    package enum ModelOrigin: String, Sendable {
        /// The store's own.
        case store
        /// It was given.
        case given
    }

    /// The objects of one entity.
    package struct Entity: Sendable, Equatable {
        package let name: String
        /// Those that the store has.
        package var found = 0
        /// Those that were brought over.
        package var imported = 0
    }

    /// Something that could not be brought over, or was not as it should be.
    package struct Loss: Sendable, Equatable {
        /// What kind of thing it is.
        package enum Kind: String, Sendable, CaseIterable {
            /// A value that its attribute cannot have.
            case value
            /// A value whose file is missing.
            case externalValue
            /// A mandatory value that is nil, and got the default.
            case defaulted
            /// A reference to an object that is not there.
            case reference
            /// An object.
            case object
            /// A column that no property has.
            case column
            /// A property, a relationship or an entity that the store has no table or column for, left out as it was asked.
            case skipped
            /// A part of the model.
            case model
            /// Something that a program keeps with the store.
            case metadata
            /// A part of the log beside the file.
            case log
        }
        package let kind: Kind
        /// What it is about, as `Person.age`.
        package let place: String
        /// What is the matter, as a sentence.
        package let message: String
        /// How often.
        package var count = 0
        /// The first few, by the objects' URIs.
        package var examples: [String] = []
    }

    /// What the store is called by, and the new one too.
    package let identifier: UUID
    package var modelOrigin = ModelOrigin.store
    /// Bytes of the log that were read beside the file.
    package var logBytes: UInt64 = 0
    package var entities: [Entity] = []
    /// Pairs of many-to-many relationships.
    package var pairs = 0
    /// Ordered relationships of objects that have two members or more.
    package var lists = 0
    /// Values that had files of their own.
    package var externalValues = 0
    package var metadataKeys: [String] = []
    package var losses: [Loss] = []
    /// What was left behind on purpose, and what is odd without being a loss.
    package var remarks: [String] = []

    /// The objects that were brought over.
    package var imported: Int { entities.reduce(0) { $0 + $1.imported } }
    /// Whether everything that is stored was: parts of the model, such as a default that has no form here, do not
    /// count.
    package var isWhole: Bool {
        losses.allSatisfy { $0.kind == .model || $0.kind == .defaulted }
    }

    init(identifier: UUID) { self.identifier = identifier }
}

/// Collects what could not be brought over: for each thing how often, and a few examples.
struct LossList {
    private struct Key: Hashable {
        let kind: CoreDataImportReport.Loss.Kind
        let place: String
        let message: String
    }
    private static let mostExamples = 3
    /// A damaged store could have a reason of its own for every row.
    private static let mostLosses = 1_000

    private var indexes: [Key: Int] = [:]
    private(set) var losses: [CoreDataImportReport.Loss] = []

    mutating func add(
        _ kind: CoreDataImportReport.Loss.Kind, _ place: String, _ message: String,
        _ example: @autoclosure () -> String? = nil
    ) {
        let key = Key(kind: kind, place: place, message: message)
        let index: Int
        if let known = indexes[key] {
            index = known
        } else {
            guard losses.count < Self.mostLosses else { return }
            index = losses.count
            indexes[key] = index
            losses.append(.init(kind: kind, place: place, message: message))
        }
        losses[index].count += 1
        if losses[index].examples.count < Self.mostExamples, let example = example() {
            losses[index].examples.append(example)
        }
    }
}
