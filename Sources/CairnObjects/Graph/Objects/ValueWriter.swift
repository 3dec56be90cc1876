// Large values of objects that are written some bytes at a time.

import CairnModel
public import CairnStore
public import FoundationEssentials

/// Writes a binary attribute in chunks, so that the value is never in memory as a whole.
///
/// ```swift
/// let writer = try building.valueWriter(forKey: "plan")
/// while let chunk = try input.read(upToCount: 1 << 20), !chunk.isEmpty {
///     try writer.write(chunk)
/// }
/// try writer.finish()
/// try context.save()
/// ```
///
/// Bytes are written to the store immediately, as unreferenced space. ``finish()`` sets the attribute, and the next
/// save commits the value, atomically with everything else. The space is reclaimed if the writer is released before
/// that, if the value is replaced or rolled back, and after a crash.
///
/// Changing the object later, or merging it into another one, loads the stored value into memory while it is compared
/// or copied; so does compaction of the store. A value that ends up in another row than it was written for, because of
/// a merge policy or a redo, is copied during the save.
///
/// After the save the object is a fault: reading any of its attributes reads all of them. ``ManagedObject/valueStream(forKey:chunkBytes:)``
/// does not.
///
/// It belongs to the object's context, like the object itself.
public final class ValueWriter {
    private enum Phase {
        case open, finished
        case failed(StoreError)
    }

    private let object: ManagedObject
    private let column: Int
    private var phase = Phase.open
    /// What is not in the store.
    private var buffer = Data()
    private var staging: (any ValueStaging)?
    /// Whether the store was asked whether it takes the value.
    private var wasAsked = false
    /// The bytes that were written.
    public private(set) var count: UInt64 = 0

    /// Values up to so many bytes are put together in memory.
    static let bufferBytes = 1 << 20

    init(_ object: ManagedObject, column: Int) {
        self.object = object
        self.column = column
    }

    deinit { staging?.abandon() }

    /// Appends bytes.
    ///
    /// - Throws: `StoreError`: `.noSpace`, `.inputOutput`, and the same from then on; `.invalidRequest` if the value is
    ///   finished, or exceeds 4 GiB; `.readOnly`.
    public func write(_ bytes: some ContiguousBytes) throws(StoreError) {
        try checkOpen()
        var failure: StoreError?
        bytes.withUnsafeBytes { bytes in
            do throws(StoreError) {
                try take(bytes)
            } catch {
                failure = error
            }
        }
        if let failure {
            cancel()
            phase = .failed(failure)
            throw failure
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        count += UInt64(bytes.count)
        if staging == nil, !wasAsked, count > UInt64(Self.bufferBytes) {
            wasAsked = true
            if let context = object.managedObjectContext {
                staging = try context.beginValue(column: column, of: object)
            }
            if let staging {
                var failure: StoreError?
                buffer.withUnsafeBytes { bytes in
                    do throws(StoreError) {
                        try staging.append(bytes)
                    } catch {
                        failure = error
                    }
                }
                if let failure { throw failure }
                buffer = Data()
            }
        }
        if let staging {
            try staging.append(bytes)
        } else {
            buffer.append(contentsOf: bytes)
        }
    }

    /// Sets the object's value. Without any bytes, it is empty.
    ///
    /// - Throws: `StoreError`: `.noSpace`, `.inputOutput`; `.invalidRequest` if it was finished or cancelled,
    ///   `.objectNotFound` if the object was deleted elsewhere. In that case the object keeps its previous value.
    public func finish() throws(StoreError) {
        try checkOpen()
        do throws(StoreError) {
            if object.isGone {
                throw StoreError(
                    .objectNotFound, "the object was deleted while its value was being written",
                    context: .init(entity: object.entity.name, objectID: object.objectID))
            }
            if let staging {
                let value = try staging.finish()
                object.setColumn(column, .binary(value.standIn))
            } else {
                object.setColumn(column, .binary(buffer))
            }
        } catch {
            cancel()
            phase = .failed(error)
            throw error
        }
        phase = .finished
        staging = nil
        buffer = Data()
    }

    /// Gives the value up: the object keeps the one that it has. After ``finish()`` it does nothing.
    public func cancel() {
        if case .open = phase {
            phase = .failed(StoreError(.invalidRequest, "writing the value was cancelled"))
        }
        staging?.abandon()
        staging = nil
        buffer = Data()
    }

    private func checkOpen() throws(StoreError) {
        switch phase {
        case .open: return
        case .finished:
            throw StoreError(.invalidRequest, "the value is finished: nothing more can be written")
        case .failed(let error): throw error
        }
    }
}

extension ManagedObject {
    /// Begins a value of a binary attribute that is written in chunks.
    ///
    /// A new object gets its permanent id when the value becomes large. Values of unique or indexed attributes are built in
    /// memory, and so are those of entities from which something is derived, and all values in stores that do not accept
    /// any before the save.
    ///
    /// - Parameter key: the attribute; for an element of a composite one, a dotted name such as `"plan.drawing"`.
    /// - Throws: `StoreError` with `.invalidRequest` if the attribute does not exist or is not binary.
    public final func valueWriter(forKey key: String) throws(StoreError) -> ValueWriter {
        let column = try ValueStream.column(forKey: key, of: entity)
        guard case .attribute(.binary) = entity.columns[column].kind else {
            throw StoreError(
                .invalidRequest, "only a binary attribute can be written as a stream",
                context: .init(entity: entity.name, key: key))
        }
        return ValueWriter(self, column: column)
    }

    /// Sets a binary attribute from a sequence of chunks, which are never in memory together; see ``ValueWriter``.
    ///
    /// ```swift
    /// try await building.setValue(contentsOf: download, forKey: "plan")
    /// try context.save()
    /// ```
    ///
    /// - Throws: what the sequence throws; `StoreError` as ``ValueWriter``; `CancellationError`. The object keeps the value
    ///   that it has then.
    public final func setValue<Chunks: AsyncSequence>(
        contentsOf chunks: Chunks, forKey key: String
    ) async throws where Chunks.Element: ContiguousBytes {
        let writer = try valueWriter(forKey: key)
        for try await chunk in chunks {
            try Task.checkCancellation()
            try writer.write(chunk)
        }
        try writer.finish()
    }
}

extension ManagedObjectContext {
    /// Begins a value in the store of an object.
    fileprivate func beginValue(column: Int, of object: ManagedObject) throws(StoreError)
        -> (any ValueStaging)?
    {
        guard let store = store as? any ValueStagingStore else { return nil }
        if object.objectID.isTemporary { try obtainPermanentIDs(for: [object]) }
        return try store.beginValue(
            column: column, of: object.objectID, entity: object.entity.index)
    }
}

extension ManagedObject {
    /// A value for whoever wants its bytes: one that waits in the store for a save is read.
    final func readable(_ value: Value) -> Value {
        guard let staged = StagedValue.find(value) else { return value }
        do throws(StoreError) {
            return .binary(try staged.data())
        } catch {
            managedObjectContext?.readError = error
            return .null
        }
    }
}
