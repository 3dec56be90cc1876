import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@Suite("Rows given by a closure")
struct ClosureRowsTests {
    @Test("hold what was set, of every type")
    func everyType() throws {
        let entity = try Samples.entity(Samples.everyType)
        let small = try entity.column("small", as: Int16.self)
        let medium = try entity.column("medium", as: Int32.self)
        let large = try entity.column("large", as: Int?.self)
        let exact = try entity.column("exact", as: Decimal.self)
        let real = try entity.column("real", as: Double.self)
        let short = try entity.column("short", as: Float.self)
        let text = try entity.column("text", as: String.self)
        let flag = try entity.column("flag", as: Bool.self)
        let moment = try entity.column("moment", as: Date.self)
        let bytes = try entity.column("bytes", as: Data.self)
        let key = try entity.column("key", as: UUID.self)
        let link = try entity.column("link", as: URL.self)
        let (uuid, url) = (UUID(), URL(string: "https://example.org/a?b=c")!)
        let given = Given(2)
        let batch = try fill(
            BatchInsertRequest(entity: entity) { row in
                guard let number = given.next() else { return true }
                row[small] = -3
                row[medium] = 70_000
                row[large] = number == 0 ? nil : .max
                row[exact] = Decimal(string: "12.30")!
                row[real] = 0.1
                row[short] = 0.2
                row[text] = "eins"
                row[text] = "ein längerer Text als zuvor"
                row[flag] = true
                row[moment] = Date(timeIntervalSinceReferenceDate: 5.5)
                row.set(bytes, Data([0, 1, 2]))
                row[key] = uuid
                row[link] = url
                return false
            }, entity)
        #expect(batch.rows == 2)
        for row in 0..<2 {
            #expect(try Samples.value(batch, "small", row: row) == .integer(-3))
            #expect(try Samples.value(batch, "medium", row: row) == .integer(70_000))
            #expect(
                try Samples.value(batch, "large", row: row) == (row == 0 ? .null : .integer(.max)))
            #expect(
                try Samples.value(batch, "exact", row: row) == .decimal(Decimal(string: "12.3")!))
            #expect(try Samples.value(batch, "real", row: row) == .double(0.1))
            #expect(try Samples.value(batch, "short", row: row) == .float(0.2))
            #expect(
                try Samples.value(batch, "text", row: row) == .string("ein längerer Text als zuvor")
            )
            #expect(try Samples.value(batch, "flag", row: row) == .boolean(true))
            #expect(
                try Samples.value(batch, "moment", row: row)
                    == .date(Date(timeIntervalSinceReferenceDate: 5.5)))
            #expect(try Samples.value(batch, "bytes", row: row) == .binary(Data([0, 1, 2])))
            #expect(try Samples.value(batch, "key", row: row) == .uuid(uuid))
            #expect(try Samples.value(batch, "link", row: row) == .uri(url))
            #expect(try Samples.value(batch, "archive", row: row) == .null)
        }
    }

    @Test("texts of any length are copied whole", arguments: 0...40)
    func lengths(count: Int) throws {
        let entity = try Samples.entity([.init("text", .string)])
        let column = try entity.column("text", as: String.self)
        let text = String((0..<count).map { Character(UnicodeScalar(UInt8(65 + $0 % 26))) })
        let given = Given(3)
        let batch = try fill(
            BatchInsertRequest(entity: entity) { row in
                guard given.next() != nil else { return true }
                row[column] = text
                return false
            }, entity)
        for row in 0..<3 { #expect(try Samples.value(batch, "text", row: row) == .string(text)) }
    }

    @Test("come in batches of 1,024, and what the last call set is forgotten")
    func batches() throws {
        let entity = try Samples.entity([.init("number", .integer64)])
        let column = try entity.column("number", as: Int.self)
        let given = Given(2500)
        let request = BatchInsertRequest(entity: entity) { row in
            let number = given.next()
            row[column] = number ?? -1
            return number == nil
        }
        var filler = try request.makeFiller(for: entity)
        let batch = ColumnBatch(entity)
        var counts: [Int] = []
        var isEnd = false
        while !isEnd {
            isEnd = try filler.fill(batch, firstRow: counts.reduce(0, +))
            try batch.seal(firstRow: 0)
            for row in 0..<batch.rows {
                let number = Int64(counts.reduce(0, +) + row)
                #expect(try Samples.value(batch, "number", row: row) == .integer(number))
            }
            counts.append(batch.rows)
            if isEnd {
                #expect(batch.columns[0].states[batch.rows] == ColumnBuffer.State.untouched)
            }
            batch.reset()
        }
        #expect(counts == [1024, 1024, 452])
    }

    @Test("end a batch early if they are large, and the next batch is an ordinary one")
    func largeRows() throws {
        let entity = try Samples.entity([.init("bytes", .binary)])
        let column = try entity.column("bytes", as: Data.self)
        let large = Data(repeating: 7, count: 1 << 20)
        let given = Given(1500)
        let request = BatchInsertRequest(entity: entity) { row in
            guard let number = given.next() else { return true }
            row[column] = number < 10 ? large : Data([1])
            return false
        }
        var filler = try request.makeFiller(for: entity)
        let batch = ColumnBatch(entity)
        var (total, batches) = (0, 0)
        while true {
            let isEnd = try filler.fill(batch, firstRow: total)
            #expect(batch.byteCount < 3 * ColumnBatch.largeSize)
            (total, batches) = (total + batch.rows, batches + 1)
            batch.reset()
            if isEnd { break }
        }
        #expect(total == 1500)
        #expect(batches > 2 && batches < 10)
    }

    @Test("of many columns of text are full when they have as many rows as others")
    func manyColumns() throws {
        let entity = try Samples.entity((0..<300).map { .init("text\($0)", .string) })
        let column = try entity.column("text7", as: String.self)
        let given = Given(1500)
        let request = BatchInsertRequest(entity: entity) { row in
            guard let number = given.next() else { return true }
            row[column] = "\(number)"
            return false
        }
        var filler = try request.makeFiller(for: entity)
        let batch = ColumnBatch(entity)
        #expect(try !filler.fill(batch, firstRow: 0))
        #expect(batch.rows == ColumnBatch.capacity)
        batch.reset()
        #expect(try filler.fill(batch, firstRow: ColumnBatch.capacity))
        #expect(batch.rows == 1500 - ColumnBatch.capacity)
    }

    @Test(
        "what the closure throws is the cause of the error, which names the row; nothing of the row stays"
    )
    func userError() throws {
        struct Broken: Error {}
        let entity = try Samples.entity([.init("number", .integer64)])
        let column = try entity.column("number", as: Int.self)
        let given = Given(10)
        let request = BatchInsertRequest(entity: entity) { row in
            let number = given.next()
            row[column] = 5
            if number == 3 { throw Broken() }
            return false
        }
        var filler = try request.makeFiller(for: entity)
        let batch = ColumnBatch(entity)
        let error = try storeError { _ = try filler.fill(batch, firstRow: 100) }
        #expect(error.code == .rowsFailed)
        #expect(error.cause is Broken)
        #expect(error.context.row == 103 && error.context.entity == "Sample")
        #expect(batch.rows == 3)
        #expect(batch.columns[0].states[3] == ColumnBuffer.State.untouched)
    }

    @Test("an abstract entity takes none, and neither does one with other columns")
    func refusedEntities() throws {
        var description = EntityDescription("Sample")
        description.isAbstract = true
        let abstract = try #require(
            try Schema(ManagedObjectModel(entities: [description])).entity(named: "Sample"))
        #expect(
            try storeError {
                _ = try BatchInsertRequest(entityName: "Sample", objects: []).makeFiller(
                    for: abstract)
            }.code == .invalidRequest)
        let one = try Samples.entity([.init("a", .string)])
        let same = try Samples.entity([.init("a", .string)])
        let other = try Samples.entity([.init("a", .string), .init("b", .string)])
        let request = BatchInsertRequest(entity: one) { _ in true }
        #expect(throws: Never.self) { try request.makeFiller(for: same) }
        #expect(
            try storeError { _ = try request.makeFiller(for: other) }.code == .incompatibleModel)
    }

    @Test("an entity without columns takes rows too")
    func noColumns() throws {
        let entity = try Samples.entity([])
        let given = Given(3)
        #expect(
            try fill(BatchInsertRequest(entity: entity) { _ in given.isOver() }, entity).rows == 3)
        #expect(
            try fill(BatchInsertRequest(entityName: "Sample", objects: [[:], [:]]), entity).rows
                == 2)
    }

    @Test("a column of another entity traps instead of writing where it must not")
    func foreignColumn() async {
        await #expect(processExitsWith: .failure) {
            let one = try Samples.entity([.init("a", .string), .init("b", .string)], name: "One")
            let other = try Samples.entity([.init("a", .string)], name: "Other")
            let column = try one.column("b", as: String.self)
            _ = try fill(
                BatchInsertRequest(entity: other) { row in
                    row[column] = "x"
                    return false
                }, other)
        }
    }

    @Test("typed columns are refused that do not exist, have another type, or are derived")
    func typedColumns() throws {
        let entity = try Samples.rich()
        let missing = try storeError { _ = try entity.column("nothing", as: String.self) }
        #expect(missing.context.key == "nothing" && missing.code == .invalidRequest)
        #expect(
            try storeError { _ = try entity.column("name", as: Int.self) }.context.key == "name")
        #expect(
            try storeError { _ = try entity.column("upper", as: String.self) }.context.key
                == "upper")
        #expect(
            try storeError { _ = try entity.column("parent", as: Int.self) }.context.key == "parent"
        )
        #expect(throws: Never.self) { try entity.column("color.shade.depth", as: Double?.self) }
    }
}

@Suite("Sealing a batch")
struct SealingTests {
    private func batch(
        _ attributes: [AttributeDescription], _ rows: [[String: Any]]
    ) throws -> ColumnBatch {
        let entity = try Samples.entity(attributes)
        let batch = ColumnBatch(entity)
        var filler = try BatchInsertRequest(entityName: "Sample", objects: rows).makeFiller(
            for: entity)
        #expect(try filler.fill(batch, firstRow: 0))
        return batch
    }

    @Test("fills untouched cells with their default and leaves their state alone")
    func defaults() throws {
        var random = RandomSource()
        let attributes = Samples.everyType.map { attribute in
            var value = Value.null
            while value.isNull { value = Samples.value(attribute.type, using: &random) }
            return AttributeDescription(
                attribute.name, attribute.type, optional: false, default: value)
        }
        let batch = try batch(attributes, [[:], ["text": "given", "large": 5], [:]])
        try batch.seal(firstRow: 0)
        for (index, attribute) in attributes.enumerated() {
            for row in 0..<3 where row != 1 || !["text", "large"].contains(attribute.name) {
                #expect(
                    try Samples.value(batch, attribute.name, row: row) == attribute.defaultValue,
                    "\(attribute.name) seed \(random.seed)")
                #expect(batch.columns[index].states[row] == ColumnBuffer.State.untouched)
            }
        }
        #expect(try Samples.value(batch, "text", row: 1) == .string("given"))
        #expect(try Samples.value(batch, "large", row: 1) == .integer(5))
        batch.reset()
        #expect(batch.rows == 0 && batch.columns.allSatisfy { $0.isNil(row: 0) })
    }

    @Test("refuses mandatory attributes that are nil or missing, naming row and key")
    func mandatory() throws {
        let attributes: [AttributeDescription] = [
            .init("code", .string, optional: false),
            .init("count", .integer64, optional: false, default: .integer(1)),
        ]
        let one = try batch(attributes, [["code": "a"], ["count": 5]])
        let error = try storeError { try one.seal(firstRow: 2048) }
        #expect(error.code == .missingMandatory)
        #expect(error.context.row == 2049 && error.context.key == "code")

        let two = try batch(attributes, [["code": "a", "count": NSNull()], [:], ["code": "b"]])
        let several = try storeError { try two.seal(firstRow: 10) }
        #expect(several.code == .multiple)
        #expect(several.details.map(\.context.row) == [10, 11])
        #expect(several.details.map(\.context.key) == ["count", "code"])
        #expect(several.details.allSatisfy { $0.code == .missingMandatory })
    }

    @Test("lets rows that only update leave out mandatory attributes, but not set them to nil")
    func setOnly() throws {
        let attributes: [AttributeDescription] = [
            .init("code", .string, optional: false), .init("name", .string, optional: false),
            .init("count", .integer64, optional: false, default: .integer(1)),
        ]
        let batch = try batch(attributes, [["code": "a"], ["code": "a", "name": "b"]])
        try batch.seal(firstRow: 0, setOnly: true)
        #expect(batch.missingColumn(row: 0) == 1)
        #expect(batch.missingColumn(row: 1) == nil)
        let error = batch.missingError(column: 1, row: 0, firstRow: 7)
        #expect(error.context.key == "name" && error.context.row == 7)
        let nils = try self.batch(attributes, [["code": NSNull()]])
        #expect(
            try storeError { try nils.seal(firstRow: 0, setOnly: true) }.code == .missingMandatory)
    }

    @Test(
        "refuses integers out of range, and reports the first hundred errors in the order of the rows"
    )
    func ranges() throws {
        let entity = try Samples.entity([.init("small", .integer16), .init("medium", .integer32)])
        let small = try entity.column("small", as: Int.self)
        let medium = try entity.column("medium", as: Int.self)
        func batch(_ values: [(Int, Int)]) throws -> ColumnBatch {
            let given = Given(values.count)
            let batch = ColumnBatch(entity)
            var filler = try BatchInsertRequest(entity: entity) { row in
                guard let number = given.next() else { return true }
                row[small] = values[number].0
                row[medium] = values[number].1
                return false
            }.makeFiller(for: entity)
            _ = try filler.fill(batch, firstRow: 0)
            return batch
        }
        try batch([(32767, 2_147_483_647), (-32768, -2_147_483_648)]).seal(firstRow: 0)
        let one = try storeError { try batch([(0, 0), (32768, 0)]).seal(firstRow: 5) }
        #expect(one.context.row == 6 && one.context.key == "small")
        #expect(one.context.value == .integer(32768) && !one.message.contains("32768"))
        let many = try storeError {
            try batch((0..<90).map { (-32769, $0 + 2_147_483_600) }).seal(firstRow: 0)
        }
        #expect(many.code == .multiple && many.details.count == 100)
        #expect(
            many.details.map { $0.context.row ?? -1 }
                == many.details.map { $0.context.row ?? -1 }.sorted())
        // Row 48 is the first whose other column is out of range too.
        #expect(many.details.filter { $0.context.key == "medium" }.first?.context.row == 48)
    }

    @Test("does not ask for derived attributes and relationships")
    func exempt() throws {
        let entity = try Samples.rich()
        let batch = try fill(
            BatchInsertRequest(entityName: "Rich", objects: [["name": "a"]]), entity)
        #expect(try Samples.value(batch, "upper", row: 0) == .null)
    }
}
