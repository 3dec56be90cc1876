// What is sorted by, with Core Data's names. Foundation on Linux knows key paths of `Comparable` values alone.
//
// An initializer of a protocol may give an object of any class: see `PredicateOfFormat`.
//
// Threads: sort descriptors do not change; any.

package import CairnModel
import CairnStore
public import Foundation

/// What has the initializers with keys: `NSSortDescriptor`.
public protocol SortDescriptorOfKey {}

extension NSSortDescriptor: SortDescriptorOfKey {}

extension SortDescriptorOfKey where Self: NSSortDescriptor {
    /// Sorts by the value at a key path.
    public init(key: String?, ascending: Bool) {
        self.init(KeySortDescriptor(key ?? "self", ascending: ascending))
    }

    /// Sorts by the value at a key path, with one of the comparisons that stores know: `compare:`, `caseInsensitiveCompare:`,
    /// `localizedCompare:`, `localizedCaseInsensitiveCompare:` and `localizedStandardCompare:`.
    public init(key: String?, ascending: Bool, selector: Selector?) {
        self.init(
            KeySortDescriptor(
                key ?? "self", ascending: ascending, selector: selector?.description ?? "compare:"))
    }

    /// Sorts by the value at a key path, as a closure compares. Only objects in memory can be sorted so.
    public init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
        self.init(KeySortDescriptor(key ?? "self", ascending: ascending, comparator: cmptr))
    }

    /// Sorts by the value at a key path.
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self.init(KeySortDescriptor(KeyNames.name(of: keyPath), ascending: ascending))
    }

    private init(_ made: KeySortDescriptor) {
        guard let made = made as? Self else {
            preconditionFailure("\(Self.self) has no initializer with a key")
        }
        self = made
    }
}

extension NSSortDescriptor {
    /// The key path; nil for the object itself.
    public var key: String? {
        let key = (self as? KeySortDescriptor)?.path ?? KeyNames.name(of: keyPath)
        return key == "self" ? nil : key
    }

    /// The comparison, if it has a key and no closure.
    public var selector: Selector? {
        switch (self as? KeySortDescriptor)?.order {
        case nil: Selector("compare:")
        case .comparison(let comparison)?: Selector(comparison.selector)
        case .unknown(let name)?: Selector(name)
        case .closure?: nil
        }
    }

    /// What stores are told.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` for what a store cannot sort by.
    package var sortKey: SortKey {
        get throws(StoreError) {
            guard let descriptor = self as? KeySortDescriptor else {
                return SortKey(KeyNames.name(of: keyPath), ascending: ascending)
            }
            switch descriptor.order {
            case .comparison(let comparison):
                return SortKey(descriptor.path, ascending: ascending, comparison: comparison)
            case .closure:
                throw StoreError(
                    .invalidRequest, "a store cannot sort by a closure: sort what was fetched",
                    context: .init(key: descriptor.path))
            case .unknown(let name):
                do throws(PredicateFormatError) {
                    return try SortKey(descriptor.path, ascending: ascending, selector: name)
                } catch {
                    throw StoreError(
                        .invalidRequest, error.message, context: .init(key: descriptor.path))
                }
            }
        }
    }

    /// The descriptor of what stores are told.
    package static func descriptor(for key: SortKey) -> NSSortDescriptor {
        KeySortDescriptor(key.key, ascending: key.isAscending, selector: key.comparison.selector)
    }
}

/// A descriptor with a key.
final class KeySortDescriptor: NSSortDescriptor {
    /// How values are compared.
    enum Order {
        /// By a comparison that stores know too.
        case comparison(SortKey.Comparison)
        /// By a method that there is not.
        case unknown(String)
        /// As a closure says.
        case closure(Comparator)
    }

    let path: String
    let order: Order

    convenience init(_ path: String, ascending: Bool, selector: String = "compare:") {
        guard let comparison = SortKey.Comparison(selector: selector) else {
            self.init(path, ascending, .unknown(selector)) { _, _ in
                fatalError("\(path): there is no comparison \(selector)")
            }
            return
        }
        self.init(path, ascending, .comparison(comparison)) { left, right in
            let order = SortingOrder.compare(
                comparison.ordered((left as? EvaluatedValue)?.plain ?? .null),
                comparison.ordered((right as? EvaluatedValue)?.plain ?? .null))
            return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
        }
    }

    convenience init(_ path: String, ascending: Bool, comparator: @escaping Comparator) {
        self.init(path, ascending, .closure(comparator)) { left, right in
            func plain(_ value: Any) -> Any {
                (value as? EvaluatedValue)?.any(in: nil) ?? NSNull()
            }
            return comparator(plain(left), plain(right))
        }
    }

    private init(
        _ path: String, _ ascending: Bool, _ order: Order, comparator: @escaping Comparator
    ) {
        self.path = path
        self.order = order
        super.init(
            keyPath: \SortedObject[path], ascending: ascending, comparator: comparator)
    }

    /// How values are compared: the program's own closure, if it has given one.
    override var comparator: Comparator {
        if case .closure(let closure) = order { return closure }
        let comparator = super.comparator
        return { comparator(SortedObject($0).object, SortedObject($1).object) }
    }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let order = super.comparator(SortedObject(object1)[path], SortedObject(object2)[path])
        return ascending ? order : order.reversed
    }

    override var reversedSortDescriptor: Any {
        KeySortDescriptor(path, !ascending, order, comparator: super.comparator)
    }

    override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? NSSortDescriptor, let selector else {
            return other as? NSSortDescriptor === self
        }
        return other.ascending == ascending && other.key == key && other.selector == selector
    }

    override var hash: Int { path.hashValue }

    override var description: String {
        "(\(path), \(ascending ? "ascending" : "descending"), \(selector?.description ?? "closure"))"
    }
}

/// What is sorted, asked by keys.
private struct SortedObject {
    let object: EvaluatedValue

    init(_ any: Any) {
        guard let object = EvaluatedValue(any: any) else {
            fatalError("a \(type(of: any)) cannot be sorted by a key")
        }
        self.object = object
    }

    subscript(path: String) -> EvaluatedValue { object.value(at: path) }
}

extension ComparisonResult {
    fileprivate var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }
}
