import Cairn

@Entity
final class Product: ManagedObject {
    @Attribute(.unique) var code: String
    var name: String = ""
    var price: Double = 0
}
