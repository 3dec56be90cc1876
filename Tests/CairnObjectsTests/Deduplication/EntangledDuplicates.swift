// People who are there more than once and lead to one another, with delete rules that delete more of them.

import CairnModel
import CairnObjects

enum EntangledDuplicates {
    /// - Parameter childrenRule: what becomes of the children of somebody who is deleted.
    static func model(childrenRule: DeleteRule = .nullify) -> ManagedObjectModel {
        let person = EntityDescription(
            "Person",
            attributes: [
                AttributeDescription("email", .string), AttributeDescription("mark", .string),
                AttributeDescription("visits", .integer64),
            ],
            relationships: [
                RelationshipDescription("parent", to: "Person", inverse: "children"),
                RelationshipDescription(
                    "children", to: "Person", toMany: true, inverse: "parent",
                    deleteRule: childrenRule),
                RelationshipDescription("boss", to: "Person", inverse: "assistant"),
                RelationshipDescription("assistant", to: "Person", inverse: "boss"),
                RelationshipDescription("friends", to: "Person", toMany: true, inverse: "friends"),
                RelationshipDescription("manager", to: "Worker"),
                RelationshipDescription("heir", to: "Person", deleteRule: .cascade),
            ])
        var worker = EntityDescription(
            "Worker", attributes: [AttributeDescription("badge", .string)])
        worker.superentityName = "Person"
        return ManagedObjectModel(entities: [person, worker])
    }
}
