// A model whose newer version lets no two users say the same id, and the policy that takes a store there.

import CairnModel

@testable import CairnObjects

enum UsersWithDuplicates {
    static func model(unique: Bool) -> ManagedObjectModel {
        ManagedObjectModel(entities: [
            EntityDescription(
                "User", attributes: [.init("uniqueId", .string), .init("age", .integer32)],
                relationships: [.init("notes", to: "Note", toMany: true, inverse: "user")],
                uniquenessConstraints: unique ? [["uniqueId"]] : []),
            EntityDescription(
                "Note", attributes: [.init("text", .string)],
                relationships: [.init("user", to: "User", inverse: "notes")]),
        ])
    }

    /// Keeps the first of all users that say the same id.
    final class KeepFirst: EntityMigrationPolicy {
        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            var known: Set<String> = []
            for user in try manager.sourceContext.all("User", sortedBy: "age") {
                guard let id = user["uniqueId"] as? String else { continue }
                if !known.insert(id).inserted { manager.sourceContext.delete(user) }
            }
            try super.begin(mapping, with: manager)
        }
    }
}
