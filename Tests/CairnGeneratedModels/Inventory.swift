// The entities of Inventory.json, as classes.
// Written by: cairn model Inventory.json --swift --public
//
//     let container = try PersistentContainer(at: "inventory.cairn", for: Part.self, Kit.self)
//
// A store that was made with the model itself opens with that, since classes cannot say all of what
// is stored: Part. What is called otherwise here is asked for by the model's name there:
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
    // The model says more of it, which an element cannot: minimumValue: 0.0
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
    // Index byPlace, which cannot be said here: size (r-tree).
    @Attribute(minimumValue: "A") public var `serial number`: String
    // The model calls it description, which means something in every object.
    // An older model calls it text.
    @Attribute(originalName: "description", minimumLength: 1) public var description_: String?
    // The model says maximumLength: 3, which is for strings.
    @Attribute(maximumValue: 2147483647) public var size: Int32?
    // The default is given to each new object, and not to the rows of a batch insert.
    public var picture: Data = Data(base64Encoded: "AQID")!
    public var nothing: Data? = Data()
    public var endless: Double = Double.infinity
    @Attribute(minimumValue: -1.0) public var none: Float? = Float.nan
    @Attribute(minimumValue: Decimal(string: "0.001")!)
    public var exact: Decimal = Decimal(string: "12345678901234567890.5")!
    public var whole: Decimal? = -3
    public var moment: Date = Date(timeIntervalSinceReferenceDate: -2)
    public var link: URL = URL(string: "https://example.org/a%22b")!
    // The model allows external storage, which is for bytes.
    // User info: line = two\nlines, shown = never
    public var note: String?
    // Transformable (class [String: [Int]], transformer CairnJSON): stored as JSON.
    // The default is given to each new object, and not to the rows of a batch insert.
    @Attribute(.externalStorage) public var sizes: [String: [Int]] = .init()
    // Transformable (transformer CairnJSON): its bytes. A Codable type in their place is stored as
    // JSON, any other by @Attribute(.transformable(by:)).
    // The model has a default for it, W10=.
    public var words: Data?
    @Attribute(hashModifier: "b") public var box: PartBox
    // Transient, and of no type: it lives in the object, which notices no change of it.
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
