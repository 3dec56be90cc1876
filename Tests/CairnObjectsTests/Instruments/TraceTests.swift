// The lines of a trace.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Traces")
struct TraceTests {
    private func trace(_ level: TraceInstrument.Level) throws -> [String] {
        let lines = Lines()
        let stack = try Stack(Models.shop, .log)
        let context = ManagedObjectContext(
            store: stack.store, instruments: [TraceInstrument(level: level, to: lines.take)])
        context.name = "till"
        context.mergePolicy = .mergeByPropertyObjectTrump
        let shop = context.make("Shop", ["name": "corner"])
        context.make("Product", ["serialCode": "secret", "shop": shop])
        try context.save()
        context.make("Product", ["serialCode": "secret", "price": 2.0])
        try context.save()
        let other = ManagedObjectContext(
            store: stack.store, instruments: [TraceInstrument(level: level, to: lines.take)])
        let product = try other.find("Product", "serialCode", .string("secret"))[0]
        _ = product.object("shop")?["name"]
        _ = product.members("tags")
        _ = try other.count("Product")
        _ = try other.fetchObjectIDs(FetchRequest(entityName: "Product"))
        other.make("Product", ["serialCode": "secret"])
        #expect(storeError { try other.save() }?.code == .constraintConflict)
        // The new one is not stored, and nobody holds the shop.
        withExtendedLifetime(product) { other.refreshAllObjects() }
        try other.execute(
            BatchInsertRequest(entityName: "Product", objects: [["serialCode": "B"]]))
        try other.executeBatchDelete(FetchRequest(entityName: "Product"))
        return lines.all()
    }

    @Test("Requests: what is asked without the values, numbers and times")
    func requests() throws {
        let lines = try trace(.requests)
        #expect(
            lines == [
                "cairn: [till] save: 2 inserted, 0 updated, 0 deleted in … ms",
                "cairn: [till] save: 1 inserted, 0 updated, 0 deleted, 1 absorbed in … ms",
                "cairn: fetch Product where serialCode == $value: 1 object in … ms",
                "cairn: count Product: 1 in … ms",
                "cairn: fetch ids of Product: 1 id in … ms",
                "cairn: save: failed, error 133021 in … ms",
                "cairn: refresh: 1 object in … ms",
                "cairn: batch insert Product: 1 inserted, 0 updated, 0 deleted in … ms",
                "cairn: batch delete Product: 2 deleted in … ms",
            ])
    }

    @Test("Values: also what is asked for, faults, and why something failed")
    func values() throws {
        let lines = try trace(.values)
        #expect(
            lines.contains("cairn: fetch Product where serialCode == 'secret': 1 object in … ms"))
        #expect(lines.contains("cairn: fault Product.tags of 1: 0 members in … ms"))
        #expect(lines.contains("cairn: fault Shop 1: 1 row in … ms"))
        #expect(lines.contains { $0.hasPrefix("cairn: save: failed, ") && $0.contains("(133021)") })
        #expect(!lines.contains { $0.hasPrefix(" ") })
    }

    @Test("Plans: also how each was found")
    func plans() throws {
        let lines = try trace(.plans)
        let fetch = try #require(lines.firstIndex { $0.contains("serialCode == 'secret'") })
        #expect(
            Array(lines[fetch...].prefix(4)) == [
                "cairn: fetch Product where serialCode == 'secret': 1 object in … ms",
                "  unique index (serialCode)", "    filter: serialCode == 'secret'",
                "  estimated 1 of 1 rows; 1 examined",
            ])
    }

    @Test("Values of objects are written from the second level on", arguments: Backend.allCases)
    func privacy(_ backend: Backend) throws {
        let lines = try trace(.requests)
        #expect(!lines.contains { $0.contains("secret") || $0.contains("corner") })
    }

    @Test(
        "CAIRN_DEBUG says the level",
        arguments: [
            ("1", TraceInstrument.Level.requests), ("2", .values), ("3", .plans), ("4", .plans),
            ("0", nil), ("-1", nil), ("yes", nil), ("", nil),
        ] as [(String, TraceInstrument.Level?)])
    func environment(_ text: String, _ level: TraceInstrument.Level?) {
        #expect(TraceInstrument(environment: ["CAIRN_DEBUG": text])?.level == level)
        #expect(TraceInstrument(environment: ["OTHER": text]) == nil)
    }
}
