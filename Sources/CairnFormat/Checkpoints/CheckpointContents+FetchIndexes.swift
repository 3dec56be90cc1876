// The fetch indexes in the table of contents of a checkpoint.                                Format 85

extension CheckpointContents {
    func encodeFetchIndexes(to writer: inout ByteWriter) {
        encode(fetchIndexes, to: &writer) { index, writer in
            writer.append(index.entity)
            encode(index.columns, to: &writer) { column, writer in
                writer.append(column.property)
                writer.append(column.order)
            }
            encode(index.ordered, to: &writer)
            encode(index.postings, to: &writer)
            encode(index.lists, to: &writer)
        }
    }

    private func encode(_ ordered: Ordered, to writer: inout ByteWriter) {
        encode(ordered.outline, to: &writer) { unit, writer in unit.encode(to: &writer) }
        encode(ordered.leaves, to: &writer) { run, writer in
            writer.append(run.count)
            run.unit.encode(to: &writer)
        }
    }

    static func fetchIndexes(_ reader: inout ByteReader, _ fileLength: UInt64)
        throws(FormatError) -> [FetchIndex]
    {
        try list(&reader) { reader throws(FormatError) in
            FetchIndex(
                entity: try reader.integer(),
                columns: try list(&reader) { reader throws(FormatError) in
                    FetchIndex.Column(property: try reader.integer(), order: try reader.integer())
                },
                ordered: try ordered(&reader, fileLength),
                postings: try unique(&reader, fileLength),
                lists: try ordered(&reader, fileLength))
        }
    }

    private static func ordered(_ reader: inout ByteReader, _ fileLength: UInt64)
        throws(FormatError) -> Ordered
    {
        Ordered(
            outline: try list(&reader) { reader throws(FormatError) in
                try CheckpointUnit(decoding: &reader, fileLength: fileLength)
            },
            leaves: try list(&reader) { reader throws(FormatError) in
                Ordered.Run(
                    count: try reader.integer(),
                    unit: try CheckpointUnit(decoding: &reader, fileLength: fileLength))
            })
    }
}

extension CheckpointContents.FetchIndex {
    /// All parts of the index.
    var units: [CheckpointUnit] {
        ordered.outline + ordered.leaves.map(\.unit) + postings.partitions.map(\.unit)
            + lists.outline + lists.leaves.map(\.unit)
    }
}
