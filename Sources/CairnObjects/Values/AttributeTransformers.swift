// The transformers of the program by name: what models say of transformable attributes is only that.
//
// Threads: any.

import CairnModel
import CairnStore
package import FoundationEssentials
import Synchronization

/// The transformers for transformable attributes of models, by name.
///
/// ```swift
/// AttributeTransformers.register(ColorTransformer.self)                      // by its own name
/// AttributeTransformers.register(TagsTransformer.self, as: "TagsValueTransformer")
/// pencil["color"] = Color(red: 255, green: 0, blue: 0)
/// ```
///
/// Register transformers before objects are read. The value of an attribute whose transformer is not registered is its
/// bytes, as `Data`. This also applies to Core Data's own transformers, which read keyed archives, and to attributes
/// without a transformer: decoding archives requires their classes, and a transformer registered as
/// `NSSecureUnarchiveFromData` can do so.
///
/// The transformers of `@Attribute(.transformable(by:))` are registered with their class's model, unless their names exist
/// already.
public enum AttributeTransformers {
    /// Registers a transformer, for all stores of the process. It replaces one with the same name.
    ///
    /// - Parameter name: its name in the model; nil: the transformer's own name.
    public static func register<T: AttributeTransformer>(_ type: T.Type, as name: String? = nil) {
        register(RegisteredTransformer(T.self), as: name ?? T.transformerName)
    }

    /// Registers what has no type of its own.
    package static func register(_ transformer: RegisteredTransformer, as name: String) {
        registered.withLock { $0[canonical(name)] = transformer }
    }

    /// Forgets the transformer of a name.
    package static func remove(named name: String) {
        registered.withLock { $0[canonical(name)] = nil }
    }

    /// The names of the registered transformers, sorted.
    public static var names: [String] { registered.withLock { $0.keys.sorted() } }

    /// Registers a transformer unless there is one of its name.
    static func offer<T: AttributeTransformer>(_ type: T.Type) {
        let name = canonical(T.transformerName)
        registered.withLock { transformers in
            if transformers[name] == nil { transformers[name] = RegisteredTransformer(T.self) }
        }
    }

    /// The transformer of a name; nil if none is registered. No name means the one that Core Data takes then.
    package static func transformer(named name: String?) -> RegisteredTransformer? {
        let name = canonical(name ?? usual)
        return registered.withLock { $0[name] }
    }

    /// What an attribute without a transformer has in Core Data.
    static let usual = "NSSecureUnarchiveFromData"

    /// What Core Data has by itself.
    private static let archivers: Set<String> = [usual, "NSKeyedUnarchiveFromData"]

    /// Core Data's names are written with and without `TransformerName` at the end.
    private static func canonical(_ name: String) -> String {
        guard name.hasSuffix("TransformerName") else { return name }
        let short = String(name.dropLast("TransformerName".count))
        return archivers.contains(short) ? short : name
    }

    /// Why only bytes can be set.
    static func reason(name: String?) -> String {
        let name = canonical(name ?? usual)
        if name == JSONValue.transformerName { return "takes Data: the JSON of its value" }
        let what =
            archivers.contains(name)
            ? "its transformer \(name) reads keyed archives, which this library does not"
            : "no transformer named \(name) is registered"
        return
            "takes Data: \(what). AttributeTransformers.register(_:as:) registers one of that name"
    }

    private static let registered = Mutex<[String: RegisteredTransformer]>([:])
}

/// A transformer, its type forgotten.
package struct RegisteredTransformer: Sendable {
    package let data: @Sendable (Any) throws -> Data
    let value: @Sendable (Data) throws -> Any
    /// What it is for, for people.
    let typeName: String

    /// A transformer of closures.
    package init(
        typeName: String, data: @escaping @Sendable (Any) throws -> Data,
        value: @escaping @Sendable (Data) throws -> Any
    ) {
        self.typeName = typeName
        self.data = data
        self.value = value
    }

    init<T: AttributeTransformer>(_ type: T.Type) {
        data = { any in
            guard let value = any as? T.Transformed else { throw NoSuchType() }
            return try T.data(from: value)
        }
        value = { try T.value(from: $0) }
        typeName = "\(T.Transformed.self)"
    }

    /// A value of another type than the transformer's.
    struct NoSuchType: Error {}
}
