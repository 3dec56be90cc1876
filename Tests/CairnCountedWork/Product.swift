// The class of the objects: what the macros make of one, written by hand, so that counting builds no macros.

import CairnModel
import CairnObjects

/// A product with typed properties.
final class Product: ManagedObject {
    var serialCode: String {
        get { _read(0) }
        set { _write(0, newValue) }
    }
    var name: String {
        get { _read(1) }
        set { _write(1, newValue) }
    }
    var price: Double {
        get { _read(2) }
        set { _write(2, newValue) }
    }
    var quantity: Int {
        get { _read(3) }
        set { _write(3, newValue) }
    }
    var category: String? {
        get { _read(4) }
        set { _write(4, newValue) }
    }
    var flag: Bool {
        get { _read(5) }
        set { _write(5, newValue) }
    }

    private static let typed = TypedEntity(
        "Product", Product.self, parent: ManagedObject.self,
        properties: [
            .property("serialCode", TypedKind.of(String.self)),
            .property("name", TypedKind.of(String.self)),
            .property("price", TypedKind.of(Double.self)),
            .property("quantity", TypedKind.of(Int.self)),
            .property("category", TypedKind.of(String?.self)),
            .property("flag", TypedKind.of(Bool.self)),
        ], unique: [["serialCode"]]
    ) { _ in nil }

    override class var _typedEntity: TypedEntity? { typed }
}

extension Product: PersistentEntity {}
