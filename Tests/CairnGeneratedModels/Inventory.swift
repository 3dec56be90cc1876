// The entities of Inventory.json, as classes.
// Written by: cairn model Inventory.json --swift --public
//
//     let container = try PersistentContainer(at: "inventory.cairn", for: Part.self, Kit.self)
//
// A store that was created with the model itself is opened like this, because classes cannot
// express everything that is stored: Part. Read renamed properties there by the model's names, with
// value(forKey:).
//
//     let container = try PersistentContainer(
//         at: "inventory.cairn",
//         model: ManagedObjectModel(json: String(contentsOfFile: "Inventory.json", encoding: .utf8)),
//         classes: ObjectClasses(for: Part.self, Kit.self))
//
// swift-format-ignore-file

public import Cairn

@Composite
public struct PartBox: Hashable, Sendable {
    public var width: Double = 1.0
    // Options in the model that an element cannot have: minimumValue: 0.0
    public var height: Double?
    public var inner: PartBoxInner?

    public init(width: Double = 1.0, height: Double? = nil, inner: PartBoxInner? = nil) {
        self.width = width
        self.height = height
        self.inner = inner
    }
}

@Composite
public struct PartBoxInner: Hashable, Sendable {
    public var depth: Int16 = 2
    // Transformable (class [String], transformer CairnJSON): stored as JSON.
    public var tags: [String]?

    public init(depth: Int16 = 2, tags: [String]? = nil) {
        self.depth = depth
        self.tags = tags
    }
}

@Entity
public class Part: ManagedObject {
    #Unique<Part>([\.`serial number`, \.box.width])
    #Index<Part>([.descending(\.box.width)])
    // Index byPlace, which cannot be expressed here: size (r-tree).
    @Attribute(minimumValue: "A") public var `serial number`: String
    // The model calls it description, which is reserved in every object.
    // An older model calls it text.
    @Attribute(originalName: "description", minimumLength: 1) public var description_: String?
    // The model declares maximumLength: 3, which is only for strings.
    @Attribute(maximumValue: 2147483647) public var size: Int32?
    // New objects get the default value, but rows of a batch insert do not.
    public var picture: Data = Data(base64Encoded: "AQID")!
    public var nothing: Data? = Data()
    public var endless: Double = Double.infinity
    @Attribute(minimumValue: -1.0) public var none: Float? = Float.nan
    @Attribute(minimumValue: Decimal(string: "0.001")!)
    public var exact: Decimal = Decimal(string: "12345678901234567890.5")!
    public var whole: Decimal? = -3
    public var moment: Date = Date(timeIntervalSinceReferenceDate: -2)
    public var link: URL = URL(string: "https://example.org/a%22b")!
    // The model allows external storage, which is only for bytes.
    // User info: line = two\nlines, shown = never
    public var note: String?
    // Transformable (class [String: [Int]], transformer CairnJSON): stored as JSON.
    // New objects get the default value, but rows of a batch insert do not.
    @Attribute(.externalStorage) public var sizes: [String: [Int]] = .init()
    // Transformable (transformer CairnJSON): its bytes. Use a Codable type to store it as JSON, or
    // any other with @Attribute(.transformable(by:)).
    // Its default value in the model is W10=.
    public var words: Data?
    @Attribute(hashModifier: "b") public var box: PartBox
    // Transient and untyped: it is kept in the object, which does not track its changes.
    @Transient public var other: ObjectID? = nil
    @Relationship(deleteRule: .noAction, isOptional: false, originalName: "set", hashModifier: "k")
    public var kit: Kit?
}

@Entity
public final class Kit: Part {
    @Relationship(
        deleteRule: .deny, minimumModelCount: 2, maximumModelCount: 20, inverse: \Part.kit)
    public var parts: Set<Part>
}
