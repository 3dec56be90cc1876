// An attribute, with Core Data's names.

import CairnModel
import CairnObjects
import CairnStore
public import Foundation

/// An attribute of an entity.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    // An attribute of a model that is in use does not change any more.

    /// What it is made of beside what every property has.
    var core = CairnModel.AttributeDescription("", .undefined)
    /// The default as the program has set it; otherwise that of `core` holds.
    private var given: Any??

    /// An attribute without a name and a type.
    public override init() { super.init() }

    init(_ core: CairnModel.AttributeDescription) {
        self.core = core
        super.init()
        name = core.name
        isOptional = core.isOptional
        isTransient = core.isTransient
        userInfo = core.userInfo
        versionHashModifier = core.versionHashModifier
        renaming = core.renamingIdentifier
        marks = core.otherMarks
    }

    /// The description of an attribute that was read: derived and composite ones have classes of their own.
    static func standing(for core: CairnModel.AttributeDescription) -> NSAttributeDescription {
        if core.derivationExpression != nil { return NSDerivedAttributeDescription(core) }
        if core.type == .composite { return NSCompositeAttributeDescription(core) }
        return NSAttributeDescription(core)
    }

    // MARK: Type

    /// The type of the values.
    open var type: AttributeType {
        get { AttributeType(attributeType) }
        set { attributeType = newValue.legacy }
    }

    /// The type of the values.
    open var attributeType: NSAttributeType {
        get { NSAttributeType(core.type) }
        set {
            willChange()
            core.type = newValue.core
        }
    }

    /// The class of the values, which for all but transformable attributes follows from the type.
    open var attributeValueClassName: String? {
        get { core.customClassName ?? Self.classes[core.type] }
        set {
            willChange()
            core.customClassName = newValue == Self.classes[core.type] ? nil : newValue
        }
    }

    private static let classes: [CairnModel.AttributeType: String] = [
        .integer16: "NSNumber", .integer32: "NSNumber", .integer64: "NSNumber",
        .decimal: "NSDecimalNumber", .double: "NSNumber", .float: "NSNumber", .boolean: "NSNumber",
        .string: "NSString", .date: "NSDate", .binary: "NSData", .uuid: "NSUUID", .uri: "NSURL",
        .composite: "NSDictionary", .objectID: "NSManagedObjectID",
    ]

    /// The name of the transformer of a transformable attribute.
    open var valueTransformerName: String? {
        get { core.valueTransformerName }
        set {
            willChange()
            core.valueTransformerName = newValue
        }
    }

    /// The value of a new object.
    open var defaultValue: Any? {
        get { given ?? core.defaultValue.foundation }
        set {
            willChange()
            given = .some(newValue)
        }
    }

    // MARK: Storing

    /// Whether large values are kept apart from the object's other values.
    open var allowsExternalBinaryDataStorage: Bool {
        get { core.allowsExternalBinaryDataStorage }
        set {
            willChange()
            core.allowsExternalBinaryDataStorage = newValue
        }
    }

    /// Whether the history keeps the value when the object is deleted.
    open var preservesValueInHistoryOnDeletion: Bool {
        get { core.preservesValueInHistoryOnDeletion }
        set {
            willChange()
            core.preservesValueInHistoryOnDeletion = newValue
        }
    }

    /// Has no effect: there is no CloudKit.
    open var allowsCloudEncryption: Bool {
        get { marks[.allowsCloudEncryption] }
        set {
            willChange()
            marks[.allowsCloudEncryption] = newValue
        }
    }

    // MARK: Cairn's description

    override var declaredConditions: [(predicate: NSPredicate, warning: Any)] {
        core.limits.map { (.predicate(for: $0.predicate), $0.error.rawValue) }
            + zip(core.validationPredicates, core.validationWarnings).map {
                (.predicate(for: $0), $1)
            }
    }

    /// The default of a transformable attribute as its transformer stores it.
    private func transformed(_ given: Any?) -> Value? {
        guard core.type == .transformable, let given,
            let transformer = AttributeTransformers.transformer(named: core.valueTransformerName)
        else { return nil }
        return (try? transformer.data(given)).map { .binary($0) }
    }

    /// Cairn's description. What has no form there is added to the errors.
    func described(_ errors: inout [ModelError]) -> CairnModel.AttributeDescription {
        var made = core
        made.name = name
        made.isOptional = isOptional
        made.isTransient = isTransient
        made.userInfo = [String: String](userInfo: userInfo)
        made.versionHashModifier = versionHashModifier
        made.renamingIdentifier = renaming
        made.otherMarks = marks
        if let given {
            if let value = Value(foundation: given, as: core.type) ?? transformed(given) {
                made.defaultValue = value
            } else {
                errors.append(
                    ModelError(
                        .invalidValue, of: owner, name,
                        "the default \(given ?? "nil") is not a value of type \(core.type.rawValue)"
                    ))
            }
        }
        if let conditions {
            made.minimumValue = nil
            made.maximumValue = nil
            made.minimumLength = nil
            made.maximumLength = nil
            made.regularExpression = nil
            var rest: [PredicateNode] = []
            var warnings: [String] = []
            for (place, predicate) in conditions.predicates.enumerated() {
                let warning = place < conditions.warnings.count ? conditions.warnings[place] : ""
                do {
                    let node = try predicate.node
                    // With words of its own a limit stays a condition, whose error says them.
                    if warning.isEmpty, made.takeLimit(node) { continue }
                    rest.append(node)
                    warnings.append(warning)
                } catch {
                    errors.append(
                        ModelError(
                            .invalidValue, of: owner, name,
                            "a validation predicate cannot be used: \(error.message)"))
                }
            }
            made.setValidationPredicates(rest, withValidationWarnings: warnings)
        }
        return made
    }

    /// Cairn's description, whatever of it is wrong.
    var described: CairnModel.AttributeDescription {
        var errors: [ModelError] = []
        return described(&errors)
    }

    open override var versionHash: Data { described.versionHash }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSAttributeDescription.standing(for: described)
        copy.takeRest(of: self)
        return copy
    }

    override func takeRest(of other: NSPropertyDescription) {
        super.takeRest(of: other)
        if let other = other as? NSAttributeDescription { given = other.given }
    }

    override var identity: AnyHashable { described }
}
