// The sort order of a request as a whole: its keys resolved against an entity, and their combined order.

package import CairnModel

extension [SortPath] {
    /// Resolves the sort keys of a request for objects of an entity.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the key that does not fit.
    package init(_ keys: [SortKey], of entity: SchemaEntity, in schema: Schema) throws(StoreError) {
        self = []
        do throws(PredicateFormatError) {
            for key in keys { append(try SortPath(key, of: entity, in: schema)) }
        } catch {
            throw StoreError(error, entity: entity)
        }
    }

    /// Whether an object comes before another by what each is sorted by; nil if that is equal.
    package func precedes(_ left: [Value], _ right: [Value]) -> Bool? {
        for (index, path) in enumerated() {
            if let precedes = path.precedes(left[index], right[index]) { return precedes }
        }
        return nil
    }
}
