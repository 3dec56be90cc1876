// The table of contents of a checkpoint: small numbers, and the locations of the large parts.   Format 85

/// The contents of a checkpoint.
package struct CheckpointContents: Sendable, Hashable {
    /// A run of consecutive leaves of a paged array.
    package struct Leaves: Sendable, Hashable {
        package var first: UInt32
        package var count: UInt32
        package var unit: CheckpointUnit
        package init(first: UInt32, count: UInt32, unit: CheckpointUnit) {
            self.first = first
            self.count = count
            self.unit = unit
        }
    }
    /// A number space: issued numbers, reserved numbers, and the cells of its directory.
    package struct Tree: Sendable, Hashable {
        package var id: UInt32
        package var next: UInt32
        package var reserved: UInt32
        package var cells: [Leaves]
        package init(id: UInt32, next: UInt32, reserved: UInt32, cells: [Leaves]) {
            self.id = id
            self.next = next
            self.reserved = reserved
            self.cells = cells
        }
    }
    /// A partition of a unique index: its occupied slots, in order.
    package struct Partition: Sendable, Hashable {
        package var number: UInt32
        package var capacity: UInt32
        package var unit: CheckpointUnit
        package init(number: UInt32, capacity: UInt32, unit: CheckpointUnit) {
            self.number = number
            self.capacity = capacity
            self.unit = unit
        }
    }
    package struct Unique: Sendable, Hashable {
        package var bits: UInt32
        package var partitions: [Partition]
        package init(bits: UInt32, partitions: [Partition]) {
            self.bits = bits
            self.partitions = partitions
        }
    }
    /// An inverse table: two arrays.
    package struct Inverse: Sendable, Hashable {
        package var heads: [Leaves]
        package var links: [Leaves]
        package init(heads: [Leaves], links: [Leaves]) {
            self.heads = heads
            self.links = links
        }
    }

    /// An ordered index: its leaves in order, and the facts required before they are read.
    package struct Ordered: Sendable, Hashable {
        /// A run of consecutive leaves.
        package struct Run: Sendable, Hashable {
            package var count: UInt32
            package var unit: CheckpointUnit
            package init(count: UInt32, unit: CheckpointUnit) {
                self.count = count
                self.unit = unit
            }
        }
        /// The number of entries of each leaf, and the separator from the leaf before.
        package var outline: [CheckpointUnit]
        package var leaves: [Run]
        package init(outline: [CheckpointUnit] = [], leaves: [Run] = []) {
            self.outline = outline
            self.leaves = leaves
        }
    }
    /// A fetch index.
    package struct FetchIndex: Sendable, Hashable {
        /// A column of its keys.
        package struct Column: Sendable, Hashable {
            package var property: UInt32
            /// 1 for descending values.
            package var order: UInt32
            package init(property: UInt32, order: UInt32) {
                self.property = property
                self.order = order
            }
        }
        /// The id of the entity that declares the index.
        package var entity: UInt32
        package var columns: [Column]
        package var ordered: Ordered
        /// The table of its postings, and their lists; empty for an index of one column.
        package var postings: Unique
        package var lists: Ordered
        package init(
            entity: UInt32, columns: [Column], ordered: Ordered, postings: Unique, lists: Ordered
        ) {
            self.entity = entity
            self.columns = columns
            self.ordered = ordered
            self.postings = postings
            self.lists = lists
        }
    }

    package var schema = Place.none
    package var schemaVersion: UInt32 = 0
    package var trees: [Tree] = []
    /// The number of objects, by entity.
    package var counts: [UInt64] = []
    package var uniques: [Unique] = []
    package var inverses: [Inverse] = []
    /// The segments that make up the store, by number; the main segment that takes commits, with its end in
    /// this state.
    package var live: [StartPayload.LiveSegment] = []
    /// The largest segment number issued so far.
    package var lastSegment: UInt32 = 0
    /// The largest block handle, and the blocks in parts.
    package var lastBlock: UInt32 = 0
    package var blocks: [CheckpointUnit] = []
    /// The fetch indexes. If there are none, nothing is written: the same bytes as before fetch indexes
    /// existed.
    package var fetchIndexes: [FetchIndex] = []
    /// The place of the metadata in force. If there are none, nothing is written.           F-860
    package var metadata: Place?
    /// The history. Without settings for one, nothing is written.                           F-861
    package var history: History?

    /// The location of the retained changes.
    package struct History: Sendable, Hashable {
        /// The commit before that of the first two cells.
        package var origin: UInt64
        /// The place and the length of each commit's changes.
        package var cells: [Leaves]

        package init(origin: UInt64, cells: [Leaves]) {
            self.origin = origin
            self.cells = cells
        }
    }

    /// Redirects. If there are none, nothing is written.                                      F-862
    package var redirects: [CheckpointUnit] = []
    /// If redirects follow, this replaces the origin of a missing history.
    private static let noHistory = UInt64.max

    package init() {}

    package func encode(to writer: inout ByteWriter) {
        writer.append(schema.segment)
        writer.append(schema.offset8)
        writer.append(schemaVersion)
        writer.append(lastBlock)
        writer.append(lastSegment)
        encode(live, to: &writer) { segment, writer in segment.encode(to: &writer) }
        encode(trees, to: &writer) { tree, writer in
            writer.append(tree.id)
            writer.append(tree.next)
            writer.append(tree.reserved)
            encode(tree.cells, to: &writer)
        }
        encode(counts, to: &writer) { count, writer in writer.append(count) }
        encode(uniques, to: &writer) { unique, writer in encode(unique, to: &writer) }
        encode(inverses, to: &writer) { inverse, writer in
            encode(inverse.heads, to: &writer)
            encode(inverse.links, to: &writer)
        }
        encode(blocks, to: &writer) { unit, writer in unit.encode(to: &writer) }
        let hasRedirects = !redirects.isEmpty
        if !fetchIndexes.isEmpty || metadata != nil || hasRedirects {
            encodeFetchIndexes(to: &writer)
        }
        if metadata != nil || hasRedirects {
            writer.append(metadata?.segment ?? 0)
            writer.append(metadata?.offset8 ?? 0)
        }
        if history != nil || hasRedirects {
            writer.append(history?.origin ?? Self.noHistory)
            encode(history?.cells ?? [], to: &writer)
        }
        if hasRedirects {
            encode(redirects, to: &writer) { unit, writer in unit.encode(to: &writer) }
        }
    }

    func encode(_ unique: Unique, to writer: inout ByteWriter) {
        writer.append(unique.bits)
        encode(unique.partitions, to: &writer) { partition, writer in
            writer.append(partition.number)
            writer.append(partition.capacity)
            partition.unit.encode(to: &writer)
        }
    }

    private func encode(_ leaves: [Leaves], to writer: inout ByteWriter) {
        encode(leaves, to: &writer) { leaves, writer in
            writer.append(leaves.first)
            writer.append(leaves.count)
            leaves.unit.encode(to: &writer)
        }
    }

    func encode<T>(
        _ list: [T], to writer: inout ByteWriter, _ body: (T, inout ByteWriter) -> Void
    ) {
        writer.append(UInt32(list.count))
        for element in list { body(element, &writer) }
    }

    package init(decoding bytes: UnsafeRawBufferPointer, fileLength: UInt64) throws(FormatError) {
        var reader = ByteReader(bytes)
        schema = Place(segment: try reader.integer(), offset8: try reader.integer())
        schemaVersion = try reader.integer()
        lastBlock = try reader.integer()
        lastSegment = try reader.integer()
        live = try Self.list(&reader) { reader throws(FormatError) in try reader.liveSegment() }
        trees = try Self.list(&reader) { reader throws(FormatError) in
            Tree(
                id: try reader.integer(), next: try reader.integer(),
                reserved: try reader.integer(), cells: try Self.leaves(&reader, fileLength))
        }
        counts = try Self.list(&reader) { reader throws(FormatError) in try reader.integer() }
        uniques = try Self.list(&reader) { reader throws(FormatError) in
            try Self.unique(&reader, fileLength)
        }
        inverses = try Self.list(&reader) { reader throws(FormatError) in
            Inverse(
                heads: try Self.leaves(&reader, fileLength),
                links: try Self.leaves(&reader, fileLength))
        }
        blocks = try Self.list(&reader) { reader throws(FormatError) in
            try CheckpointUnit(decoding: &reader, fileLength: fileLength)
        }
        if reader.remaining > 0 { fetchIndexes = try Self.fetchIndexes(&reader, fileLength) }
        if reader.remaining > 0 {
            metadata = Place(segment: try reader.integer(), offset8: try reader.integer())
        }
        if reader.remaining > 0 {
            history = History(
                origin: try reader.integer(), cells: try Self.leaves(&reader, fileLength))
        }
        if reader.remaining > 0 {
            redirects = try Self.list(&reader) { reader throws(FormatError) in
                try CheckpointUnit(decoding: &reader, fileLength: fileLength)
            }
            if metadata?.isNone == true { metadata = nil }
            if history?.origin == Self.noHistory, history?.cells.isEmpty == true { history = nil }
        }
        try reader.end()
        // A small file must not claim much more content than it can have.
        guard units.reduce(0, { $0 + UInt64($1.storedLength) }) <= fileLength else {
            throw FormatError(.malformed, "F-854", "parts of the checkpoint overlap")
        }
    }

    /// All parts.
    private var units: [CheckpointUnit] {
        trees.flatMap(\.cells).map(\.unit) + uniques.flatMap(\.partitions).map(\.unit)
            + inverses.flatMap { $0.heads + $0.links }.map(\.unit) + blocks
            + fetchIndexes.flatMap(\.units) + (history?.cells ?? []).map(\.unit) + redirects
    }

    static func unique(_ reader: inout ByteReader, _ fileLength: UInt64) throws(FormatError)
        -> Unique
    {
        Unique(
            bits: try reader.integer(),
            partitions: try list(&reader) { reader throws(FormatError) in
                Partition(
                    number: try reader.integer(), capacity: try reader.integer(),
                    unit: try CheckpointUnit(decoding: &reader, fileLength: fileLength))
            })
    }

    private static func leaves(_ reader: inout ByteReader, _ fileLength: UInt64)
        throws(FormatError) -> [Leaves]
    {
        try list(&reader) { reader throws(FormatError) in
            Leaves(
                first: try reader.integer(), count: try reader.integer(),
                unit: try CheckpointUnit(decoding: &reader, fileLength: fileLength))
        }
    }

    static func list<T>(
        _ reader: inout ByteReader, _ body: (inout ByteReader) throws(FormatError) -> T
    ) throws(FormatError) -> [T] {
        let count = try reader.integer(UInt32.self)
        // An element has at least four bytes: a damaged count causes no allocation.
        guard Int(count) <= reader.remaining / 4 else { throw reader.truncated(Int(count)) }
        var list: [T] = []
        list.reserveCapacity(Int(count))
        for _ in 0..<count { list.append(try body(&reader)) }
        return list
    }
}
