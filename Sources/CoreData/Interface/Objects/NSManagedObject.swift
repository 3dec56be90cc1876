// One object of a context, with Core Data's names.
//
// It is Cairn's object: only members that have other types in Core Data are declared again, and hooks that have other names
// are passed on. `ManagedObjectMembers` says how Swift chooses between the two.
//
// What can be overridden stands here; the accessors of properties do not go through it, as in Core Data.
//
// Threads: the queue of its context.

public import CairnModel
public import CairnObjects
import CairnStore
public import Foundation

/// An object of a context: an instance of an entity.
///
/// It is no `NSObject`, which on Linux knows neither key-value observing nor selectors. It is hashable, so that sets of
/// Foundation have it as a member.
open class NSManagedObject: ManagedObject, NSFetchRequestResult, CustomDebugStringConvertible {
    /// Makes an object of an entity, and inserts it into a context if there is one.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        let (schemaEntity, core) = entity.forObjects(in: context)
        super.init(entity: schemaEntity, insertInto: core)
    }

    /// What contexts make objects with: classes with designated initializers of their own have to have it.
    public required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
    }

    // MARK: What it is

    /// The name of the class with its module, as classes of `NSObject` say it: what ``NSEntityDescription/managedObjectClassName``
    /// takes.
    open class func description() -> String { NSStringFromClass(self) }

    /// Whether the class is another one, or inherits from it.
    public final class func isSubclass(of type: AnyClass) -> Bool {
        func inherits<T: AnyObject>(from type: T.Type) -> Bool { self is T.Type }
        return inherits(from: type)
    }

    /// Whether setting properties that the model does not have leaves the object unchanged. It always does.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// The only entity of the class, in the model that was resolved last.
    open class func entity() -> NSEntityDescription { NSEntityDescription.only(of: Self.self) }

    /// A request for all objects of the class's entity.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        NSFetchRequest(entity: Self.self)
    }

    /// The entity of the object.
    public var entity: NSEntityDescription { NSEntityDescription.standing(for: schemaEntity) }

    /// The identity of the object: temporary until it is saved.
    public var objectID: NSManagedObjectID {
        NSManagedObjectID(
            (self as ManagedObject).objectID, entity: schemaEntity,
            in: managedObjectContext?.persistentStoreCoordinator)
    }

    /// The context; nil if the object has left it.
    public var managedObjectContext: NSManagedObjectContext? {
        (self as ManagedObject).managedObjectContext?.facade as? NSManagedObjectContext
    }

    /// Not 0 while the object's values have not been read.
    open var faultingState: Int { isFault ? 1 : 0 }

    /// Class, entity, id and values; asking does not read them.
    open override var description: String {
        "<\(type(of: self)): \(ObjectIdentifier(self).hexadecimal)> (entity: \(schemaEntity.name); id: \((self as ManagedObject).objectID); data: \(isFault ? "<fault>" : valuesDescription))"
    }

    open var debugDescription: String { description }

    /// Whether another object is this one.
    public final func isEqual(_ object: Any?) -> Bool { (object as? NSManagedObject) === self }

    /// What `NSObject` calls the hash value.
    public final var hash: Int { ObjectIdentifier(self).hashValue }

    /// Whether the object is of a class, or of one that inherits from it.
    public final func isKind(of type: AnyClass) -> Bool {
        func isInstance<T: AnyObject>(of type: T.Type) -> Bool { self is T }
        return isInstance(of: type)
    }

    /// Whether the object is of just this class.
    public final func isMember(of type: AnyClass) -> Bool { Swift.type(of: self) == type }

    // MARK: Values by key

    /// The value of a property: numbers and truth values as `NSNumber`, members as `NSSet` or `NSOrderedSet`.
    open func value(forKey key: String) -> Any? {
        hasProperty(key) || isNoting
            ? boxedValue(forKey: key) : ownValue(key) ?? value(forUndefinedKey: key)
    }

    /// Sets a property. A key that there is not, and a value that does not fit, end the program with a sentence.
    open func setValue(_ value: Any?, forKey key: String) {
        if hasProperty(key) || isNoting {
            setPlainValue(value, forKey: key)
        } else if let name = Self.propertyName(ofSetterFor: key), hasProperty(name) {
            setValue(value, forKey: name)
        } else {
            setValue(value, forUndefinedKey: key)
        }
    }

    /// Key-value coding looks for `setDate:`, so the key Date sets the property date. Nothing is read so.
    private static func propertyName(ofSetterFor key: String) -> String? {
        guard let first = key.first, first.isUppercase else { return nil }
        return first.lowercased() + key.dropFirst()
    }

    /// The value of a key that the entity does not have: ends the program with a sentence unless it is overridden.
    open func value(forUndefinedKey key: String) -> Any? { undefined(key) }

    /// Sets a key that the entity does not have: ends the program with a sentence unless it is overridden.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { undefined(key) }

    /// Sets a property to nil. In Core Data this is what happens to a scalar that is set to nil.
    open func setNilValueForKey(_ key: String) { setPlainValue(nil, forKey: key) }

    /// The value of a property, which nobody is told of.
    open func primitiveValue(forKey key: String) -> Any? { boxedValue(forKey: key) }

    /// Sets an attribute and tells nobody, unless it is done between ``willChangeValue(forKey:)`` and
    /// ``didChangeValue(forKey:)``: then it is a change like others.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) {
        if isNoting { return }
        let context = managedObjectContext
        if context?.settings.announced.contains(key, of: self) == true {
            context?.settings.announced.noteDone(key, of: self)
            setPlainValue(value, forKey: key)
        } else if isToMany(key) != nil {
            setPlainValue(value, forKey: key)
        } else {
            (self as ManagedObject).setPrimitiveValue(plain(value, forKey: key), forKey: key)
        }
    }

    /// The value at the end of a path along relationships; those of several objects as a set, ordered if the relationship is.
    open func value(forKeyPath path: String) -> Any? {
        if hasProperty(path) || !path.contains(".") { return value(forKey: path) }
        return boxed((self as ManagedObject).value(forKeyPath: path), forKeyPath: path)
    }

    /// Sets the property at the end of a path along to-one relationships.
    open func setValue(_ value: Any?, forKeyPath path: String) {
        guard !hasProperty(path), let dot = path.firstIndex(of: "."),
            isToMany(String(path[..<dot])) == false
        else { return setValue(value, forKey: path) }
        (boxedValue(forKey: String(path[..<dot])) as? NSManagedObject)?
            .setValue(value, forKeyPath: String(path[path.index(after: dot)...]))
    }

    /// The values of properties; `NSNull` for nil.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(uniqueKeysWithValues: Set(keys).map { ($0, value(forKey: $0) ?? NSNull()) })
    }

    /// Sets properties; `NSNull` is nil.
    open func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) {
            setValue(value is NSNull ? nil : value, forKey: key)
        }
    }

    /// The members of a to-many relationship, to be changed in place. On Linux it cannot be cast to a set of Swift; what
    /// ``value(forKey:)`` gives can.
    open func mutableSetValue(forKey key: String) -> NSMutableSet {
        ManagedMemberSet((self as ManagedObject).mutableSetValue(forKey: key))
    }

    /// The members of an ordered to-many relationship, to be changed in place.
    open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        ManagedMemberList((self as ManagedObject).mutableOrderedSetValue(forKey: key))
    }

    /// The members of a to-many relationship at the end of a key path, to be changed in place.
    ///
    /// An object on the way that is missing ends the program with a sentence.
    open func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        let (object, key) = end(of: keyPath)
        return object.mutableSetValue(forKey: key)
    }

    /// The members of an ordered to-many relationship at the end of a key path, to be changed in place.
    ///
    /// An object on the way that is missing ends the program with a sentence.
    open func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (object, key) = end(of: keyPath)
        return object.mutableOrderedSetValue(forKey: key)
    }

    private func end(of keyPath: String) -> (NSManagedObject, String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
        let way = String(keyPath[..<dot])
        guard let object = value(forKeyPath: way) as? NSManagedObject else {
            preconditionFailure("\(way) leads to no object, so that \(keyPath) has no members")
        }
        return (object, String(keyPath[keyPath.index(after: dot)...]))
    }

    // MARK: Telling of accesses

    /// Called by accessors of one's own before they read: reads the object's values if need be.
    open func willAccessValue(forKey key: String?) { if isFault { readValues() } }

    /// Called by accessors of one's own after they have read.
    open func didAccessValue(forKey key: String?) {}

    /// Called by accessors of one's own before they set a primitive value.
    open func willChangeValue(forKey key: String) {
        managedObjectContext?.settings.announced.begin(key, of: self)
    }

    /// Called by accessors of one's own after they have set a primitive value: the object is changed.
    open func didChangeValue(forKey key: String) {
        if managedObjectContext?.settings.announced.end(key, of: self) == true { touch(key) }
    }

    /// Called by accessors of one's own before they add or remove members.
    open func willChangeValue(
        forKey key: String, withSetMutation kind: NSKeyValueSetMutationKind,
        using objects: Set<AnyHashable>
    ) { willChangeValue(forKey: key) }

    /// Called by accessors of one's own after they have added or removed members.
    open func didChangeValue(
        forKey key: String, withSetMutation kind: NSKeyValueSetMutationKind,
        using objects: Set<AnyHashable>
    ) { didChangeValue(forKey: key) }

    // MARK: Validation

    /// Checks a value for a property, and may replace it.
    open func validateValue(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        var any = plain(value.pointee, forKey: key)
        try super.validateValue(&any, forKey: key)
        // That is all which the model makes of a value.
        if let url = any as? URL, !(value.pointee is URL) { value.pointee = url as AnyObject }
    }

    public final override func validateValue(_ value: inout Any?, forKey key: String) throws {
        var object = value.map { boxed($0, forKey: key) as AnyObject }
        let given = object
        try validateValue(&object, forKey: key)
        // A value that nobody has replaced stays what it was.
        if object !== given { value = plain(object, forKey: key) }
    }

    public final override class var _validatesValues: Bool { OverriddenValidation.isIn(self) }

    // MARK: Hooks

    /// Called after undo, redo, a rollback or a refresh has changed the object.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    public final override func awakeFromSnapshotEvents(_ events: SnapshotEvents) {
        super.awakeFromSnapshotEvents(events)
        awake(fromSnapshotEvents: NSSnapshotEventType(rawValue: UInt(events.rawValue)))
    }
}

// An initializer of the class itself could not be called by `Self(context:)` and `T(context:)`, unless each subclass repeated it.
extension NSFetchRequestResult where Self: NSManagedObject {
    /// Makes an object of the class's entity, and inserts it into a context.
    public init(context: NSManagedObjectContext) {
        let core = context.core
        self.init(entity: core.entity(for: Self.self), insertInto: core)
    }
}
