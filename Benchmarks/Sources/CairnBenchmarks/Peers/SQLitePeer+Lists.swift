// How SQLite imports a whole list, as a program in C would have it: with the list in memory and one reading.
//
//   1. The serial codes of the list go into a hash table in memory.
//   2. The stored rows are read once, in the order in which they lie. Each is looked up in the table and compared.
//   3. What differs is updated by its primary key, what is not in the list is deleted, what was not met is inserted.
// A temporary table would write the whole list once more, and a request a row would search two trees for each.

extension SQLitePeer {
    func synchronize(_ list: [Product]) -> ListChanges {
        var changes = ListChanges()
        let places = CodeTable(list)
        var met = [Bool](repeating: false, count: list.count)
        var differing: [(key: Int64, place: Int)] = []
        var gone: [Int64] = []
        connection.transaction {
            let stored = SQLiteStatement(connection, "SELECT \(Self.columns) FROM ZPRODUCT")
            while stored.next() {
                guard let place = places.place(stored.bytes(9)) else {
                    gone.append(stored.integer(0))
                    continue
                }
                met[place] = true
                if !Self.isEqual(list[place], stored) {
                    differing.append((stored.integer(0), place))
                }
            }
            stored.finalize()
            let update = SQLiteStatement(
                connection,
                """
                UPDATE ZPRODUCT SET Z_OPT = Z_OPT + 1, ZFLAG = ?, ZQUANTITY = ?, ZPRICE = ?, ZUPDATEDAT = ?,
                ZCATEGORY = ?, ZNAME = ? WHERE Z_PK = ?
                """)
            for (key, place) in differing {
                let row = list[place]
                update.bind(row.flag ? Int64(1) : 0, 1)
                update.bind(row.quantity, 2)
                update.bind(row.price, 3)
                update.bind(row.updatedAt, 4)
                update.bind(key, 7)
                row.withTexts { _, name, category in
                    update.bind(category, 5)
                    update.bind(name, 6)
                    update.run()
                }
            }
            update.finalize()
            let deletion = SQLiteStatement(connection, "DELETE FROM ZPRODUCT WHERE Z_PK = ?")
            for key in gone {
                deletion.bind(key, 1)
                deletion.run()
            }
            deletion.finalize()
            for place in list.indices where !met[place] {
                run(insertion, list[place])
                changes.inserted += 1
            }
        }
        changes.updated = differing.count
        changes.deleted = gone.count
        return changes
    }

    @inline(__always)
    private static func isEqual(_ row: Product, _ stored: SQLiteStatement) -> Bool {
        guard row.price == stored.double(5), row.quantity == stored.integer(4),
            row.updatedAt == stored.double(6), row.flag == (stored.integer(3) != 0)
        else { return false }
        return row.withTexts { _, name, category in
            name.elementsEqual(stored.bytes(8)) && category.elementsEqual(stored.bytes(7))
        }
    }
}

/// Where the serial codes of a list are: open addressing over the bytes, without a string for what is looked up.
private final class CodeTable {
    private let list: [Product]
    /// Places, from 1 on.
    private var slots: [UInt32]
    private let mask: Int

    init(_ list: [Product]) {
        self.list = list
        var capacity = 16
        while capacity < list.count * 2 { capacity *= 2 }
        mask = capacity - 1
        slots = [UInt32](repeating: 0, count: capacity)
        for (place, row) in list.enumerated() {
            var code = row.serialCode
            var slot = code.withUTF8 { Self.hash($0) } & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(place + 1)
        }
    }

    @inline(__always)
    func place(_ code: UnsafeBufferPointer<UInt8>) -> Int? {
        var slot = Self.hash(code) & mask
        while slots[slot] != 0 {
            let place = Int(slots[slot] - 1)
            var known = list[place].serialCode
            if known.withUTF8({ $0.elementsEqual(code) }) { return place }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// FNV, for what a program makes itself and nobody chooses.
    @inline(__always)
    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: hash >> 16)
    }
}
