// The same by hand: what somebody writes who uses libpq alone and knows it well.

import CBenchPQ
import Foundation

struct HandWrittenPeer {
    private let task: PostgresTask
    private let connection: PQConnection

    private static let columns = [
        "serial_code", "name", "price", "quantity", "updated_at", "category", "flag",
    ]
    private static let list = columns.joined(separator: ", ")

    init(_ task: PostgresTask) throws {
        self.task = task
        connection = try PQConnection(task.url)
        if task.part == .load {
            try connection.run(
                """
                DROP SCHEMA IF EXISTS bench_hand CASCADE;
                CREATE SCHEMA bench_hand;
                CREATE TABLE bench_hand.products (
                    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, version integer NOT NULL DEFAULT 1,
                    serial_code text COLLATE "C" NOT NULL UNIQUE, name text COLLATE "C" NOT NULL,
                    price double precision NOT NULL, quantity bigint NOT NULL,
                    updated_at double precision NOT NULL, category text COLLATE "C" NOT NULL, flag boolean NOT NULL)
                """)
        }
        try connection.run("SET search_path = bench_hand")
    }

    static func version(_ url: String) throws -> String {
        let connection = try PQConnection(url)
        return PQparameterStatus(connection.handle, "server_version").map { String(cString: $0) }
            ?? "?"
    }

    func measure() throws -> PostgresFigures {
        switch task.part {
        case .load, .reload: return try load()
        case .fetch: return try fetch()
        case .saves: return try saveMany()
        case .single: return try saveSingle()
        }
    }

    private func load() throws -> PostgresFigures {
        let rows = Product.rows(task.rows)
        return try PostgresFigures.measure(count: task.rows) {
            try connection.run(
                """
                BEGIN;
                CREATE TEMPORARY TABLE given (
                    serial_code text, name text, price double precision, quantity bigint,
                    updated_at double precision, category text, flag boolean) ON COMMIT DROP
                """)
            try connection.copy("COPY given FROM STDIN (FORMAT binary)") { send in
                var buffer = PQBytes()
                buffer.bytes = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0]
                buffer.put(Int64(0))
                for row in rows {
                    let row = task.product(row)
                    buffer.put(Int16(7))
                    buffer.field(row.serialCode)
                    buffer.field(row.name)
                    buffer.field(row.price.bitPattern)
                    buffer.field(row.quantity)
                    buffer.field(row.updatedAt.bitPattern)
                    buffer.field(row.category)
                    buffer.field(UInt8(row.flag ? 1 : 0))
                    if buffer.bytes.count > 1 << 16 {
                        try buffer.bytes.withUnsafeBytes(send)
                        buffer.bytes.removeAll(keepingCapacity: true)
                    }
                }
                buffer.put(Int16(-1))
                try buffer.bytes.withUnsafeBytes(send)
            }
            let sets = Self.columns.dropFirst().map { "\($0) = excluded.\($0)" }
                .joined(separator: ", ")
            try connection.run(
                """
                INSERT INTO products (\(Self.list)) SELECT \(Self.list) FROM given
                ON CONFLICT (serial_code) DO UPDATE SET version = products.version + 1, \(sets);
                COMMIT
                """)
        }
    }

    private func rows(_ result: OpaquePointer) -> [Product] {
        (0..<PQntuples(result)).map { row in
            Product(
                serialCode: result.text(row, 0), name: result.text(row, 1),
                price: Double(bitPattern: result.number(row, 2, as: UInt64.self)),
                quantity: result.number(row, 3, as: Int64.self),
                updatedAt: Double(bitPattern: result.number(row, 4, as: UInt64.self)),
                category: result.text(row, 5), flag: result.number(row, 6, as: UInt8.self) != 0)
        }
    }

    private func fetch() throws -> PostgresFigures {
        var tally = Tally()
        let figures = try PostgresFigures.measure(count: task.objects) {
            try connection.prepare(
                "fetch", "SELECT \(Self.list) FROM products ORDER BY id LIMIT $1::bigint")
            var limit = PQBytes()
            limit.put(Int64(task.objects))
            let found = try connection.execute("fetch", [limit.bytes], rows)
            for row in found { tally.add(row) }
        }
        precondition(tally.count == task.objects, "all rows are there")
        return figures
    }

    private struct Known {
        let id: Int64
        var version: Int32
        var price: Double
        var quantity: Int64
    }

    private func known(_ count: Int) throws -> [Known] {
        try connection.prepare(
            "known",
            "SELECT id, version, price, quantity FROM products ORDER BY id LIMIT $1::bigint")
        var limit = PQBytes()
        limit.put(Int64(count))
        return try connection.execute("known", [limit.bytes]) { result in
            (0..<PQntuples(result)).map { row in
                Known(
                    id: result.number(row, 0, as: Int64.self),
                    version: result.number(row, 1, as: Int32.self),
                    price: Double(bitPattern: result.number(row, 2, as: UInt64.self)),
                    quantity: result.number(row, 3, as: Int64.self))
            }
        }
    }

    private func saveMany() throws -> PostgresFigures {
        let count = PostgresPart.changed
        var known = try known(count)
        try connection.prepare(
            "save",
            """
            UPDATE products AS p SET version = p.version + 1, price = v.price, quantity = v.quantity
            FROM unnest($1::bigint[], $2::integer[], $3::double precision[], $4::bigint[])
                AS v(id, version, price, quantity)
            WHERE p.id = v.id AND p.version = v.version
            """)
        return try PostgresFigures.measure(count: PostgresPart.manySaves) {
            for _ in 0..<PostgresPart.manySaves {
                var fields = (PQBytes(), PQBytes(), PQBytes(), PQBytes())
                for index in known.indices {
                    known[index].price += 0.25
                    known[index].quantity += 1
                    fields.0.field(known[index].id)
                    fields.1.field(known[index].version)
                    fields.2.field(known[index].price.bitPattern)
                    fields.3.field(known[index].quantity)
                    known[index].version += 1
                }
                try connection.run("BEGIN")
                try connection.execute(
                    "save",
                    [
                        PQBytes.array(20, count, fields.0), PQBytes.array(23, count, fields.1),
                        PQBytes.array(701, count, fields.2), PQBytes.array(20, count, fields.3),
                    ]
                ) { result in
                    precondition(String(cString: PQcmdTuples(result)) == "\(count)")
                }
                try connection.run("COMMIT")
            }
        }
    }

    private func saveSingle() throws -> PostgresFigures {
        var known = try known(1000)
        try connection.prepare(
            "save",
            """
            UPDATE products SET version = version + 1, price = $3::double precision, quantity = $4::bigint
            WHERE id = $1::bigint AND version = $2::integer
            """)
        return try PostgresFigures.measure(count: PostgresPart.singleSaves) {
            for save in 0..<PostgresPart.singleSaves {
                let index = save % known.count
                known[index].price += 0.25
                known[index].quantity += 1
                var values = [PQBytes](repeating: PQBytes(), count: 4)
                values[0].put(known[index].id)
                values[1].put(known[index].version)
                values[2].put(known[index].price.bitPattern)
                values[3].put(known[index].quantity)
                try connection.run("BEGIN")
                try connection.execute("save", values.map(\.bytes)) { result in
                    precondition(String(cString: PQcmdTuples(result)) == "1")
                }
                try connection.run("COMMIT")
                known[index].version += 1
            }
        }
    }
}
