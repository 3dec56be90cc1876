// A model with every kind of relationship and every delete rule.

import CairnModel

enum GraphModel {
    static let model: ManagedObjectModel = {
        func relation(
            _ name: String, _ destination: String, toMany: Bool = false, inverse: String? = nil,
            _ rule: DeleteRule = .nullify
        ) -> RelationshipDescription {
            RelationshipDescription(
                name, to: destination, toMany: toMany, inverse: inverse, deleteRule: rule)
        }
        var list = relation("list", "Person", toMany: true, inverse: "lists")
        list.isOrdered = true
        var line = relation("line", "Sign", toMany: true, inverse: "holder")
        line.isOrdered = true
        let number = AttributeDescription("number", .integer64, optional: false)
        let person = EntityDescription(
            "Person", attributes: [number, AttributeDescription("nick", .integer64)],
            relationships: [
                relation("spouse", "Person", inverse: "spouse"),
                relation("friends", "Person", toMany: true, inverse: "friends"),
                relation("mentor", "Person"), relation("heroes", "Person", toMany: true),
                relation("parent", "Person", inverse: "children"),
                relation("children", "Person", toMany: true, inverse: "parent", .cascade),
                relation("department", "Department", inverse: "employees"), list, line,
                relation("lists", "Person", toMany: true, inverse: "list"),
            ], uniquenessConstraints: [["number"]])
        let department = EntityDescription(
            "Department", attributes: [number],
            relationships: [
                relation("employees", "Person", toMany: true, inverse: "department", .deny),
                relation("signs", "Sign", toMany: true, inverse: "department", .noAction),
            ], uniquenessConstraints: [["number"]])
        let sign = EntityDescription(
            "Sign", attributes: [number],
            relationships: [
                relation("department", "Department", inverse: "signs"),
                relation("holder", "Person", inverse: "line"),
            ],
            uniquenessConstraints: [["number"]])
        return ManagedObjectModel(entities: [person, department, sign])
    }()
}
