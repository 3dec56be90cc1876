import Cairn

/// A product as the store keeps it.
@Entity
final class Product: ManagedObject {
    #Index<Product>([\.category, \.price])
    @Attribute(.unique) var code: String
    var name: String = ""
    var category: String = ""
    var price: Double = 0
}
