import Cairn

@main
struct FirstSteps {
    static func main() async throws {
        let container = try PersistentContainer(at: "shop.cairn", for: Product.self)
    }
}
