// The classes of Cairn's objects, as a program's author writes them. They are the model of both levels.

import Cairn

/// A product; the name is the given rows'.
@Entity("Product")
final class Item: ManagedObject {
    #Unique<Item>([\.serialCode])
    var serialCode: String
    var name: String = ""
    var price: Double = 0
    var quantity: Int64 = 0
    var updatedAt: Double = 0
    var category: String = ""
    var flag: Bool = false
}

@Entity("Parent")
final class ParentItem: ManagedObject {
    var number: Int = 0
    @Relationship(inverse: \ChildItem.parent) var children: Set<ChildItem>
}

@Entity("Child")
final class ChildItem: ManagedObject {
    var label: String = ""
    var amount: Int64 = 0
    var parent: ParentItem?
}

extension Item {
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
