// The macros of typed entities.
//
// Only these declarations are here; the code they make is written in CairnMacros and calls CairnObjects.

public import CairnModel
public import CairnObjects
public import CairnStore

/// Makes a class an entity: its stored properties become attributes and relationships.
///
/// ```swift
/// @Entity
/// final class Product: ManagedObject {
///     #Unique<Product>([\.serialCode])
///     #Index<Product>([\.category, \.price])
///     var serialCode: String
///     var name: String = ""
///     var price: Double = 0
///     var category: String?
///     @Relationship(inverse: \Tag.products) var tags: Set<Tag>
/// }
///
/// @Entity
/// final class Tag: ManagedObject {
///     var label: String = ""
///     var products: Set<Product>
/// }
///
/// let container = try PersistentContainer(at: "shop.cairn", for: Product.self)
/// ```
///
/// A property can be a number, `Bool`, `String`, `Date`, `Data`, `UUID`, `URL`, `Decimal`, anything with such a raw
/// value, a `@Composite` struct, or any other `Codable` type, which is stored as JSON; and an optional of these. Any other
/// type is stored by an ``AttributeTransformer``: `@Attribute(.transformable(by: ColorTransformer.self))`.
/// `Tag?`, `Set<Tag>` and `[Tag]` are relationships if `Tag` is an entity: to-one, to-many and ordered to-many (whose
/// members stay in the order they are given).
///
/// A default that is a literal or a name is part of the model. One that has to be computed, like `Date()`, is
/// given to each new object when it is inserted into a context; a batch insert has to name such a property.
/// Properties without a value read as their default, else as the empty value of their type. An enum, or a type that is stored
/// as JSON, has no empty value: it needs a default, or is optional.
///
/// A method `validateName(_ value: inout String) throws` of the class checks what is to be saved as `name`, and may put
/// another value in its place: its parameter is of the property's type, and what it throws fails the save. It runs when the
/// model's own limits hold.
///
/// ```swift
/// func validateName(_ value: inout String) throws {
///     value = value.trimmingCharacters(in: .whitespaces)
///     if value == "?" { throw BadName() }
/// }
/// ```
///
/// Entities inherit by their classes. In a module whose code is on the main actor unless it says otherwise, entities are not:
/// an object works where its context does, and so do the methods of its class. `@Entity nonisolated final class Product`
/// says the same.
///
/// - Parameters:
///   - name: the entity's name; the class's if nil.
///   - isAbstract: whether it has no objects of its own.
///   - originalName: the name under which an older version of the model knows the entity.
///   - hashModifier: makes the version hash differ although nothing else does.
///   - mergeRule: what the merge policy `.declared` does about properties that do not say it themselves.
@attached(
    member, names: named(Columns), named(_typedEntity), named(_property(for:)),
    named(_paths(_:of:)), named(_validate(_:_:)))
@attached(memberAttribute)
@attached(extension, conformances: PersistentEntity)
public macro Entity(
    _ name: String? = nil, isAbstract: Bool = false, originalName: String? = nil,
    hashModifier: String? = nil, mergeRule: MergeRule? = nil
) = #externalMacro(module: "CairnPlugin", type: "EntityMacro")

/// Describes an attribute beyond its type.
///
/// ```swift
/// @Attribute(.unique, minimumLength: 3, pattern: "[A-Z]+") var code: String
/// @Attribute(.externalStorage) var picture: Data?
/// @Attribute(originalName: "cost", minimumValue: 0) var price: Double = 0
/// @Attribute(derived: "canonical:(name)") var searchName: String?
/// @Attribute(.transformable(by: ColorTransformer.self)) var color: Color?
/// ```
///
/// - Parameters:
///   - options: see ``AttributeOption``.
///   - derived: the expression, as a format string, from which the store computes the attribute. It cannot be set.
///     Supported are a path (`name`, `author.name`), `uppercase:`, `lowercase:` or `canonical:` of one, `rel.@count`,
///     `rel.attribute.@sum`, `@avg`, `@min`, `@max`, and `now()`. The save computes the value and shows it afterwards;
///     until then the object shows the stored value. A schema with an expression that cannot be maintained is invalid.
///   - originalName: the name of the attribute in an older version of the model.
///   - hashModifier: changes the version hash even if nothing else has changed.
///   - minimumValue: the minimum value of a number or date.
///   - maximumValue: the maximum value of a number or date.
///   - minimumLength: the minimum number of characters.
///   - maximumLength: the maximum number of characters.
///   - pattern: a regular expression that the whole string must match.
///   - mergeRule: how the merge policy `.declared` combines two values of the attribute.
@attached(peer)
public macro Attribute(
    _ options: AttributeOption..., derived: String? = nil, originalName: String? = nil,
    hashModifier: String? = nil, minimumValue: (any AttributeValue)? = nil,
    maximumValue: (any AttributeValue)? = nil, minimumLength: Int? = nil, maximumLength: Int? = nil,
    pattern: String? = nil, mergeRule: MergeRule? = nil
) = #externalMacro(module: "CairnPlugin", type: "MarkMacro")

/// Describes a relationship beyond its type.
///
/// ```swift
/// @Relationship(deleteRule: .cascade, inverse: \Page.book) var pages: [Page]
/// ```
///
/// Name the inverse on one side only, as a key path of the other: with key paths on both sides, the compiler reports a
/// circular reference. The form that takes the inverse's name as a string can be used on both sides.
///
/// - Parameters:
///   - deleteRule: what happens to the other side when an object is deleted.
///   - minimumModelCount: the minimum number of members; 0 = no limit.
///   - maximumModelCount: the maximum number of members; 0 = no limit.
///   - isOptional: whether it can be empty in a saved object.
///   - originalName: the name of the relationship in an older version of the model.
///   - hashModifier: changes the version hash even if nothing else has changed.
///   - mergeRule: how the merge policy `.declared` combines two targets.
///   - inverse: the inverse relationship.
@attached(peer)
public macro Relationship(
    deleteRule: DeleteRule = .nullify, minimumModelCount: Int = 0, maximumModelCount: Int = 0,
    isOptional: Bool = true, originalName: String? = nil, hashModifier: String? = nil,
    mergeRule: MergeRule? = nil, inverse: AnyKeyPath? = nil
) = #externalMacro(module: "CairnPlugin", type: "MarkMacro")

/// Describes a relationship beyond its type.
///
/// ```swift
/// @Relationship(inverse: "products") var tags: Set<Tag>
/// ```
///
/// The compiler checks that the other class has a property of this name.
@attached(peer)
public macro Relationship(
    deleteRule: DeleteRule = .nullify, minimumModelCount: Int = 0, maximumModelCount: Int = 0,
    isOptional: Bool = true, originalName: String? = nil, hashModifier: String? = nil,
    mergeRule: MergeRule? = nil, inverse: String
) = #externalMacro(module: "CairnPlugin", type: "MarkMacro")

/// Keeps a stored property out of the model: it is kept in the object in memory, and changes of it are not tracked.
///
/// ```swift
/// @Transient var cachedTotal: Double? = nil
/// ```
@attached(peer)
public macro Transient() = #externalMacro(module: "CairnPlugin", type: "MarkMacro")

/// Uniqueness constraints: for each list, no two objects have the same values.
///
/// ```swift
/// #Unique<Recipe>([\.serialCode], [\.source, \.externalID])
/// ```
///
/// Options limit the constraint to some objects and define which values are equal. They apply to all key lists in the
/// declaration:
///
/// ```swift
/// // Active accounts of one tenant have different addresses, ignoring case; tenants can share an address.
/// #Unique<Account>([\.tenant, \.email], where: "deletedAt == nil", nilsAreEqual: true, caseInsensitive: true)
/// ```
///
/// - Parameters:
///   - keys: lists of attributes, elements of composite ones and to-one relationships.
///   - condition: limits the constraint to some objects, as a format string: it can compare the object's own attributes
///     with constants or with one another, and test to-one relationships for nil. Nil means all objects. A schema with
///     a condition that cannot be enforced is invalid.
///   - nilsAreEqual: whether nil equals nil. Otherwise, an object with nil in any of the values conflicts with no other
///     object.
///   - caseInsensitive: whether to ignore case, like `==[c]`.
///   - diacriticInsensitive: whether to ignore accents, like `==[d]`.
@freestanding(declaration)
public macro Unique<T: PersistentEntity>(
    _ keys: [PartialKeyPath<T>]..., where condition: String? = nil, nilsAreEqual: Bool = false,
    caseInsensitive: Bool = false, diacriticInsensitive: Bool = false
) = #externalMacro(module: "CairnPlugin", type: "KeyListMacro")

/// Fetch indexes, one for each list: they find objects by the first of its keys, by the first and second, and so on, and
/// return them in their order.
///
/// ```swift
/// #Index<Product>([\.category, \.price], [\.name])
/// ```
///
/// A key is an attribute, an element of a composite one as in `\.place.latitude`, or a to-one relationship. The indexes
/// include the class's descendants. Each index is named after its keys, the first of these `byCategoryAndPrice`. A store
/// creates missing indexes, and removes obsolete ones, when it is opened.
@freestanding(declaration)
public macro Index<T: PersistentEntity>(_ keys: [PartialKeyPath<T>]...) =
    #externalMacro(module: "CairnPlugin", type: "KeyListMacro")

/// Fetch indexes in which some keys descend, for sort orders that do the same.
///
/// ```swift
/// #Index<Product>([.ascending(\.category), .descending(\.price)])
/// ```
///
/// If all keys of an index descend, the index provides no order that the ascending one does not.
@freestanding(declaration)
public macro Index<T: PersistentEntity>(_ keys: [IndexElement<T>]...) =
    #externalMacro(module: "CairnPlugin", type: "KeyListMacro")

/// Makes a struct a composite attribute's type: its stored properties become columns of their own.
///
/// ```swift
/// @Composite struct Address {
///     var street: String = ""
///     var city: String?
/// }
/// ```
///
/// - Parameter name: the composite's name in the model; the struct's if nil.
@attached(
    extension, conformances: CompositeValue, names: named(_compositeName), named(_elements),
    named(_paths), named(init(_from:)), named(_write(to:)), named(_key(for:)))
public macro Composite(_ name: String? = nil) =
    #externalMacro(module: "CairnPlugin", type: "CompositeMacro")

/// The accessors of a persistent property. `@Entity` adds it; do not use it yourself.
@attached(accessor)
public macro _Persisted(
    _ number: Int, inherits: Bool = false, readOnly: Bool = false,
    transformer: (any AttributeTransformer.Type)? = nil
) =
    #externalMacro(module: "CairnPlugin", type: "PersistedMacro")
