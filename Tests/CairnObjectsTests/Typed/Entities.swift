// The typed entities that the tests use. Entities stand at file level: a macro cannot extend a local type.

import Cairn
import Foundation

@Entity
final class TypedProduct: ManagedObject {
    #Unique<TypedProduct>([\.serialCode])
    #Index<TypedProduct>([\.category, \.price])
    var serialCode: String
    var name: String = "unnamed"
    var price: Double = 0
    var stock: Int = 0
    var category: String?
    @Relationship(deleteRule: .nullify, inverse: \TypedTag.products) var tags: Set<TypedTag>
    var maker: TypedMaker?
}

@Entity
final class TypedTag: ManagedObject {
    @Attribute(.unique) var label: String = ""
    var products: Set<TypedProduct>
}

@Entity("Maker")
final class TypedMaker: ManagedObject {
    var name: String = ""
    @Relationship(deleteRule: .cascade, inverse: "maker") var products: [TypedProduct] = []
}
