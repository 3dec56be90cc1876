// The classes of the module CoreData's objects, as Xcode writes them, and their model in code.

import CoreData

/// A product; the name is the given rows'.
final class NamedProduct: NSManagedObject {
    @CoreData.NSManaged var serialCode: String
    @CoreData.NSManaged var name: String
    @CoreData.NSManaged var price: Double
    @CoreData.NSManaged var quantity: Int64
    @CoreData.NSManaged var updatedAt: Double
    @CoreData.NSManaged var category: String
    @CoreData.NSManaged var flag: Bool

    /// Sets every attribute.
    func fill(_ row: Product) {
        serialCode = row.serialCode
        name = row.name
        price = row.price
        quantity = row.quantity
        updatedAt = row.updatedAt
        category = row.category
        flag = row.flag
    }

    /// Every attribute.
    var product: Product {
        Product(
            serialCode: serialCode, name: name, price: price, quantity: quantity,
            updatedAt: updatedAt, category: category, flag: flag)
    }
}

final class NamedParent: NSManagedObject {
    @CoreData.NSManaged var number: Int64
    @CoreData.NSManaged var children: NSSet?
}

final class NamedChild: NSManagedObject {
    @CoreData.NSManaged var label: String
    @CoreData.NSManaged var amount: Int64
    @CoreData.NSManaged var parent: NamedParent?
}

extension NamedProduct {
    /// The model of products and families.
    static func model(with indexes: Indexes) -> NSManagedObjectModel {
        let product = entity(
            "Product", NamedProduct.self,
            [
                ("serialCode", .stringAttributeType), ("name", .stringAttributeType),
                ("price", .doubleAttributeType), ("quantity", .integer64AttributeType),
                ("updatedAt", .doubleAttributeType), ("category", .stringAttributeType),
                ("flag", .booleanAttributeType),
            ])
        product.uniquenessConstraints = [["serialCode"]]
        if indexes == .columns {
            product.indexes = ["price", "updatedAt"].compactMap { name in
                product.attributesByName[name].map {
                    NSFetchIndexDescription(
                        name: name,
                        elements: [
                            NSFetchIndexElementDescription(property: $0, collationType: .binary)
                        ])
                }
            }
        }
        let parent = entity("Parent", NamedParent.self, [("number", .integer64AttributeType)])
        let child = entity(
            "Child", NamedChild.self,
            [("label", .stringAttributeType), ("amount", .integer64AttributeType)])
        let children = relationship("children", to: child, maxCount: 0)
        let owner = relationship("parent", to: parent, maxCount: 1)
        children.inverseRelationship = owner
        owner.inverseRelationship = children
        parent.properties.append(children)
        child.properties.append(owner)
        let model = NSManagedObjectModel()
        model.entities = [product, parent, child]
        return model
    }

    private static func entity(
        _ name: String, _ type: NSManagedObject.Type, _ attributes: [(String, NSAttributeType)]
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(type)
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = false
            return attribute
        }
        return entity
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, maxCount: Int
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = maxCount
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }
}
