import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@Suite("The cells of a row")
struct RowCellsTests {
    private let store = StoreIdentity(identifier: UUID(), hierarchies: [7, 8])

    @Test(
        "hold random values of every type, in rows of few and of many columns",
        arguments: [1, 5, 13, 64, 65, 130])
    func roundTrip(columns: Int) throws {
        var random = RandomSource()
        let attributes = (0..<columns).map {
            let sample = Samples.everyType[$0 % Samples.everyType.count]
            return AttributeDescription("\(sample.name)\($0)", sample.type)
        }
        let entity = try Samples.entity(attributes)
        var builder = RowCellsBuilder(columns: columns)
        for _ in 0..<50 {
            let values = attributes.map { Samples.value($0.type, using: &random) }
            for index in values.indices { builder.set(index, value: values[index]) }
            let inOrder = builder.finish()
            for index in values.indices.shuffled(using: &random) {
                // Set twice: the first value must leave no trace.
                builder.set(index, value: Samples.value(attributes[index].type, using: &random))
                builder.set(index, value: values[index])
            }
            let shuffled = builder.finish()
            for index in values.indices {
                #expect(
                    inOrder.value(index, of: entity, in: store) == values[index],
                    "seed \(random.seed)")
                #expect(inOrder.isNull(index) == values[index].isNull, "seed \(random.seed)")
                #expect(inOrder.isEqual(shuffled, column: index, of: entity), "seed \(random.seed)")
            }
            #expect(inOrder == shuffled, "equal rows have equal bytes; seed \(random.seed)")
        }
    }

    @Test("compare as values compare")
    func comparison() throws {
        let entity = try Samples.entity([
            .init("a", .double), .init("b", .string), .init("c", .float),
        ])
        func cells(_ a: Value, _ b: Value, _ c: Value = .null) -> RowCells {
            var builder = RowCellsBuilder(columns: 3)
            builder.set(0, value: a)
            builder.set(1, value: b)
            builder.set(2, value: c)
            return builder.finish()
        }
        let row = cells(.double(1), .string("x"))
        #expect(row.isEqual(cells(.double(1), .string("y")), column: 0, of: entity))
        #expect(!row.isEqual(cells(.double(1), .string("y")), column: 1, of: entity))
        #expect(!row.isEqual(cells(.double(1), .null), column: 1, of: entity))
        #expect(!row.isEqual(cells(.null, .null), column: 0, of: entity))
        #expect(
            !cells(.double(0), .null).isEqual(cells(.double(-0.0), .null), column: 0, of: entity))
        let otherNaN = Double(nan: 5, signaling: false)
        #expect(
            cells(.double(.nan), .null).isEqual(
                cells(.double(otherNaN), .null), column: 0, of: entity))
        #expect(
            cells(.null, .null, .float(.nan)).isEqual(
                cells(.null, .null, .float(-.nan)), column: 2, of: entity))
        // Composed and decomposed forms are different bytes.
        #expect(
            !cells(.null, .string("é")).isEqual(
                cells(.null, .string("e\u{301}")), column: 1, of: entity))
        #expect(!cells(.null, .string("")).isEqual(cells(.null, .null), column: 1, of: entity))
    }

    @Test("differ where their values do, whatever the type")
    func differences() throws {
        let entity = try Samples.entity(Samples.everyType)
        var random = RandomSource()
        for _ in 0..<100 {
            var builder = RowCellsBuilder(columns: entity.columns.count)
            let values = Samples.everyType.map { Samples.value($0.type, using: &random) }
            for (index, value) in values.enumerated() { builder.set(index, value: value) }
            let base = builder.finish()
            var expected = ColumnSet()
            for (index, attribute) in Samples.everyType.enumerated() {
                let other =
                    Bool.random(using: &random)
                    ? values[index] : Samples.value(attribute.type, using: &random)
                if other != values[index] { expected.insert(index) }
                builder.set(index, value: other)
            }
            let row = builder.finish()
            for column in entity.columns.indices {
                #expect(
                    base.isEqual(row, column: column, of: entity) != expected.contains(column),
                    "seed \(random.seed)")
            }
        }
    }

    @Test("name the target of a to-one relationship by the hierarchy of its root")
    func reference() throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription("A", relationships: [.init("b", to: "B")]), EntityDescription("B"),
        ])
        let entity = try #require(try Schema(model).entity(named: "A"))
        var builder = RowCellsBuilder(columns: 1)
        builder.set(0, value: .objectID(store.id(42, entity: 1)))
        let id = ObjectID(store: store.identifier, hierarchy: 8, reference: 42)
        #expect(builder.finish().value(0, of: entity, in: store) == .objectID(id))
    }
}

@Suite("A set of columns")
struct ColumnSetTests {
    @Test("behaves as a set of numbers does")
    func model() {
        var random = RandomSource()
        for _ in 0..<200 {
            var (set, model) = (ColumnSet(), Set<Int>())
            var (other, otherModel) = (ColumnSet(), Set<Int>())
            for _ in 0..<Int.random(in: 0..<60, using: &random) {
                let column = Int.random(in: 0..<200, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    set.remove(column)
                    model.remove(column)
                case 1:
                    other.insert(column)
                    otherModel.insert(column)
                default:
                    set.insert(column)
                    model.insert(column)
                }
            }
            #expect(Array(set) == model.sorted(), "seed \(random.seed)")
            #expect(set.count == model.count && set.isEmpty == model.isEmpty, "seed \(random.seed)")
            #expect(
                (0..<256).allSatisfy { set.contains($0) == model.contains($0) },
                "seed \(random.seed)")
            #expect(
                Array(set.subtracting(other)) == model.subtracting(otherModel).sorted(),
                "seed \(random.seed)"
            )
            #expect(
                Array(set.union(other)) == model.union(otherModel).sorted(), "seed \(random.seed)")
            #expect(
                set == ColumnSet(model),
                "equal sets are equal however they came to be; seed \(random.seed)")
            #expect(set.hashValue == ColumnSet(model).hashValue)
        }
    }
}

@Suite("A store's error")
struct StoreErrorTests {
    @Test("says where it happened, what, and its number; rows are counted from 1 for people")
    func description() {
        let plain = StoreError(.readOnly, "nothing can be written")
        #expect("\(plain)" == "nothing can be written (134030)")
        let cell = StoreError(
            .missingMandatory, "a required attribute is nil",
            context: .init(entity: "Product", key: "code", row: 0))
        #expect("\(cell)" == "Product.code, row 1: a required attribute is nil (1570)")
        let place = StoreError(
            .damaged, "a checksum is wrong",
            context: .init(path: "a.cairn", segment: 3, offset: 512))
        #expect("\(place)" == "a.cairn, segment 3, offset 512: a checksum is wrong (134085)")
        let several = StoreError(
            .multiple, "several", context: .init(entity: "Product"), details: [cell, plain])
        #expect(
            "\(several)" == """
                Product: several (1560)
                  Product.code, row 1: a required attribute is nil (1570)
                  nothing can be written (134030)
                """)
    }
}
