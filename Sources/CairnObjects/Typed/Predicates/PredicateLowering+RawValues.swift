// The raw value of a property, which is what is stored of it.
//
// A key path does not say what it leads to. Of an enum whose cases can be listed it is the raw value if it gives that for each
// case; of a struct, if it leads to the stored property of that name.

import CairnModel
import CairnStore

extension PredicateLowering {
    /// Whether a key path leads from a value to its raw value.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` for a path that cannot be told from one to something else.
    func isRawValue(_ path: AnyKeyPath) throws(StoreError) -> Bool {
        guard let root = type(of: path).rootType as? any RawRepresentable.Type else { return false }
        switch Self.isRawValue(path, of: root) {
        case let isRaw?: return isRaw
        case nil:
            throw unsupported(
                "a property of \(root), which might be its raw value or not: compare the value itself, or make \(root) CaseIterable; as it is written it"
            )
        }
    }

    /// Nil if nobody can tell.
    private static func isRawValue<R: RawRepresentable>(_ path: AnyKeyPath, of type: R.Type)
        -> Bool?
    {
        guard let path = path as? KeyPath<R, R.RawValue> else { return false }
        if let type = type as? any CaseIterable.Type { return isRawValue(path, ofCases: type) }
        // The name is known of what is stored, and only of that.
        let name = "\(path)"
        if name.hasSuffix(".rawValue") { return true }
        return name.contains("<computed") ? nil : false
    }

    private static func isRawValue<R: RawRepresentable, C: CaseIterable>(
        _ path: KeyPath<R, R.RawValue>, ofCases type: C.Type
    ) -> Bool {
        type.allCases.allSatisfy { one in
            guard let one = one as? R, let raw = Value(typed: one.rawValue) else { return false }
            return Value(typed: one[keyPath: path]) == raw
        }
    }
}
