// A model for feeds: products with a key, a second constraint, a shop of another hierarchy, and a part of their own.

import CairnModel

enum FeedModel {
    static func schema() throws -> Schema { try Schema(model) }

    private static var model: ManagedObjectModel {
        var amount = AttributeDescription("amount", .integer64)
        amount.mergeRule = .sum
        var note = AttributeDescription("note", .string)
        note.mergeRule = .fillNil
        var price = AttributeDescription("price", .double)
        price.mergeRule = .maximum
        var state = AttributeDescription("state", .string)
        state.isOptional = false
        state.defaultValue = .string("new")
        state.preservesValueInHistoryOnDeletion = true
        let product = EntityDescription(
            "Product",
            attributes: [
                .init("code", .string), .init("name", .string), note, amount, price, state,
                .init("series", .string), .init("number", .integer32),
            ],
            relationships: [
                .init("shop", to: "Shop", inverse: "products"),
                .init("whole", to: "Product", inverse: "parts"),
                .init("parts", to: "Product", toMany: true, inverse: "whole"),
            ], uniquenessConstraints: [["code"], ["series", "number"]])
        var special = EntityDescription("Special", attributes: [.init("extra", .string)])
        special.superentityName = "Product"
        let shop = EntityDescription(
            "Shop", attributes: [.init("name", .string)],
            relationships: [
                .init("products", to: "Product", toMany: true, inverse: "shop")
            ], uniquenessConstraints: [["name"]])
        return ManagedObjectModel(entities: [product, special, shop])
    }
}
