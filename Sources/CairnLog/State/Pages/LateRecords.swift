// The records of pages that are read on first access, see `LatePage`.
//
// Threads: made by one in one thread; their pages are set and read through atomics.

import Synchronization

/// Records of pages, by number.
struct LateRecords {
    static let sheetBytes = 4096
    static let firstOffset = 16
    private static let perSheet = (sheetBytes - firstOffset) / 8
    /// The maximum number of sheets that are allocated together.
    private static let most = 16

    private var sheets: [UnsafeMutableRawPointer] = []
    /// The start of each allocation of several sheets.
    private var allocations: [UnsafeMutableRawPointer] = []
    private(set) var count = 0

    /// Creates records without a page; returns their numbers.
    mutating func add(_ added: Int, of owner: LatePages) -> Range<Int> {
        let range = count..<count + added
        count += added
        while sheets.count * Self.perSheet < count { addSheets(of: owner) }
        return range
    }

    private mutating func addSheets(of owner: LatePages) {
        let made = min(Self.most, max(1, sheets.count))
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: made * Self.sheetBytes, alignment: Self.sheetBytes)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: made * Self.sheetBytes)
        allocations.append(memory)
        let address = UInt(bitPattern: Unmanaged.passUnretained(owner).toOpaque())
        for index in 0..<made {
            let sheet = memory + index * Self.sheetBytes
            sheet.storeBytes(of: address, as: UInt.self)
            sheet.storeBytes(of: sheets.count * Self.perSheet, toByteOffset: 8, as: Int.self)
            sheets.append(sheet)
        }
    }

    private func record(_ number: Int) -> UnsafeMutableRawPointer {
        let (sheet, place) = number.quotientAndRemainder(dividingBy: Self.perSheet)
        return sheets[sheet] + (Self.firstOffset + place * 8)
    }

    /// The tagged address of a record.
    subscript(_ number: Int) -> UInt { LatePage.tagged(record(number)) }

    /// The page of a record; none until it was set.
    func page(of number: Int) -> Page { LatePage.loadedPage(self[number]) }

    /// Passes the tagged addresses of some records: those of each run are eight apart.
    func forEachRun(_ numbers: Range<Int>, _ body: (_ first: UInt, _ count: Int) -> Void) {
        var number = numbers.lowerBound
        while number < numbers.upperBound {
            let rest = Self.perSheet - number % Self.perSheet
            let run = min(rest, numbers.upperBound - number)
            body(self[number], run)
            number += run
        }
    }

    /// Sets the page of a record.
    func set(_ page: Page, of number: Int) {
        record(number).assumingMemoryBound(to: Atomic<UInt>.self)
            .pointee.store(page.address, ordering: .releasing)
    }

    func deallocate() { for memory in allocations { memory.deallocate() } }
}
