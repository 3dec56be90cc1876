// The transformers of the program by name: what models say of transformable attributes is only that.
//
// Threads: any.

import CairnModel
import CairnStore
import FoundationEssentials
import Synchronization

/// The transformers that transformable attributes of models are read and set with, by name.
///
/// ```swift
/// AttributeTransformers.register(ColorTransformer.self)                      // by its own name
/// AttributeTransformers.register(TagsTransformer.self, as: "TagsValueTransformer")
/// pencil["color"] = Color(red: 255, green: 0, blue: 0)
/// ```
///
/// Register before objects are read. An attribute whose transformer is not registered has its bytes as its value, `Data`.
/// That is so too of those that Core Data has by itself, which read keyed archives, and of attributes that name none:
/// archives are for who knows their classes, and a transformer registered as `NSSecureUnarchiveFromData` can read them.
///
/// The transformers of `@Attribute(.transformable(by:))` are registered with their class's model, unless their names are taken.
public enum AttributeTransformers {
    /// Registers a transformer, for all stores of the process; one of the same name gives way.
    ///
    /// - Parameter name: what the model calls it; the transformer's own name if nil.
    public static func register<T: AttributeTransformer>(_ type: T.Type, as name: String? = nil) {
        let name = canonical(name ?? T.transformerName)
        registered.withLock { $0[name] = RegisteredTransformer(T.self) }
    }

    /// The names of those that are registered, sorted.
    public static var names: [String] { registered.withLock { $0.keys.sorted() } }

    /// Registers a transformer unless there is one of its name.
    static func offer<T: AttributeTransformer>(_ type: T.Type) {
        let name = canonical(T.transformerName)
        registered.withLock { transformers in
            if transformers[name] == nil { transformers[name] = RegisteredTransformer(T.self) }
        }
    }

    /// The transformer of a name; nil if none is registered. No name means the one that Core Data takes then.
    static func transformer(named name: String?) -> RegisteredTransformer? {
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
struct RegisteredTransformer: Sendable {
    let data: @Sendable (Any) throws -> Data
    let value: @Sendable (Data) throws -> Any
    /// What it is for, for people.
    let typeName: String

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
