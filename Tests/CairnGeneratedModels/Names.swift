// The entities of Names.xcdatamodel, as classes.
// Written by: cairn model Names.xcdatamodel --swift
//
//     let container = try PersistentContainer(
//         at: "names.cairn", for: DataObject.self, SetObject.self, Collection.self, TimeZone.self,
//         TaskObject.self, Attribute.self, Entity.self, Relationship.self, Index.self,
//         ValueObject.self, ColumnsObject.self, MeasuredThing.self, Entity3DModel.self,
//         Station.self, Shared.self, Child.self, Generic.self, Keywords.self, Members.self,
//         Texts.self)
//
// A store that was created with the model itself is opened like this, because classes cannot
// express everything that is stored: Child, Columns, Data, Entity, Members, Parent, Relationship,
// Task, Texts. Read renamed properties there by the model's names, with value(forKey:).
//
//     let container = try PersistentContainer(
//         at: "names.cairn", model: ManagedObjectModel(contentsOfFile: "Names.xcdatamodel"),
//         classes: ObjectClasses(for: DataObject.self, SetObject.self, Collection.self,
//         TimeZone.self, TaskObject.self, Attribute.self, Entity.self, Relationship.self,
//         Index.self, ValueObject.self, ColumnsObject.self, MeasuredThing.self, Entity3DModel.self,
//         Station.self, Shared.self, Child.self, Generic.self, Keywords.self, Members.self,
//         Texts.self))
//
// swift-format-ignore-file

import Cairn

@Composite("Date")
struct DateValue: Hashable, Sendable {
    var day: String?
    var writer: String?
    // The model calls it hashValue, which is not a valid name here.
    var hashValue_: String?
    var hash: String?
    var `default`: Bool = false
    // The model calls it a "quote", which is not a valid name here.
    var aQuote: Date?
}

// The model calls it Data, which means something else here.
@Entity("Data")
final class DataObject: ManagedObject {
    #Index<DataObject>([.descending(\.date?.aQuote)])
    var bytes: Data?
    var date: DateValue?
    @Attribute(derived: "date.writer") var author: String?
    @Relationship(inverse: \SetObject.data) var set: SetObject?
}

@Entity("Set")
final class SetObject: ManagedObject {
    var data: Set<DataObject>
}

// In its module this class hides Swift's Collection.
@Entity
final class Collection: ManagedObject {}

// In its module this class hides Foundation's TimeZone.
@Entity
final class TimeZone: ManagedObject {}

@Entity("Task")
final class TaskObject: ManagedObject {
    @Relationship(inverse: "default") var `default`: TaskObject?
    // The model calls it its own, which cannot be the name of its own inverse.
    @Relationship(originalName: "its own", inverse: "itsOwn") var itsOwn: Set<TaskObject>
    @Relationship(inverse: \TaskObject.`a step`) var `in`: TaskObject?
    var `a step`: Set<TaskObject>
}

@Entity
final class Attribute: ManagedObject {
    var name: String?
}

@Entity
final class Entity: ManagedObject {
    @Attribute(derived: "uppercase:(relationship.description_)") var text: String?
    @Relationship(inverse: \Relationship.entity_) var relationship: Relationship?
}

@Entity
final class Relationship: ManagedObject {
    // The model calls it description, which is reserved in every object.
    @Attribute(originalName: "description") var description_: String?
    @Attribute(derived: "entity_.@count") var members: Int64?
    // The model calls it entity, which is reserved in every object.
    @Relationship(deleteRule: .cascade, originalName: "entity") var entity_: Set<Entity>
}

@Entity
final class Index: ManagedObject {
    #Unique<Index>([\.unique])
    #Index<Index>([\.unique])
    var unique: String?
}

@Entity("Value")
final class ValueObject: ManagedObject {}

// The model calls it Columns, which means something else here.
@Entity("Columns")
final class ColumnsObject: ManagedObject {
    // The model calls it Columns, which is a type's name here.
    @Attribute(originalName: "Columns") var Columns_: String?
}

@Entity("measured thing")
final class MeasuredThing: ManagedObject {}

@Entity("3D model")
final class Entity3DModel: ManagedObject {}

@Entity("station")
final class Station: ManagedObject {}

@Entity("Parent")
class Shared: ManagedObject {
    var Parent: String?
    // The model calls it Shared, which is a type's name here.
    @Attribute(originalName: "Shared") var Shared_: String?
}

// The model calls it Shared, which is another entity's class.
@Entity
class Child: Shared {
    // The model calls it objectID, which is reserved in every object.
    @Attribute(originalName: "objectID") var objectID__: String?
    @Attribute(derived: "uppercase:(Shared_)") var shout: String?
}

@Entity
final class Generic: Child {
    var objectID_: String?
}

@Entity
final class Keywords: ManagedObject {
    var `associatedtype`: String?
    var `class`: String?
    var `enum`: String?
    var `extension`: String?
    var `func`: String?
    var `import`: String?
    var `inout`: String?
    var `internal`: String?
    var `let`: String?
    var `operator`: String?
    var `private`: String?
    var `protocol`: String?
    var `public`: String?
    var `rethrows`: String?
    var `static`: String?
    var `struct`: String?
    var `typealias`: String?
    var `var`: String?
    var `break`: String?
    var `case`: String?
    var `catch`: String?
    var `continue`: String?
    var `default`: String?
    var `defer`: String?
    var `do`: String?
    var `else`: String?
    var `fallthrough`: String?
    var `for`: String?
    var `guard`: String?
    var `if`: String?
    var `in`: String?
    var `repeat`: String?
    var `return`: String?
    var `throw`: String?
    var `switch`: String?
    var `where`: String?
    var `while`: String?
    var `as`: String?
    var async: String?
    var `await`: String?
    var `false`: String?
    var `is`: String?
    var `nil`: String?
    var `super`: String?
    var `throws`: String?
    var `true`: String?
    var `try`: String?
    var get: String?
    var set: String?
    var open: String?
    var some: String?
    var any: String?
    var actor: String?
    var macro: String?
    var type: String?
    var left: String?
    var newValue: String?
}

@Entity
final class Members: ManagedObject {
    // The model calls it description, which is reserved in every object.
    // An older model calls it text.
    @Attribute(originalName: "description") var description_: String?
    @Attribute(derived: "canonical:(description_)") var folded: String?
    // The model calls it entity, which is reserved in every object.
    @Attribute(originalName: "entity") var entity_: String?
    // The model calls it objectID, which is reserved in every object.
    @Attribute(originalName: "objectID") var objectID_: String?
    // The model calls it managedObjectContext, which is reserved in every object.
    @Attribute(originalName: "managedObjectContext") var managedObjectContext_: String?
    // The model calls it isInserted, which is reserved in every object.
    @Attribute(originalName: "isInserted") var isInserted_: String?
    // The model calls it isUpdated, which is reserved in every object.
    @Attribute(originalName: "isUpdated") var isUpdated_: String?
    // The model calls it isDeleted, which is reserved in every object.
    @Attribute(originalName: "isDeleted") var isDeleted_: String?
    // The model calls it isFault, which is reserved in every object.
    @Attribute(originalName: "isFault") var isFault_: String?
    // The model calls it absorbedInto, which is reserved in every object.
    @Attribute(originalName: "absorbedInto") var absorbedInto_: String?
    // The model calls it hasChanges, which is reserved in every object.
    @Attribute(originalName: "hasChanges") var hasChanges_: String?
    // The model calls it hasPersistentChangedValues, which is reserved in every object.
    @Attribute(originalName: "hasPersistentChangedValues") var hasPersistentChangedValues_: String?
    // The model calls it hashValue, which is reserved in every object.
    @Attribute(originalName: "hashValue") var hashValue_: String?
    var hash: String?
    var value: String?
    var setValue: String?
    var primitiveValue: String?
    var changedValues: String?
    var committedValues: String?
    var objectIDs: String?
    var hasFault: String?
    var fulfill: String?
    var willSave: String?
    var context: String?
    var version: String?
    var flags: String?
    var layout: String?
    var scope: String?
    var slots: String?
    var cells: String?
    var extras: String?
    var toMany: String?
    var binding: String?
    // The model calls it self, which is reserved in every object.
    @Attribute(originalName: "self") var self_: String?
    // The model calls it Self, which is a type's name here.
    @Attribute(originalName: "Self") var Self_: String?
    // The model calls it Type, which is a type's name here.
    @Attribute(originalName: "Type") var Type_: String?
    // The model calls it Protocol, which is a type's name here.
    @Attribute(originalName: "Protocol") var Protocol_: String?
    var `init`: String?
    var `deinit`: String?
    var `subscript`: String?
    // The model calls it Any, which is a type's name here.
    @Attribute(originalName: "Any") var Any_: String?
    // The model calls it Cairn, which is a type's name here.
    @Attribute(originalName: "Cairn") var Cairn_: String?
    // The model calls it String, which is a type's name here.
    @Attribute(originalName: "String") var String_: String?
    // The model calls it Set, which is a type's name here.
    @Attribute(originalName: "Set") var Set_: String?
    var path: String?
    var property: String?
    var properties: String?
    var root: String?
    var kind: String?
    var object: String?
    var _Root: String?
    // The model calls it _base, which is reserved in every object.
    @Attribute(originalName: "_base") var _base_: String?
    // The model calls it _count, which is reserved in every object.
    @Attribute(originalName: "_count") var _count_: String?
    // The model calls it _entity, which is reserved in every object.
    @Attribute(originalName: "_entity") var _entity_: String?
    // The model calls it _parent, which is reserved in every object.
    @Attribute(originalName: "_parent") var _parent_: String?
    // The model calls it _paths, which is reserved in every object.
    @Attribute(originalName: "_paths") var _paths_: String?
    // The model calls it _property, which is reserved in every object.
    @Attribute(originalName: "_property") var _property_: String?
    // The model calls it _read, which is reserved in every object.
    @Attribute(originalName: "_read") var _read_: String?
    // The model calls it _write, which is reserved in every object.
    @Attribute(originalName: "_write") var _write_: String?
    // The model calls it _typedEntity, which is reserved in every object.
    @Attribute(originalName: "_typedEntity") var _typedEntity_: String?
    var _description: String?
}

@Entity
final class Texts: ManagedObject {
    #Unique<Texts>([\.`2nd-name`, \.minus])
    #Index<Texts>([.ascending(\.`first name`), .descending(\.aB)])
    var `first name`: String?
    var `2nd-name`: String?
    var größe: String?
    var 名前: String?
    // The model calls it a.b, which is not a valid Swift name.
    @Attribute(originalName: "a.b") var aB: String?
    // The model calls it a `tick`, which is not a valid Swift name.
    @Attribute(originalName: "a `tick`") var aTick: String?
    // The model calls it back\slash, which is not a valid Swift name.
    @Attribute(originalName: #"back\slash"#) var backSlash: String?
    // The model calls it -minus, which is not a valid Swift name.
    @Attribute(originalName: "-minus") var minus: String?
    // The model calls it $price, which is not a valid Swift name.
    @Attribute(originalName: "$price") var price: String?
    // The model calls it _, which is not a valid Swift name.
    @Attribute(originalName: "_") var value: String?
    // The model calls it +, which is not a valid Swift name.
    @Attribute(originalName: "+") var value_: String?
    var `100%`: Int16? = 7
    var quoted: String = "say \"hi\" \\ or \"# not\n"
    var raw: String = ##"C:\temp "x"# y"##
    var quote: String = "\""
    var interpolation: String = "\\(1 + 1) 日本\u{202e}"
}
