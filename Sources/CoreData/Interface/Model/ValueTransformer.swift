// What turns values into others, with the names of Foundation on Apple's platforms: Foundation on Linux has no such class.
//
// Core Data asks a transformer for the bytes of a value by `transformedValue(_:)`, and for the value of bytes by
// `reverseTransformedValue(_:)`; only those that unarchive are asked the other way round.
//
// Threads: any may look for transformers; a transformer is used by all contexts at once.

import CairnObjects
public import Foundation
import Synchronization

/// What has an initializer by name: ``ValueTransformer``. An initializer of a protocol may give an object that there is already.
public protocol NamedTransformer {}

extension NamedTransformer where Self: ValueTransformer {
    /// The transformer that is registered under a name; nil if none is, or if it is of another class.
    public init?(forName name: NSValueTransformerName) {
        let known = ValueTransformer.named.withLock { $0[name] }
        guard let known = known?.value as? Self else { return nil }
        self = known
    }
}

/// Turns values into others, and back.
///
/// One that is registered is used by all threads, as on Apple's platforms: it has nothing that changes.
open class ValueTransformer: NSObject, NamedTransformer {
    fileprivate static let named = Mutex<[NSValueTransformerName: Handed<ValueTransformer>]>([:])

    /// A transformer.
    public override init() { super.init() }

    /// Registers a transformer, for the attributes of models as well; nil removes it.
    open class func setValueTransformer(
        _ transformer: ValueTransformer?, forName name: NSValueTransformerName
    ) {
        let handed = transformer.map(Handed.init)
        named.withLock { $0[name] = handed }
        guard let transformer else {
            AttributeTransformers.remove(named: name.rawValue)
            return
        }
        AttributeTransformers.register(transformer.registered, as: name.rawValue)
    }

    /// The names under which transformers are registered.
    open class func valueTransformerNames() -> [NSValueTransformerName] {
        named.withLock { $0.keys.sorted { $0.rawValue < $1.rawValue } }
    }

    /// The class of what values become.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether values can be had back.
    open class func allowsReverseTransformation() -> Bool { true }

    /// What a value becomes.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value that has become another one.
    open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
}

extension ValueTransformer {
    /// The transformer as Cairn's objects use it.
    fileprivate var registered: RegisteredTransformer {
        let unarchives = self is NSSecureUnarchiveFromDataTransformer
        let name = "\(type(of: self))"
        let own = Handed(self)
        return RegisteredTransformer(
            typeName: unarchives ? "an archivable value" : "a value of \(name)",
            data: { value in
                let made =
                    unarchives
                    ? own.value.reverseTransformedValue(value) : own.value.transformedValue(value)
                guard let data = made as? Data else { throw NoSuchValue(transformer: name) }
                return data
            },
            value: { data in
                let made =
                    unarchives
                    ? own.value.transformedValue(data) : own.value.reverseTransformedValue(data)
                guard let made else { throw NoSuchValue(transformer: name) }
                return made
            })
    }

    /// Registers the transformers that Core Data has by itself, unless the program has registered others.
    static func offerUsual() {
        for name in [
            NSValueTransformerName.secureUnarchiveFromDataTransformerName,
            .keyedUnarchiveFromDataTransformerName,
        ] where !AttributeTransformers.names.contains(name.rawValue) {
            setValueTransformer(NSSecureUnarchiveFromDataTransformer(), forName: name)
        }
    }
}

/// A value that a transformer makes nothing of.
private struct NoSuchValue: Error, CustomStringConvertible {
    let transformer: String

    var description: String { "\(transformer) makes nothing of the value" }
}
