import Cairn

@Entity
final class Product: ManagedObject {
    #Index<Product>([\.price])
    @Attribute(.unique) var code: String
    var name: String = ""
    var price: Double = 0
}
