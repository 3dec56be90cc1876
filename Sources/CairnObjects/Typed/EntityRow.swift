// The row of a typed batch insert.
//
// Setters are transparent, which is inlined before all else: only then does the optimizer always make an
// address of the key path. Otherwise it stops after half a dozen properties in one closure, and a key path
// that is followed costs some 500 instructions.

public import CairnStore

/// The row of a batch insert to fill, by the names of a class's properties.
///
/// ```swift
/// let request = BatchInsertRequest(Product.self, from: feed) { row, item in
///     row.serialCode = item.code
///     row.price = item.price
/// }
/// ```
///
/// A to-one relationship is set to a ``RowTarget``: `row.shop = .id(id)`, `row.shop = .key("corner")`, or nil; a
/// to-many one to ``RowTargets``: `row.tags = .keys(item.tagNames)`, or `row.tags = .adding([.key("new")])`.
///
/// Properties that are not set have the model's default value, or keep the stored value if the request is `setOnly`. The
/// row is only valid inside the closure that receives it.
@dynamicMemberLookup
public struct EntityRow<Columns: EntityColumns>: ~Copyable {
    @usableFromInline let writer: RowWriter
    @usableFromInline let columns: UnsafePointer<Columns>

    @inlinable init(_ writer: borrowing RowWriter, _ columns: UnsafePointer<Columns>) {
        self.writer = RowWriter(_copying: writer)
        self.columns = columns
    }

    /// Sets a property.
    @inlinable
    public subscript<Token: ColumnToken>(
        dynamicMember path: KeyPath<Columns, Token>
    ) -> Token.Value {
        @available(*, unavailable, message: "a row of a batch can only be written")
        get { preconditionFailure("a row of a batch can only be written") }
        @_transparent nonmutating set {
            columns.pointee[keyPath: path]._store(newValue, in: writer)
        }
    }

    /// Sets a property that the class inherits.
    @inlinable
    public subscript<Token: ColumnToken>(
        dynamicMember path: KeyPath<Columns._Parent, Token>
    ) -> Token.Value {
        @available(*, unavailable, message: "a row of a batch can only be written")
        get { preconditionFailure("a row of a batch can only be written") }
        @_transparent nonmutating set {
            columns.pointee._parent[keyPath: path]._store(newValue, in: writer)
        }
    }

    /// Sets a property that the class's parent inherits.
    @inlinable
    public subscript<Token: ColumnToken>(
        dynamicMember path: KeyPath<Columns._Parent._Parent, Token>
    ) -> Token.Value {
        @available(*, unavailable, message: "a row of a batch can only be written")
        get { preconditionFailure("a row of a batch can only be written") }
        @_transparent nonmutating set {
            columns.pointee._parent._parent[keyPath: path]._store(newValue, in: writer)
        }
    }

    /// A property that cannot be stored, which is reported where it is declared.
    @available(*, unavailable, message: "a batch insert cannot set the property")
    public subscript<Value>(
        dynamicMember path: KeyPath<Columns, RelationshipToken<Value>>
    ) -> Value {
        get { preconditionFailure("unavailable") }
        nonmutating set { preconditionFailure("unavailable") }
    }

    /// The columns of the superclass, for properties that are inherited from further up.
    ///
    /// ```swift
    /// row.withInherited { $0.name = "x" }
    /// ```
    @inlinable public func withInherited(_ body: (borrowing EntityRow<Columns._Parent>) -> Void) {
        withUnsafePointer(to: columns.pointee._parent) { parent in
            body(EntityRow<Columns._Parent>(writer, parent))
        }
    }
}

/// The columns of one request, at a place where they stay.
@usableFromInline
final class BoundColumns<Columns: EntityColumns>: @unchecked Sendable {
    // The memory is written in init alone.
    @usableFromInline let pointer: UnsafePointer<Columns>

    @usableFromInline init(_ columns: Columns) {
        let memory = UnsafeMutablePointer<Columns>.allocate(capacity: 1)
        memory.initialize(to: columns)
        pointer = UnsafePointer(memory)
    }

    deinit {
        let memory = UnsafeMutablePointer(mutating: pointer)
        memory.deinitialize(count: 1)
        memory.deallocate()
    }
}
