// The examples of the article of this name.

import Cairn
import Foundation
import StoreBackends
import Testing

// WhatAConditionFinds 1 begins
@Entity
final class Cafe: ManagedObject {
    var name: String = ""
    var seats: Int?
    var address: CafeAddress?
    var owner: CafeOwner?
}

@Entity
final class CafeOwner: ManagedObject {
    var name: String = ""
    @Relationship(inverse: \Cafe.owner) var cafes: Set<Cafe>
}

@Composite
struct CafeAddress: Equatable {
    var street: String = ""
    var city: String?
}
// WhatAConditionFinds 1 ends

// WhatAConditionFinds 3 begins
func cafes(matching pattern: String, in context: ManagedObjectContext) throws -> [Cafe] {
    do {
        return try context.fetch(FetchRequest(where: "name MATCHES %@", pattern))
    } catch let error as StoreError where error.code == .invalidRequest {
        print(error.fullDescription)
        return []
    }
}
// WhatAConditionFinds 3 ends

// WhatAConditionFinds 5 begins
struct CafeSearch: Codable {
    var text = ""
    var seats = 0...20
}

func cafes(
    _ search: CafeSearch, of owner: CafeOwner, in context: ManagedObjectContext
) throws -> [Cafe] {
    let found = try FetchRequest<Cafe>(
        #Predicate {
            (search.text.isEmpty || $0.name.contains(search.text))
                && search.seats.contains($0.seats ?? 0)
        })
    let own = try FetchRequest<Cafe>(where: "owner == %@", owner)
    let ids = Set(try context.fetch(own).map(\.objectID))
    return try context.fetch(found).filter { ids.contains($0.objectID) }
}
// WhatAConditionFinds 5 ends

@Suite("What a condition finds")
struct WhatAConditionFinds {
    @Test("The examples find what the article says", arguments: Backend.compared)
    func examples(_ backend: Backend) throws {
        let container = try backend.container(for: Cafe.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let owner = context.insert(CafeOwner.self)
        let other = context.insert(CafeOwner.self)
        for (number, name) in ["Caf\u{e9}", "Cafe\u{301}", "Bar"].enumerated() {
            let cafe = context.insert(Cafe.self)
            cafe.name = name
            cafe.seats = number == 2 ? nil : 5 + 10 * number
            cafe.owner = number == 0 ? owner : number == 1 ? other : nil
            cafe.address = number == 1 ? CafeAddress(city: "Rome") : nil
        }
        func names(_ request: FetchRequest<Cafe>) throws -> [[Unicode.Scalar]] {
            try context.fetch(request).map { Array($0.name.unicodeScalars) }
        }
        func scalars(_ names: String...) -> [[Unicode.Scalar]] {
            names.map { Array($0.unicodeScalars) }
        }
        func check() throws {
            // WhatAConditionFinds 2 begins
            let written = "Caf\u{e9}"
            let exact = FetchRequest<Cafe>(predicate: .compare(\Cafe.name, .equal, written))
            let anyForm = try FetchRequest<Cafe>(where: "name ==[l] %@", written)
            let anyCase = try FetchRequest<Cafe>(where: "name CONTAINS[c] %@", "CAFÉ")
            // WhatAConditionFinds 2 ends
            #expect(try names(exact) == scalars("Caf\u{e9}"))
            #expect(try names(anyForm) == scalars("Caf\u{e9}", "Cafe\u{301}"))
            #expect(try names(anyCase) == scalars("Caf\u{e9}", "Cafe\u{301}"))
            #expect(try cafes(matching: "(Ca+)+f.", in: context).count == 2)
            #expect(try cafes(matching: "(a)\\1", in: context).isEmpty)
            // WhatAConditionFinds 4 begins
            let withoutOthers = FetchRequest<Cafe>(
                predicate: try PredicateNode(format: "owner.cafes.@count == 1"))
            let small = try FetchRequest<Cafe>(#Predicate { ($0.seats ?? 0) < 10 })
            let homeless = try FetchRequest<Cafe>(#Predicate { $0.address == nil })
            let unknownLast = FetchRequest<Cafe>(sortBy: [SortKey(\Cafe.seats, nulls: .last)])
            // WhatAConditionFinds 4 ends
            #expect(try context.count(for: withoutOthers) == 2)
            #expect(try names(small) == scalars("Caf\u{e9}", "Bar"))
            #expect(try names(homeless) == scalars("Caf\u{e9}", "Bar"))
            #expect(try names(unknownLast) == scalars("Caf\u{e9}", "Cafe\u{301}", "Bar"))
            var search = CafeSearch()
            #expect(try cafes(search, of: owner, in: context).count == 1)
            search.text = "Bar"
            #expect(try cafes(search, of: owner, in: context).isEmpty)
        }
        try check()
        try context.save()
        try check()
    }
}
