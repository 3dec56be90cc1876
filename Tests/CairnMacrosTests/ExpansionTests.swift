import Testing

@Suite struct A {
    @Test func a() {
        let e = Expansion("""
            @Entity
            public final class Product: ManagedObject {
                #Unique<Product>([\\.serialCode])
                #Index<Product>([\\.category, \\.price])
                public var serialCode: String
                @Attribute(.unique, .externalStorage, originalName: "x") var price: Double = 0
                @Attribute(derived: "a") var up: String
                private var category: String?
                @Relationship(deleteRule: .nullify, inverse: \\Tag.products) var tags: Set<Tag>
            }
            @Entity class Employee: Person { @Relationship(inverse: "owner") var boss: Person? 
              var at: Date = Date()
            }
            @Composite public struct Address { var street: String = ""; var city: String? }
            """)
        print(e.text); print(e.reports)
    }
}
